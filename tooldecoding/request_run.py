"""One request while it is decoded: what belongs to it alone, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tooldecoding.calls.phase_clock import PhaseClock
from tooldecoding.calls.prompt_decoder import DecodedPrompt
from tooldecoding.engines.engine import BranchId, Usage
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
    root : BranchId
        The engine's branch of the prompt.
    usage : Usage
        The engine's counts of the prompt.
    tally : Tally
    clock : PhaseClock
    """

    prompt_ids: Sequence[int]
    root: BranchId
    usage: Usage
    tally: Tally = field(default_factory=Tally)
    clock: PhaseClock = field(default_factory=PhaseClock)

    def result(self, decoded: DecodedPrompt, table: TokenTable, options: DecodeOptions, seconds: float) -> DecodeResult:
        """Return the result as users see it, with the wall-clock time that it took."""
        show = table.special.shown
        context = table.join(self.prompt_ids[-_CONTEXT_TOKENS:])
        return DecodeResult(
            show(decoded.text),
            tuple(call.shown(show) for call in decoded.calls),
            table.encode_after(context, decoded.text.encode()),
            Counters.of(self.usage, self.tally, seconds, self.clock.seconds),
            options.call_format,
            decoded.answer,
            decoded.cut,
            decoded.repeated,
        )
