"""TOOLDEC: each step takes the likeliest token with which the text is still the beginning of a call.

Nothing is injected and nothing is voted on: the model chooses every token of a call, and each costs a forward pass.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from eval.methods.tooldec.machine import Admission, CallMachine, Finished, Position, Value
from tooldecoding.calls.free_text import TextMode, TextRules
from tooldecoding.decoder import Request, ToolDecoder, callable_tools
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.steps import Steps, drive, gather
from tooldecoding.errors import ConfigError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.react import REACT
from tooldecoding.result import Counters
from tooldecoding.tokens.branch import Branch, Label, Tally

Form = Literal["call", "react"]
"""``call`` writes the request's call format, ``react`` writes ``Action: Name\\nAction Input: {…}``."""

FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class ToolDecResult:
    """What TOOLDEC wrote behind one prompt.

    Attributes
    ----------
    text : str
        Everything that was written, even if it was cut off.
    calls : tuple of Call
        The calls; empty if the model called no tool or did not finish.
    truncated : bool
        Whether a call reached the token limit of a value or the end of the model's context. TOOLDEC cannot leave a
        value that the model does not end. The text is no call then, and counts as an error of format.
    token_ids : tuple of int
        ``text`` in the tokens that the model chose. A first token that is merged with the prompt's last one is
        replaced by the tokens of the text that it adds.
    counters : Counters
        No tokens are forced. ``constrained`` tokens begin outside of values, ``free`` ones in values and free text.
    """

    text: str
    calls: tuple[Call, ...]
    truncated: bool
    token_ids: tuple[int, ...]
    counters: Counters


def run_tooldec(decoder: ToolDecoder, requests: Sequence[Request], form: Form = "call") -> list[ToolDecResult]:
    """Decode several prompts together with TOOLDEC, each with its own tools and options.

    Parameters
    ----------
    decoder : ToolDecoder
        Gives the model, its tokenizer and the strategy; ``decoder.options`` is not used.
    requests : sequence of Request
        The options about orders are not used.
    form : {"call", "react"}
        ``react`` allows one call with JSON values, whatever the format in the options.

    Raises
    ------
    ToolDecodingError
        As ``ToolDecoder.run``.
    """
    if form not in FORMS:
        raise ConfigError(f"unknown form {form!r}; known: {', '.join(FORMS)}")
    if not requests:
        return []
    requests = [replace(r, tools=r.tools.decided(r.options.unknown_keys)) for r in requests]
    prompts = [decoder.prompt_ids(r) for r in requests]
    start = time.perf_counter()
    engine = decoder.new_engine()
    writers = []
    for request, ids, root in zip(requests, prompts, engine.open(len(requests)), strict=True):
        writers.append(_Writer(decoder, request, ids, form, engine, root))
    drive(gather([writer.write() for writer in writers]), engine)
    seconds = time.perf_counter() - start
    return [writer.result(seconds) for writer in writers]


class _Writer:
    """Writes the text of one request on a branch."""

    def __init__(
        self, decoder: ToolDecoder, request: Request, prompt: Sequence[int], form: Form, engine: Engine, root: int
    ) -> None:
        self._decoder = decoder
        self._request = request
        self._prompt = prompt
        self._tally = Tally()
        self._branch = Branch.behind(prompt, engine, root, decoder.table, self._tally, decoder.context)
        self._held = self._branch.pending.text
        self._usage = engine.usage(root)
        call_format = REACT if form == "react" else request.options.call_format
        self._format = call_format.bound(decoder.table.special.bound)
        self._machine: CallMachine | None = None
        self._position: Position | None = None

    def write(self) -> Steps[None]:
        """Write free text, calls, or both."""
        options = self._request.options
        if options.choice == "none":
            yield from self._free_text(None)
        else:
            tools = callable_tools(self._request)
            machine = CallMachine(tools, self._format, options.value_constraint, options.max_calls)
            self._machine, self._position = machine, machine.start
            if options.choice == "auto":
                self._position = yield from self._free_text(machine)
            yield from self._calls(machine)
        self._branch.settle()
        self._branch.release()

    def _calls(self, machine: CallMachine) -> Steps[None]:
        """Write calls until they are finished, or until a value or the context is full."""
        value, spent = None, 0
        while self._position is not None and not isinstance(self._position, Finished):
            if self._is_full():
                return
            admission = Admission(machine, self._position)
            label: Label = "free" if isinstance(self._position, Value) else "constrained"
            pick = yield from self._branch.next_token(admission)
            self._position = admission(pick.piece)
            self._branch.take(pick, label)
            if isinstance(self._position, Value):
                current = len(self._position.calls), self._position.number
                begun = bool(self._position.text or self._position.tail)
                value, spent = current, spent + 1 if current == value else int(begun)
                if spent >= self._request.options.max_value_tokens and not self._position.ended:
                    return

    def _free_text(self, machine: CallMachine | None) -> Steps[Position | None]:
        """Let the model write anything up to the opener; returns the position behind it, None if it never came.

        The opener counts without white space at its end, which the machine then reads as a part of the call.
        """
        opener, stop = self._format.start(0).rstrip(), self._request.stop
        limit = self._decoder.text_limit(self._request, self._branch)
        mode = TextMode(self._branch, TextRules(opener if machine else "", line_end=stop))
        result = yield from mode.write(lambda: limit)
        return machine.advance(machine.start, opener.encode()) if machine and result.branch else None

    def _is_full(self) -> bool:
        room = self._branch.room
        return room is not None and room <= bool(self._branch.pending.text)

    def result(self, seconds: float) -> ToolDecResult:
        """Return the result after ``write``."""
        ids, usage, finished = self._ids_behind_prompt(), self._usage, isinstance(self._position, Finished)
        calls: tuple[Call, ...] = ()
        if self._machine is not None and isinstance(self._position, Finished):
            calls = self._machine.read(self._position)
        counters = replace(Counters.of(usage, self._tally, seconds), forced_tokens=0)
        text = self._decoder.table.special.shown(self._decoder.table.join(ids).decode(errors="replace"))
        return ToolDecResult(text, calls, not finished and self._position is not None, tuple(ids), counters)

    def _ids_behind_prompt(self) -> list[int]:
        """Return the branch's tokens without the text of the prompt's last token, which they repeat."""
        table, ids, repeated = self._decoder.table, list(self._branch.ids), len(self._held)
        while repeated and ids:
            text = table.text(ids.pop(0))
            if len(text) > repeated:
                return [*table.encode_after(table.join(self._prompt[-32:]), text[repeated:]), *ids]
            repeated -= len(text)
        return ids
