"""A value while the model writes it freely: which tokens keep it possible, and where it ends."""

import codecs
from typing import NamedTuple

from lookup.values.grammar import ValueGrammar
from lookup.values.literal_values import admissible, admissible_behind
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.token_table import is_characters

_EVERY_BYTE = frozenset(range(256))
_CLOSERS = frozenset("'\"]})")


class Step(NamedTuple):
    """What a piece of text does to a value.

    Attributes
    ----------
    value : str
        The part of the piece that belongs to the value.
    tail : bytes
        An unfinished character at its end.
    closed : bool
        The value is complete; the rest of the piece follows it.
    """

    value: str
    tail: bytes
    closed: bool


class ValueState:
    """The text of one value so far.

    A token may end the value and run on into what can follow a value in the format. Whatever that is, it
    ends the value: the model need not know that another key is going to be injected.
    """

    def __init__(self, grammar: ValueGrammar, form: CallFormat) -> None:
        self._grammar = grammar
        self._form = form
        self.text = grammar.opener
        self.tail = b""
        self._finishing = False
        self._last: tuple[bytes, Step | None] | None = None

    def finish_character(self) -> bool:
        """Admit from now on only what completes the character under way; False if there is none."""
        self._last = None
        self._finishing = bool(self.tail)
        return self._finishing

    def __call__(self, piece: bytes) -> Step | None:
        """Whether the value may go on with a piece; see ``step``."""
        return self.step(piece)

    def first_bytes(self) -> frozenset[int]:
        """Bytes that can follow; maybe others beside."""
        if self.tail or self._finishing:
            return _EVERY_BYTE
        ends = (self._form.separator[0] + self._form.end[0]) if self._grammar.complete(self.text) else ""
        return self._grammar.bytes_after(self.text) | frozenset(ends.encode())

    def step(self, piece: bytes) -> Step | None:
        """The effect of a piece of text, or None if the value would become impossible."""
        if self._last is None or self._last[0] != piece:
            self._last = piece, self._step(piece)
        return self._last[1]

    def _step(self, piece: bytes) -> Step | None:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            new = decoder.decode(self.tail + piece)
        except UnicodeDecodeError:
            return None
        tail = decoder.getstate()[0]
        if tail and not completable(tail):
            return None
        if self._finishing and (len(new) > 1 or (new and tail)):
            return None
        closed = self._closed_step(new, tail)
        if closed is not None:
            return closed
        text = self.text + new
        if not admissible(text, self._grammar) or (tail and not admissible_behind(text, tail, self._grammar)):
            return None
        if new and not tail and self._grammar.complete(text) and not self._grammar.extendable(text):
            return Step(new, b"", True)
        return Step(new, tail, False)

    def _closed_step(self, new: str, tail: bytes) -> Step | None:
        """The step if the value ends inside ``new`` and the rest may follow."""
        if tail:
            return None
        first = self._form.separator[0] + self._form.end[0]
        for split in range(len(new)):
            overflow = new[split:]
            before = new[split - 1] if split else self.text[-1:]
            if (
                overflow[0] in first
                and (before in _CLOSERS or before.isalnum())
                and self._grammar.complete(self.text + new[:split])
                and admissible(self.text + new[:split], self._grammar)
                and self._form.may_follow_value(overflow)
            ):
                return Step(new[:split], b"", True)
        return None

    def apply(self, step: Step) -> None:
        """Take a step returned by ``step``."""
        self._last = None
        self.text += step.value
        self.tail = step.tail


def completable(tail: bytes) -> bool:
    """Whether some character begins with these bytes (``ED A0`` begins none: it would be a surrogate)."""
    size = 2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4
    return any(is_characters(tail + bytes([fill]) * (size - len(tail))) for fill in (0x80, 0xBF))
