"""Whether a call, a question or words are due, decided beside the writing: behind other prompts of a conversation.

Small models write a call for a greeting, and say *I set another timer* without one. What tells is how likely the name
of a tool is where it has to be written, against names of no tool: with Qwen2.5-Coder-1.5B and fourteen tools, in nats

    Set a timer, please.              set_timer    15.4     asked for its minutes
    And in Nairobi?                   get_weather  10.6     called, though the model would answer in words
    What is the capital of Australia? get_weather  10.3     nobody said its city, and it does not suit: words
    Thank you!                        set_timer    -0.4     words
"""

import math
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from lookup.dictionary import ToolSpec
from lookup.grammar.notations import is_json
from lookup.schema.equality import identity
from tooldecoding.chat.prompt_tokens import text_ids
from tooldecoding.decoding.compiled_tools import CompiledTools
from tooldecoding.decoding.decode_loop import together
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.decoding.grounded_call import RATHER_RIGHT, Question
from tooldecoding.decoding.name_trie import NameTrie
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.grounding.grounding import telling_words
from tooldecoding.grounding.index import words_of, words_of_name
from tooldecoding.request import PromptsBeside, Request
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.guarded_text import PromptText
from tooldecoding.tokens.token_table import TokenTable

if TYPE_CHECKING:
    from tooldecoding.decoding.prompt_decoder import DecodedPrompt

_NO_TOOL: Final = ("none", "no_tool", "answer")
_SUITS: Final = 11.5
"""Above this a tool suits, so that the user may be asked for what its call misses."""
_SUITS_MORE: Final = 11.8
"""So does one that is so much likelier than behind a greeting."""
_WANTED: Final = 10.0
"""Above this a call of which everything was said takes the place of words."""
_REQUESTED: Final = 6.0
"""Behind results, a further call is due above this behind the request alone …"""
_REQUESTED_READING: Final = 4.0
"""… of a tool that changes nothing …"""
_STILL_OPEN: Final = 5.5
"""… and above this behind the results."""
_MORE: Final = 4.0
"""A call that the model did not write is so much likelier than behind a greeting: short names are likely anywhere."""
_QUESTION_TOKENS: Final = 48
_VALUE_TOKENS: Final = 512
_WANTED_READING: Final = 7.5
"""The same of a tool that changes nothing."""
_LOOKED_UP: Final = frozenset(words_of("account address code email handle id key path phone token url username"))
"""Words of keys, and first words of descriptions, of what people look up and do not know by heart."""
_GREETING: Final = "Hello!"
_READS: Final = frozenset(words_of("browse fetch find get list look lookup query read retrieve search show view"))
"""Verbs of tools that change nothing."""

Decode = Callable[[Request, Sequence[int], Branch], Awaitable["DecodedPrompt"]]
"""Decodes a request, with the tokens of its prompt, behind a branch that has read nothing of them."""


class CallOrAnswer:
    """Decides for one prompt.

    Parameters
    ----------
    request : Request
        With ``beside``.
    unread : Branch
        Behind the prompt, of which it has read nothing; it stays so.
    decode : Decode
    """

    def __init__(
        self,
        tools: CompiledTools,
        request: Request,
        table: TokenTable,
        prompt_ids: Sequence[int],
        unread: Branch,
        decode: Decode,
    ) -> None:
        assert request.beside is not None
        self._tools = tools
        self._request = request
        self._beside: PromptsBeside = request.beside
        self._table = table
        self._prompt_ids = prompt_ids
        self._unread = unread
        self._decode = decode

    async def suits(self, name: str, call_format: CallFormat) -> bool:
        """Whether a tool suits the conversation, so that the user can be asked for what its call misses.

        *What is the capital of Australia?* asks for no weather, though ``get_weather`` may be the only tool.
        """
        if not self._can_weigh:
            return True
        branches = [self._at(self._beside.instead(_GREETING)), await self._at_prompt()]
        greeted, said = await together([self._log_odds(branch, name, call_format) for branch in branches])
        return said > _SUITS or said - greeted > _SUITS_MORE

    async def question(self, name: str, question: Question) -> str:
        """Return what is asked in place of a call, in the words of the model if it writes one question."""
        if question.is_unsure:
            return question.text
        options = replace(
            self._request.options, tool_choice="none", max_tokens=_QUESTION_TOKENS, stop=(), temperature=0.0
        )
        prompt = self._beside.question(name, question.missing)
        request = replace(self._bare, prompt=prompt, options=options)
        ids = self._ids(prompt)
        written = await self._decode(request, ids, self._unread.unread().at(self._prompt_ids, ids))
        return question.naming(written.answer.content) or question.text

    async def giving(self, asked: DecodedCall, question: Question, call_format: CallFormat) -> "DecodedPrompt | None":
        """Return the call of a tool that reads what another call misses, if the conversation says all that it takes.

        ``send_email`` misses *Email address of the recipient*: ``search_contacts("Maria Lopez")`` comes before it.
        """
        if not self._can_weigh:
            return None
        reading = [tool.spec for tool in self._tools.tools if tool.spec.name != asked.name and only_reads(tool.spec)]
        for path, about in question.missing if reading else ():
            if _LOOKED_UP.isdisjoint([*words_of_name(path), *telling_words(about)[:1]]):
                continue
            branch = self._at(self._beside.instead(f"{about or path}?"))
            name, odds = await self._likeliest(branch, reading, call_format)
            greeted = await self._log_odds(self._at(self._beside.instead(_GREETING)), name, call_format)
            if odds - greeted > _MORE and (made := await self._made(name)):
                return made
        return None

    async def wanted(self, call_format: CallFormat, without: str = "") -> "DecodedPrompt | None":
        """Return the call that is due in place of words, if the conversation says all that it takes.

        ``without``: a tool of which the call is none.
        """
        if not self._can_weigh:
            return None
        called = {name for name, _ in self._called}
        left = [tool.spec for tool in self._tools.tools if tool.spec.name not in (*called, without)]
        while left:
            name, odds = await self._likeliest(await self._at_prompt(), left, call_format)
            reads = only_reads(self._tools[name].spec)
            least = _STILL_OPEN if called else _WANTED_READING if reads else _WANTED
            if odds <= least:
                return None
            requested = await self._log_odds(self._at(self._beside.requested()), name, call_format) if called else odds
            greeted = await self._log_odds(self._at(self._beside.instead(_GREETING)), name, call_format)
            is_requested = not called or requested > (_REQUESTED_READING if reads else _REQUESTED)
            if is_requested and requested - greeted > _MORE and (made := await self._made(name)):
                return made
            left = [spec for spec in left if called and spec.name != name]
        return None

    async def is_due(self, call: DecodedCall, call_format: CallFormat) -> bool:
        """Whether a call is due behind results: nobody asked for the weather in a city that a file names.

        What only a result says is put into a further call if the user's request wants that call, or it is likely there;
        into one of the same tool it is not, unless the result is JSON, which may hold a cursor or a folder in a folder.
        """
        told = [message for message in self._request.conversation if message.result_of is not None]
        results = {m.number: m.result_of and m.result_of.name for m in told if m.content.lstrip()[:1] not in ("{", "[")}
        of_json = {m.number for m in told} - results.keys()
        places = [{span.message for span in grounding.spans} for grounding in call.groundings or ()]
        of_results = [each for each in places if each and each <= results.keys() | of_json]
        if not self._called or not of_results or not self._can_weigh:
            return True
        if any(results.get(place) == call.name for each in of_results for place in each):
            return False  # 30 EUR, of 60 USD, is not converted again
        if await self._log_odds(await self._at_prompt(), call.name, call_format) > _STILL_OPEN:
            return True
        return await self._log_odds(self._at(self._beside.requested()), call.name, call_format) > _REQUESTED

    @property
    def _can_weigh(self) -> bool:
        return self._unread.fed.engine.can_roll_back

    @cached_property
    def _called(self) -> set[tuple[str, Hashable]]:
        """The calls since the user spoke last, by name and arguments."""
        calls: set[tuple[str, Hashable]] = set()
        for message in self._request.conversation:
            calls = set() if message.role == "user" else calls
            calls.update((call.name, identity(call.arguments)) for call in message.calls)
        return calls

    @cached_property
    def _bare(self) -> Request:
        return replace(self._request, prompt_for=None, answer_prompt=None, beside=None, json_answer=None)

    async def _made(self, name: str) -> "DecodedPrompt | None":
        """Return the call of a tool behind the conversation; None unless all of it was said, and it is sure and new."""
        most = min(self._request.options.max_value_tokens or _VALUE_TOKENS, _VALUE_TOKENS)
        options = replace(self._request.options, tool_choice=name, max_calls=1, ask="never", max_value_tokens=most)
        request = replace(self._bare, prompt_for=self._request.prompt_for, options=options)
        decoded = await self._decode(request, self._prompt_ids, await self._at_prompt())
        for call in decoded.calls[:1]:
            is_sure = call.voted.valid and not call.ungrounded and call.confidence() >= RATHER_RIGHT
            if is_sure and call.identity not in self._called:
                return decoded
        return None

    async def _at_prompt(self) -> Branch:
        """Return a branch behind the prompt, which is computed once for all of them."""
        await self._unread.fed.compute()
        return self._unread.unread()

    def _ids(self, prompt: PromptText) -> Sequence[int]:
        return text_ids(prompt, self._table, self._request.special_tokens)

    def _at(self, prompt: PromptText) -> Branch:
        return self._unread.unread().at(self._prompt_ids, self._ids(prompt))

    async def _likeliest(self, branch: Branch, tools: Sequence[ToolSpec], own: CallFormat) -> tuple[str, float]:
        """Return the likeliest of some tools behind a prompt, with its log-odds against no tool."""
        name = tools[0].name
        if len(tools) > 1:
            choosing = branch.unread()
            choosing.write(own.start(0))
            number, _ = await NameTrie(self._table, tools, own, 0).choose(choosing)
            choosing.release()
            name = tools[number].name
        return name, await self._log_odds(branch, name, own)

    async def _log_odds(self, branch: Branch, name: str, own: CallFormat) -> float:
        """Return the natural log-odds of a tool against names of no tool, behind a prompt; releases the branch."""
        opener, bracket = own.start(0), own.bracket_of(0)
        if own is not self._tools.call_format and is_json(own.notation):
            opener, bracket = '{"name": "', '"'  # in whatever white space and fence the model begins
        branch.write(opener)
        others = [none for none in _NO_TOOL if none not in self._tools.keys] or [f"no_{name}"]
        said, *unsaid = await branch.logprobs([each + bracket[:1] for each in (name, *others)])
        branch.release()
        most = max(unsaid)
        return said - most - math.log(sum(math.exp(each - most) for each in unsaid))


def only_reads(tool: ToolSpec) -> bool:
    """Whether a tool only reads, by its documentation or the verb that begins its name: not ``delete_list``."""
    return tool.reads or (tool.reads is None and not _READS.isdisjoint(words_of_name(tool.name)[:1]))
