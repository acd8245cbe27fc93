"""One request while it is decoded: what belongs to it alone, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tooldecoding.calls.prompt_decoder import DecodedPrompt
from tooldecoding.engines.engine import Usage
from tooldecoding.options import DecodeOptions
from tooldecoding.result import Counters, DecodeResult
from tooldecoding.tokens.branch import Tally
from tooldecoding.tokens.token_table import TokenTable

_CONTEXT_TOKENS = 32


@dataclass
class RequestRun:
    """A request under way.

    Attributes
    ----------
    prompt_ids : sequence of int
    usage : Usage
        The engine's counts of the prompt.
    tally : Tally
    """

    prompt_ids: Sequence[int]
    usage: Usage
    tally: Tally = field(default_factory=Tally)

    def result(self, decoded: DecodedPrompt, table: TokenTable, options: DecodeOptions, seconds: float) -> DecodeResult:
        """Return the result as users see it, with the wall-clock time that it took."""
        show = table.special.shown
        context = table.join(self.prompt_ids[-_CONTEXT_TOKENS:])
        return DecodeResult(
            show(decoded.text),
            tuple(call.shown(show) for call in decoded.calls),
            table.encode_after(context, decoded.text.encode()),
            Counters.of(self.usage, self.tally, seconds),
            options.call_format,
            decoded.answer,
            decoded.cut,
            decoded.repeated,
        )
