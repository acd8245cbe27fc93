"""Decodes one prompt: the model's thinking and free text where it may write them, then its calls."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from tooldecoding.calls.call_decoder import CallDecoder, DecodedPrompt
from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.calls.free_text import FreeText, TextMode, TextRules, attempt_pattern
from tooldecoding.calls.prepared_tools import PreparedTools
from tooldecoding.calls.sampling import Sampler
from tooldecoding.formats.thinking import THINKING, Answer, Thinking, is_open, split_thinking
from tooldecoding.options import TOOL_CHOICES, DecodeOptions
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.token_table import TokenTable

_TURN = 8
"""Tokens of the prompt's end in which a chat template has written a special token."""
_TAIL = 64
"""Tokens of the prompt's end in which an open thinking is looked for."""


class PromptDecoder:
    """Decodes one prompt on a branch.

    Parameters
    ----------
    prompt_ids : sequence of int
    prompt : str
        Text in which values are likely to stand.
    line_end : str, optional
        Ends free text once there is more than white space before it.
    show : callable, optional
        Called with the answer so far while free text is written.
    voted : callable, optional
        Called with each call once it is voted.
    in_values : callable, optional
        See ``CallDecoder``.
    """

    def __init__(
        self,
        tools: PreparedTools,
        options: DecodeOptions,
        table: TokenTable,
        prompt_ids: Sequence[int],
        prompt: str,
        line_end: str | None,
        show: Callable[[Answer], None] | None = None,
        voted: Callable[[DecodedCall], None] | None = None,
        in_values: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._tools = tools
        self._format = tools.call_format
        self._options = options
        self._table = table
        self._prompt_ids = prompt_ids
        self._prompt = prompt
        self._line_end = line_end
        self._show = show
        self._voted = voted
        self._in_values = in_values
        tail = table.special.shown(table.join(prompt_ids[-_TAIL:]).decode(errors="replace"))
        self._opened_thinking = is_open(tail)

    async def decode(self, branch: Branch) -> DecodedPrompt:
        """Decode the prompt."""
        branch.draft_tokens = self._options.draft_tokens
        written = await self._free_text(branch)
        answer = self._answer(written.text)
        if written.branch is None:
            branch.release()
            return DecodedPrompt(written.text, [], answer, written.cut)
        if self._show is not None:
            self._show(answer)
        only = None if self._options.choice in TOOL_CHOICES else self._options.choice
        voted = None if self._voted is None else self._show_call
        fits = self._fits(written)
        decoder = CallDecoder(self._tools, only, self._options, self._prompt, fits, voted, self._in_values)
        decoded = await decoder.decode(written.branch, self._tools.called(written.opened))
        return decoded._replace(text=written.text + decoded.text, answer=answer)

    def _fits(self, written: FreeText) -> Callable[[str], bool]:
        """Return whether calls behind the free text are within ``max_tokens``."""
        most, context = self._options.max_tokens, self._table.join(self._prompt_ids[-_TAIL:])

        def fits(calls: str) -> bool:
            return most is None or len(self._table.encode_after(context, (written.text + calls).encode())) <= most

        return fits

    async def _free_text(self, branch: Branch) -> FreeText:
        """Let the model write what it may before its calls; the branch of the result ends with the opener."""
        call_format, opener = self._format, self._format.start(0)
        mode = self._text_mode(branch)
        if self._options.choice not in ("auto", "none"):
            thought, behind, *_ = await mode.think_first(opener, lambda: self._thinking_limit(branch))
            text = thought or call_format.lead
            behind = behind or branch
            behind.write(opener if thought else text + opener)
            return FreeText(text, behind)
        written = await mode.write(lambda: self._text_limit(branch), lambda: self._thinking_limit(branch))
        if written.branch is not None and not written.opened:
            written.branch.write(opener.removeprefix(call_format.trigger))
        return written

    def _text_mode(self, branch: Branch) -> TextMode:
        """Return the text mode; an opener that is text must go on to a documented name."""
        call_format, options, bind = self._format, self._options, self._table.special.bound
        rules = TextRules(
            line_end=self._line_end,
            stops=[stop for stop in options.stop if stop],
            thinking=[Thinking(*map(bind, pair)) for pair in THINKING],
            opened_thinking=self._opened_thinking and Thinking(*map(bind, self._opened_thinking)),
            chat=ends_as_chat(self._prompt_ids, self._table),
        )
        if options.choice != "none":
            rules = replace(rules, opener=call_format.trigger)
            if call_format.trigger == call_format.start(0):
                rules = replace(rules, names=self._tools.names(0), attempt=attempt_pattern(call_format))
        sampler = Sampler(options, self._prompt_ids)
        return TextMode(branch, rules, sampler.token, self._show and self._show_answer)

    def _show_answer(self, text: str) -> None:
        if self._show is not None:
            self._show(self._answer(text))

    def _show_call(self, call: DecodedCall) -> None:
        if self._voted is not None:
            self._voted(call.shown(self._table.special.shown))

    def _answer(self, text: str) -> Answer:
        return split_thinking(self._table.special.shown(text), self._opened_thinking)

    def _text_limit(self, branch: Branch) -> int:
        """Return the limit of free text that leaves room for a call behind it."""
        return self._limit(self._options.max_text_tokens, branch)

    def _thinking_limit(self, branch: Branch) -> int:
        return self._limit(self._options.max_thinking_tokens, branch)

    def _limit(self, most: int, branch: Branch) -> int:
        if self._options.max_tokens is not None:
            most = max(0, min(most, self._options.max_tokens - len(branch.ids)))
        return self._tools.fitting(most, self._options.choice, branch.room)


def ends_as_chat(prompt_ids: Sequence[int], table: TokenTable) -> bool:
    """Return whether a prompt ends with the turn that a chat template has opened: with a special token near its end."""
    return any(map(table.is_special, prompt_ids[-_TURN:]))
