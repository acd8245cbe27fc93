"""TOOLDEC: each step takes the likeliest token with which the text is still the beginning of a call.

Nothing is injected and nothing is voted on: the model chooses every token of a call, and each costs a forward pass.
Zhang et al., "Don't Fine-Tune, Decode: Syntax Error-Free Tool Use via Constrained Decoding", arXiv 2310.07075.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.methods.answer_writer import AnswerWriter, write_together
from eval.methods.call_machine import Admission, CallMachine, Finished, Position, Value
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.request import Request, callable_tools
from tooldecoding.result import Counters
from tooldecoding.tokens.branch import Label


@dataclass(frozen=True)
class ToolDecResult:
    """What TOOLDEC wrote behind one prompt, and its calls, none if the model called no tool or did not finish.

    ``text`` is everything that was written. ``truncated`` says that a call reached the token limit of a value or the
    end of the model's context: TOOLDEC cannot leave a value that the model does not end, and the text counts as an
    error of format. No tokens are forced; ``constrained`` ones begin outside of values, ``free`` ones in values and
    free text.
    """

    text: str
    calls: tuple[Call, ...]
    truncated: bool
    counters: Counters


def run_tooldec(decoder: ToolDecoder, requests: Sequence[Request]) -> list[ToolDecResult]:
    """Decode several prompts together with TOOLDEC, each with its own tools and options; those of orders are not used.

    ToolDecodingError as ``ToolDecoder.run``.
    """
    writers, seconds = write_together(decoder, requests, _Writer)
    return [writer.result(seconds) for writer in writers]


class _Writer(AnswerWriter):
    """Writes free text, calls, or both."""

    _machine: CallMachine | None = None
    _position: Position | None = None

    async def write(self) -> None:
        """Write the answer. The opener counts without white space at its end, which belongs to the call then."""
        options, opener = self.request.options, self.format.start(0).rstrip()
        if options.choice == "none":
            await self.free_text("")
        else:
            machine = CallMachine(
                callable_tools(self.request), self.format, options.value_constraint, options.max_calls
            )
            self._machine, self._position = machine, machine.start
            if options.choice == "auto":
                opened = await self.free_text(opener)
                self._position = machine.advance(machine.start, opener.encode()) if opened else None
            await self._calls(machine)
        self.branch.settle()
        self.branch.release()

    async def _calls(self, machine: CallMachine) -> None:
        """Write calls until they are finished, or until a value or the context is full."""
        value, spent = None, 0
        while self._position is not None and not isinstance(self._position, Finished):
            room = self.branch.room
            if room is not None and room <= bool(self.branch.pending.text):
                return
            admission = Admission(machine, self._position)
            label: Label = "free" if isinstance(self._position, Value) else "constrained"
            pick = await self.branch.next_token(admission)
            self._position = admission(pick.piece)
            self.branch.take(pick, label)
            if isinstance(self._position, Value):
                current = len(self._position.calls), self._position.number
                begun = bool(self._position.text or self._position.tail)
                value, spent = current, spent + 1 if current == value else int(begun)
                most = self.request.options.max_value_tokens
                if most is not None and spent >= most and not self._position.ended:
                    return

    def result(self, seconds: float) -> ToolDecResult:
        """Return the result after ``write``."""
        calls: tuple[Call, ...] = ()
        truncated = self._position is not None
        if self._machine is not None and isinstance(self._position, Finished):
            calls, truncated = self._machine.read(self._position), False
        counters = replace(Counters.of(self.usage, self.tally, seconds), forced_tokens=0)
        return ToolDecResult(self.written, calls, truncated, counters)
