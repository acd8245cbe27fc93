"""Decodes one prompt: the model's thinking and free text where it may write them, then its calls.

For each call: choose a tool, decode its orders, vote, commit the voted call, go on.
"""

import sys
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Final, NamedTuple

from lookup.dictionary import ParameterSpec
from lookup.grammar.literal_values import render_value
from tooldecoding.chat.prompt_tokens import text_ids
from tooldecoding.decoding.call_or_answer import CallOrAnswer
from tooldecoding.decoding.compiled_tools import CompiledTool, CompiledTools
from tooldecoding.decoding.decode_loop import together
from tooldecoding.decoding.decoded_call import DecodedCall, ResultStream
from tooldecoding.decoding.dialect_search import DialectSearch
from tooldecoding.decoding.free_text import FreeText, TextMode, TextRules, attempt_pattern
from tooldecoding.decoding.grounded_call import RATHER_RIGHT, Question, grounded_vote, optional_to_offer, to_ask
from tooldecoding.decoding.next_call_odds import CallsAsList, NextCallOdds
from tooldecoding.decoding.not_words import NotWords
from tooldecoding.decoding.order_decoder import OrderDecoder
from tooldecoding.decoding.repeated_call import answered_calls
from tooldecoding.decoding.sampling import Sampler
from tooldecoding.decoding.suppressed_call import SuppressedCalls
from tooldecoding.errors import ContextLengthError, PromptError
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.thinking import (
    NO_ANSWER,
    THINKING,
    Answer,
    Thinking,
    is_open,
    split_thinking,
    without_begun_header,
)
from tooldecoding.grounding.grounding import index_of
from tooldecoding.grounding.index import ConversationIndex
from tooldecoding.options import TOOL_CHOICES, DecodeOptions
from tooldecoding.request import Request
from tooldecoding.tokens.branch import Beginning, Branch
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.guarded_text import PromptText
from tooldecoding.tokens.token_table import TokenTable
from voting import carries

_TURN = 8
"""Tokens of the prompt's end in which a chat template has written a special token."""
_TAIL = 64
"""Tokens of the prompt's end in which an open thinking is looked for."""


class DecodedPrompt(NamedTuple):
    """What was written behind a prompt; special tokens are characters (``tooldecoding.tokens.token_texts``).

    Attributes
    ----------
    text : str
        Free text, then the calls.
    calls : list of DecodedCall
    answer : Answer
        The free text without marks.
    cut : bool
        Whether a limit has cut the answer: free text, the last call, a call that goes beyond ``max_tokens`` and is left
        out, or calls beyond ``max_calls``.
    repeated : bool
        Whether the model wrote a call of this answer again: it is left out, and ended the answer.
    dialect : CallFormat or None
        The format of the calls, if it is not that of the options.
    asked : DecodedCall or None
        The call in whose place a question stands, or that is left out behind other calls: required arguments of it were
        not said, or it is unsure.
    next_call_log_odds : sequence of float
        For each call behind which another one could follow, in order: the natural log-odds of that.
    left_out : DecodedCall or None
        The call that is left out, and ended the answer: it is answered already, likely made up, or cut and goes beyond
        ``max_tokens``.
    """

    text: str
    calls: list[DecodedCall]
    answer: Answer
    cut: bool = False
    repeated: bool = False
    dialect: CallFormat | None = None
    asked: DecodedCall | None = None
    next_call_log_odds: Sequence[float] = ()
    left_out: DecodedCall | None = None
    too_many: bool = False
    """Whether the model wants calls beyond ``max_calls``."""
    question: Question | None = None
    """What is still to be asked in place of ``asked``."""


_ASKED_FOR: Final = 512
"""Most tokens of a value in a further call that the model is asked for; if one is cut, the call is left out."""


class PromptDecoder:
    """Decodes one prompt on a branch.

    Parameters
    ----------
    prompt_ids : sequence of int
        The tokens of the request's prompt.
    stream : ResultStream, optional
        Is told the answer so far while free text is written, and each call once it is voted.
    before : Answer
        What was said behind another prompt, in the same answer.
    answering : CompiledTools, optional
        Those of ``json_answer`` of the request.
    """

    def __init__(
        self,
        tools: CompiledTools,
        request: Request,
        table: TokenTable,
        prompt_ids: Sequence[int],
        stream: ResultStream | None = None,
        before: Answer = NO_ANSWER,
        answering: CompiledTools | None = None,
    ) -> None:
        self._tools = self._given_tools = tools
        self._format = tools.call_format
        self._request = request
        self._options = options = request.options
        self._table = table
        self._prompt_ids = prompt_ids
        self._stream = stream
        self._before = before
        self._answering = answering
        self._room_enough: bool | None = None
        self._dialect: CallFormat | None = None
        self._as_list: CallsAsList | None = None
        self._asked_for = False
        """Whether the next call was asked for, and the model would not have written one by itself."""
        self._log_odds: list[float] = []
        self._blank: FedTokens | None = None
        """What has read nothing, for an engine that cannot drop the first prompt."""
        self._unread: Branch | None = None
        """What the answer may be written on, where one without tools may be due."""
        self._instead: DecodedPrompt | None = None
        """The call that is made in place of words."""
        self._opened_thinking = is_open(self._shown(prompt_ids[-_TAIL:]))
        self._only = None if options.choice in TOOL_CHOICES else options.choice
        """The name of the tool that must be called."""

    async def decode(self, branch: Branch) -> DecodedPrompt:
        """Decode the prompt."""
        branch.draft_tokens = self._options.draft_tokens
        if self._request.prompt_for is not None and not branch.fed.engine.can_roll_back:
            self._blank = branch.fed.fork()
        if self._request.answer_prompt is not None or self._request.beside is not None:
            self._unread = branch.unread()
        if self._options.asks_for_further_calls and self._next_call(1) is not None:
            branch, asking = await branch.forks(2, beginning=Beginning(self._format.start(0).encode(), ""))
            self._as_list = CallsAsList(asking)
        try:
            decoded = await self._decode(branch)
        finally:
            if self._as_list is not None:
                self._as_list.release()
        unread = self._unread
        if decoded.question is not None:
            decoded = await self._asked(decoded, decoded.question)
        if unread is None:
            return decoded
        if self._answering is not None and not decoded.calls and not decoded.asked:
            return await self._answered_in_json(unread, self._answering, decoded)
        left_out = None if decoded.calls or decoded.cut else decoded.left_out
        if left_out and self._answered_calls and await self._call_in_place_of_words():
            assert self._instead is not None
            decoded = self._made_instead(self._instead, decoded)
        says = not decoded.left_out and decoded.answer.content.strip()
        if says or decoded.calls or decoded.asked or decoded.cut or self._answer_prompt is None:
            unread.release()
            return decoded
        return await self._answered(unread, self._answer_prompt, decoded)

    async def _asked(self, decoded: DecodedPrompt, question: Question) -> DecodedPrompt:
        """Say the question in place of the call, or make another one, or leave it out if its tool does not suit."""
        said, instead = question.text, None
        if self._beside is not None:
            with suppress(PromptError):  # a template may refuse a part of a conversation
                said, instead = await self._question(decoded, question, self._beside)
        if instead is not None:
            return instead
        text, content = _as_paragraph(decoded.text) + said, _as_paragraph(decoded.answer.content) + said
        if not self._fits(text):
            return decoded._replace(question=None, cut=True)
        return decoded._replace(text=text, answer=decoded.answer._replace(content=content), question=None)

    async def _question(
        self, decoded: DecodedPrompt, question: Question, beside: CallOrAnswer
    ) -> tuple[str, DecodedPrompt | None]:
        """Return the question, and what is decoded in its place, if that is not said."""
        asked = decoded.asked
        assert asked is not None
        if self._may_answer and not question.is_unsure:
            made = await beside.wanted(self._format, without=asked.name)
            if made is None and not await beside.suits(asked.name, self._format):
                return "", decoded._replace(asked=None, question=None, left_out=asked)
            if made := made or await beside.giving(asked, question, self._format):
                return "", self._made_instead(made, decoded)
        return await beside.question(asked.name, question), None

    def _made_instead(self, made: DecodedPrompt, before: DecodedPrompt) -> DecodedPrompt:
        """Return what was decoded with another call in the place of what was not said."""
        text = before.text + made.text
        if not self._fits(text):
            return before._replace(cut=True, question=None)
        if self._stream is not None:
            for call in made.calls:
                self._stream.voted(call.shown(self._table.special.shown))
        return before._replace(
            text=text, calls=made.calls, dialect=made.dialect, asked=None, question=None, left_out=None
        )

    async def _call_in_place_of_words(self) -> bool:
        """Decode the call that is due where the model begins to answer in words; whether there is one."""
        if self._beside is not None and self._may_answer:
            with suppress(PromptError):  # a template may refuse a part of a conversation
                self._instead = await self._beside.wanted(self._format)
        return self._instead is not None

    @property
    def _may_answer(self) -> bool:
        """Whether the model may answer in words, too."""
        return self._options.choice == "auto"

    @cached_property
    def _beside(self) -> CallOrAnswer | None:
        """What decides behind other prompts; None where there are none."""
        if self._request.beside is None or self._unread is None:
            return None

        async def decode(request: Request, prompt_ids: Sequence[int], branch: Branch) -> DecodedPrompt:
            return await PromptDecoder(self._given_tools, request, self._table, prompt_ids).decode(branch)

        request, unread = self._request, self._unread
        return CallOrAnswer(self._given_tools, request, self._table, self._prompt_ids, unread, decode)

    @cached_property
    def _answer_prompt(self) -> PromptText | None:
        try:
            return self._request.answer_prompt and self._request.answer_prompt()
        except PromptError:  # a template may refuse results where no tools are given
            return None

    async def _answered(self, unread: Branch, prompt: PromptText, before: DecodedPrompt) -> DecodedPrompt:
        """Let the model answer behind the prompt without tools; what it said ``before`` stays, in front of that.

        What is 23.5 plus 19?
        add(a=23.5, b=19)
        42.5
        add(a=23.5, b=19)      # the model makes the call again, or writes nothing

        The results of your calls are in the conversation …        # instead of the tools
        What is 23.5 plus 19?
        add(a=23.5, b=19)
        42.5
        The sum is 42.5.
        """
        left = self._tokens_left(_as_paragraph(before.text))
        if left is not None and left < 1:
            unread.release()
            return before._replace(cut=True)
        options = replace(self._options, tool_choice="none", max_tokens=left)
        request = replace(self._request, prompt=prompt, options=options, prompt_for=None, answer_prompt=None)
        ids = text_ids(prompt, self._table, request.special_tokens)
        decoder = PromptDecoder(self._given_tools, request, self._table, ids, self._stream, before.answer)
        answered = await decoder.decode(unread.at(self._prompt_ids, ids))
        return answered._replace(text=_joined(before.text, answered.text), left_out=before.left_out)

    async def _answered_in_json(self, unread: Branch, tools: CompiledTools, before: DecodedPrompt) -> DecodedPrompt:
        """Let the model answer in JSON behind the prompt without tools; of ``before`` the thinking stays."""
        assert self._request.json_answer is not None
        request, answer = self._request.json_answer, before.answer
        start = before.text.rfind(self._table.special.bound(answer.content))
        thought = "" if not answer.thinking else before.text[:start] if start >= 0 else before.text
        before = before._replace(text=thought, answer=answer._replace(content=""), dialect=request.options.call_format)
        left = self._tokens_left(_as_paragraph(thought))
        if left is not None and left < 1:
            unread.release()
            return before._replace(cut=True)
        prompt = self._answer_prompt or self._request.prompt
        request = replace(request, prompt=prompt, options=replace(request.options, max_tokens=left))
        ids = self._prompt_ids
        if isinstance(prompt, PromptText):
            ids = text_ids(prompt, self._table, request.special_tokens)
        decoder = PromptDecoder(tools, request, self._table, ids, before=before.answer)
        answered = await decoder.decode(unread.at(self._prompt_ids, ids))
        text = _joined(thought, answered.text)
        return answered._replace(text=text, dialect=before.dialect, left_out=before.left_out)

    async def _decode(self, branch: Branch) -> DecodedPrompt:
        written = await self._free_text(branch)
        answer = self._answer(written.text)
        if self._instead is not None:
            return self._made_instead(self._instead, DecodedPrompt(written.text, [], answer))
        if written.branch is None:
            return DecodedPrompt(written.text, [], answer, written.cut)
        if self._stream is not None:
            self._stream.show(answer)
        return await self._calls(written.branch, written.text, answer, self._tools.called(written.opened))

    async def _calls(self, branch: Branch, text: str, answer: Answer, called: CompiledTool | None) -> DecodedPrompt:
        """Decode calls behind free text and the opener, the last text of ``branch``.

        Parameters
        ----------
        called : CompiledTool, optional
            The tool of the first call, if its name and bracket are written already.
        """
        calls: list[DecodedCall] = []
        decoded_calls: list[DecodedCall] = []
        decoded = DecodedPrompt(text, calls, answer)
        before = text
        branch.draft_tokens = self._options.draft_tokens
        while True:
            number = len(decoded_calls)
            tool, name_confidence = (called, None) if called else await self._name(branch, number)
            if self._asked_for and any(tool.spec.needs_result_of(self._tools[c.name].spec) for c in decoded_calls):
                branch.release()
                return decoded
            next_call = self._next_call(number + 1)
            more = next_call is not None
            optional = optional_to_offer(tool, self._index, self._options)
            filling = self._filling(branch, tool)
            keep = more and filling is None
            orders = OrderDecoder(tool, number, self._call_options, self._prompt_text, optional, keep_branches=keep)
            if filling is None:
                branch, *committing = await branch.forks(2 if more else 1, beginning=orders.beginning)
            else:
                committing, branch = [branch], filling
            call = await self.decode_call(tool, orders, branch, optional, name_confidence)
            asked = to_ask(call, self._request.conversation, tool.spec, self._options)
            left_out = self._is_left_out(call, number, bool(asked)) or not await self._is_due(call, number)
            if left_out or asked:
                self._release(committing, orders, call)
                if left_out:
                    return decoded._replace(left_out=call)
                assert asked is not None
                # behind other calls it is only left out: their results come first
                question = None if calls else asked
                return DecodedPrompt(
                    text, calls, answer, False, False, self._dialect, call, self._log_odds, None, False, question
                )
            longer = before + self._format.render([Call(c.name, c.arguments) for c in (*calls, call)])
            if call.cut:
                self._release(committing, orders, call)
                return self._with_cut_call(call, longer, decoded)
            repeated = call.as_decoded in [earlier.as_decoded for earlier in decoded_calls]
            decoded_calls.append(call)
            # only what nobody said told it from another call
            same = repeated or call.identity in [earlier.identity for earlier in calls]
            fits = same or self._fits(longer)
            if fits and not same:
                calls.append(call)
                text = longer
                if self._stream is not None:
                    self._stream.voted(call.shown(self._table.special.shown))
            decoded = DecodedPrompt(text, calls, answer, not fits, repeated, self._dialect, None, self._log_odds)
            if next_call is None:
                for unused in committing:
                    unused.release()
                return decoded
            branch = self._committed(committing[0], orders, tool, call)
            if repeated or not fits:
                branch.end()
                return decoded
            called = None
            if not await self._goes_on(branch, next_call, Call(call.name, call.arguments)):
                return decoded
            if number + 1 >= self._options.max_calls:
                branch.end()
                return decoded._replace(cut=True, too_many=True)

    @property
    def _call_options(self) -> DecodeOptions:
        """The options of the next call: one that is only asked for does not run on to the end of the context."""
        if not self._asked_for:
            return self._options
        most = min(self._options.max_value_tokens or _ASKED_FOR, _ASKED_FOR)
        return replace(self._options, max_value_tokens=most)

    def _release(self, committing: Sequence[Branch], orders: OrderDecoder, call: DecodedCall) -> None:
        """Release the branches of a call behind which nothing is decoded."""
        for kept in (*committing, orders.branch_of(call.voted)):
            if kept is not None:
                kept.release()

    def _with_cut_call(self, call: DecodedCall, longer: str, before: DecodedPrompt) -> DecodedPrompt:
        """Return what is decoded with a call that is cut, or without it where it goes beyond ``max_tokens``."""
        cut = before._replace(cut=True, dialect=self._dialect, next_call_log_odds=self._log_odds)
        if not self._fits(longer):
            return cut._replace(left_out=call)
        if self._stream is not None:
            self._stream.voted(call.shown(self._table.special.shown))
        return cut._replace(text=longer, calls=[*before.calls, call])

    def _is_left_out(self, call: DecodedCall, number: int, is_asked: bool) -> bool:
        """Whether a call is not made: its result ends the conversation, or it is likely made up, or asked for and cut.

        The first one of an answer that may do without is likely made up if it is rather wrong than right, and nobody
        said one of its arguments; a further one if nobody said any.

        ``is_asked``: whether a question would stand in its place.
        """
        if self._request.answer_prompt is not None and call.identity in self._answered_calls:
            return True
        if self._asked_for and call.cut:
            return True
        is_unlikely = call.confidence() < RATHER_RIGHT
        if number > 0 and self._may_answer and call.ungrounded:  # it may wait for the results of the others
            return not is_asked
        if number > 0:
            return (self._asked_for or is_unlikely) and call.is_ungrounded
        return is_unlikely and bool(call.ungrounded) and not is_asked and self._answer_prompt is not None

    async def _is_due(self, call: DecodedCall, number: int) -> bool:
        """Whether the first call behind results is one that the user's request wants."""
        if number or not self._may_answer or self._beside is None or call.cut:
            return True
        try:
            return await self._beside.is_due(call, self._format)
        except PromptError:  # the template refuses a part of the conversation
            return True

    def _filling(self, branch: Branch, tool: CompiledTool) -> Branch | None:
        """Return a branch behind the prompt that shows the chosen tool alone, in full; None if the prompt shows all.

        ContextLengthError if that prompt leaves no room for the call.

            get_weather            # the first prompt, by which the tool is chosen, and whether another call follows
            send_mail
            User: Rain in Rome?
            [get_weather(
                                   # the second, behind which the arguments are written
            get_weather(city: str, "the city's name", day: "today" | "tomorrow")
            User: Rain in Rome?
            [get_weather(
        """
        if self._request.prompt_for is None:
            return None
        name = tool.spec.name
        ids = text_ids(self._request.prompt_for(name), self._table, self._request.special_tokens)
        filling = branch.behind_another(self._prompt_ids, ids, self._blank)
        room = filling.room_behind
        if room is not None and room < tool.shortest:
            raise ContextLengthError(
                f"the prompt with the documentation of {name} has {len(ids)} tokens, and the context no room for "
                "a call behind it"
            )
        return filling

    def _fits(self, text: str) -> bool:
        """Whether free text with calls behind it is within ``max_tokens``; otherwise the last call is left out."""
        left = self._tokens_left(text)
        return left is None or left >= 0

    def _tokens_left(self, text: str) -> int | None:
        """Return how many tokens are left of ``max_tokens`` behind a text, below 0 if it is beyond; None for any."""
        most, context = self._options.max_tokens, self._table.join(self._prompt_ids[-_TAIL:])
        return most if most is None else most - len(self._table.encode_after(context, text.encode()))

    def _next_call(self, number: int) -> NextCallOdds | None:
        """Return the choice between a further call, by its number, and the end; None if there is no choice.

        Behind the last one that may be made the model is asked, too: the answer says whether it wants more. Not where
        one call alone is asked for.
        """
        if not self._format.parallel or self._options.max_calls == 1:
            return None
        return self._tools.next_call(number, self._only)

    async def _name(self, branch: Branch, number: int) -> tuple[CompiledTool, float]:
        """Let the model choose a tool by the name trie, unless one is given; returns the probability of its name."""
        if self._only is not None:
            branch.write(self._only + self._format.bracket_of(number))
            return self._tools[self._only], 1.0
        chosen, probability = await self._tools.names(number).choose(branch)
        return self._tools.tools[chosen], probability

    async def decode_call(
        self,
        tool: CompiledTool,
        orders: OrderDecoder,
        branch: Branch,
        optional: Sequence[ParameterSpec],
        name_confidence: float | None,
    ) -> DecodedCall:
        """Decode the arguments of a call in several orders, and vote."""
        call = grounded_vote(await orders.decode(branch), tool.spec, self._options, self._index)
        not_offered = tuple(spec.name for spec in tool.spec.optional if spec not in optional)
        return replace(call, not_offered=not_offered, name_confidence=name_confidence)

    @cached_property
    def _index(self) -> ConversationIndex | None:
        return index_of(self._request.conversation)

    @cached_property
    def _answered_calls(self) -> set[Hashable]:
        return answered_calls(self._request.conversation)

    @cached_property
    def _prompt_text(self) -> str:
        prompt = self._request.prompt
        return str(prompt) if isinstance(prompt, PromptText) else self._shown(self._prompt_ids)

    def _shown(self, ids: Sequence[int]) -> str:
        return self._table.special.shown(self._table.join(ids).decode(errors="replace"))

    def _committed(self, named: Branch, orders: OrderDecoder, tool: CompiledTool, call: DecodedCall) -> Branch:
        """Return a branch that has read the voted call, as the model itself would write it.

        This is the branch of an order that wrote exactly this call. If there is none, the voted literals are written
        behind the name, in documentation order; a value that was shortened as the format writes it.
        """
        own = orders.branch_of(call.voted)
        if own is not None:
            named.release()
            return own
        call_format, written = self._format, [value for c in call.candidates for value in c.values]
        literals = {
            p.key: next(
                (v.text for v in written if v.key == p.key and carries(v, p, tool.spec.parameter(p.key))),
                render_value(p.value, call_format.notation),
            )
            for p in call.voted.parameters
        }
        pairs = [call_format.key(key) + literals[key] for key in call_format.ordered(literals)]
        named.write(call_format.separator.join(pairs) + call_format.end_of(not pairs))
        return named

    async def _goes_on(self, branch: Branch, next_call: NextCallOdds, call: Call) -> bool:
        """Let the model choose whether another call follows, if there is room for one; ends the branch if not."""
        room = branch.room_behind
        goes_on = room is None or room >= self._reserve
        if goes_on:
            asked = [] if self._as_list is None else [self._as_list.log_odds(call)]
            by_itself, *answers = await together([next_call.log_odds(branch), *asked])
            threshold = self._options.next_call_threshold or 0.0
            self._asked_for = by_itself <= 0 and any(answer > threshold for answer in answers)
            goes_on = by_itself > 0 or self._asked_for
            self._log_odds.append(by_itself if by_itself > 0 or not answers else answers[0])
            next_call.write(branch, goes_on)
        if not goes_on:
            branch.end()
        return goes_on

    async def _free_text(self, branch: Branch) -> FreeText:
        """Let the model write what it may before its calls; the branch of the result ends with the opener."""
        call_format, opener = self._format, self._format.start(0)
        mode, thinking_limit = self._text_mode(branch), partial(self._limit, self._options.max_thinking_tokens, branch)
        if self._options.choice not in ("auto", "none"):
            thought, behind, *_ = await mode.think_first(opener, thinking_limit)
            behind = behind or branch
            if not thought:
                return FreeText(await self._opens(behind), behind)
            behind.write(opener)
            return FreeText(thought, behind)
        text_limit, room = (partial(self._limit, most, branch) for most in (self._options.max_text_tokens, sys.maxsize))
        written = await mode.write(text_limit, thinking_limit, room)
        if written.branch is None:
            mode.branch.release()
        if written.dialect is not None:
            self._speak(written.dialect)
        elif written.branch is not None and not written.opened:
            written.branch.write(opener.removeprefix(call_format.trigger))
        return written

    async def _opens(self, branch: Branch) -> str:
        """Write the opener of a call that must come, in the way that the model chooses; returns the text before it."""
        lead = self._format.lead
        if not self._takes_dialects(branch):
            branch.write(lead + self._format.start(0))
            return lead
        await branch.compute(self._tools.dialects.guess)
        number, _ = await branch.choose(self._tools.openers)
        if not number:
            return lead
        self._speak(self._tools.dialects.usual[number - 1])
        return ""

    @property
    def _reserve(self) -> int:
        """Tokens that a call needs."""
        return self._tools.reserve(self._options.choice)

    def _takes_dialects(self, branch: Branch) -> bool:
        """Whether the model may begin a call in its own way: nobody has named a format, and there is room for any."""
        if self._room_enough is None:
            room = branch.room_behind
            enough = room is None or room >= self._reserve + self._tools.dialect_margin
            self._room_enough = enough and self._request.dialects and self._options.choice != "none"
        return self._room_enough

    def _speak(self, dialect: CallFormat) -> None:
        """Decode all calls in a dialect."""
        self._dialect = self._format = dialect
        self._tools = self._tools.in_dialect(dialect)

    def _text_mode(self, branch: Branch) -> TextMode:
        """Return the text mode; an opener that is text must go on to a documented name."""
        call_format, options, bind = self._format, self._options, self._table.special.bound
        rules = TextRules(
            line_end=self._request.stop,
            stops=[bind(stop) for stop in options.stop if stop],
            thinking=[Thinking(*map(bind, pair)) for pair in THINKING],
            opened_thinking=self._opened_thinking and Thinking(*map(bind, self._opened_thinking)),
            chat=ends_as_chat(self._prompt_ids, self._table),
            not_words=self._not_words,
            before_words=self._call_in_place_of_words if self._may_answer and self._beside is not None else None,
        )
        if options.choice == "none":
            rules = replace(rules, suppressed=self._suppressed)
        else:
            rules = replace(rules, opener=call_format.trigger)
            if self._takes_dialects(branch):
                dialects, keys = self._tools.dialects, self._tools.keys
                suppressed = SuppressedCalls(dialects, keys)
                rules = replace(rules, search=lambda: DialectSearch(dialects, keys), suppressed=suppressed)
            if call_format.trigger == call_format.start(0):
                attempt = attempt_pattern(call_format)
                rules = replace(rules, names=self._tools.names(0), attempt=attempt, quotable=not call_format.marks)
        sampler, stream = Sampler(options, self._prompt_ids), self._stream
        show = None if stream is None else lambda text: stream.show(self._answer(text, grows=True))
        return TextMode(branch, rules, sampler.token, show)

    @property
    def _suppressed(self) -> SuppressedCalls | None:
        """What text without calls may not begin with; None where nobody has spoken of a call."""
        request, call_format = self._request, self._format
        if not len(request.tools) and not any(message.calls for message in request.conversation):
            return None
        trigger = call_format.trigger
        attempt = attempt_pattern(call_format) if trigger == call_format.start(0) else None
        return SuppressedCalls(self._tools.dialects, (), trigger, attempt, must_speak=True)

    @property
    def _not_words(self) -> NotWords | None:
        """What is no answer; None where nobody has spoken of a call, and where nobody knows who said what."""
        messages, tools = self._request.conversation, self._request.tools
        called = {call.name for message in messages for call in message.calls}
        if not messages or not (len(tools) or called):
            return None
        said = [message.content for message in messages if message.role in ("user", "system")]
        results = [message.content for message in messages if message.result_of is not None]
        return NotWords(self._table, {*called, *(tool.name for tool in tools.tools)}, said, results)

    def _answer(self, text: str, grows: bool = False) -> Answer:
        text = self._table.special.shown(text)
        answer = split_thinking(without_begun_header(text) if grows else text, self._opened_thinking)
        return Answer(*(_joined(*both) for both in zip(self._before, answer, strict=True)))

    def _limit(self, most: int, branch: Branch) -> int:
        """Return how many of ``most`` tokens of text leave room for a call behind them."""
        if self._options.max_tokens is not None:
            most = max(0, min(most, self._options.max_tokens - len(branch.ids)))
        room = branch.room
        if room is not None and self._takes_dialects(branch):
            room -= self._tools.dialect_margin
        return self._tools.fitting(most, self._options.choice, room)


def ends_as_chat(prompt_ids: Sequence[int], table: TokenTable) -> bool:
    """Return whether a prompt ends with the turn that a chat template has opened: with a special token near its end."""
    return any(map(table.is_special, prompt_ids[-_TURN:]))


def _as_paragraph(text: str) -> str:
    """Return a text with what parts it from a further one, unless white space does so already."""
    return text + ("\n\n" if text.strip() and not text[-1].isspace() else "")


def _joined(before: str, text: str) -> str:
    """Return two texts in one, as paragraphs."""
    return _as_paragraph(before) + text if text else before
