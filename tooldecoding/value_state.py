"""A value while the model writes it freely: which tokens keep it possible, and where it ends."""

import codecs
from dataclasses import dataclass
from typing import NamedTuple

from lookup.value_grammar import ValueGrammar
from lookup.value_text import admissible

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


@dataclass(frozen=True)
class Following:
    """What may stand behind a value: the separator, and the end of the call when no key is owed.

    A token that closes the call may run on into the closer or the next call; that part is decided
    again after the vote.
    """

    separator: str
    end: str
    closer: str
    may_continue: bool
    may_end: bool

    def admits(self, overflow: str) -> bool:
        """Whether ``overflow`` begins something that may follow."""
        if self.may_continue and self.separator.startswith(overflow):
            return True
        if not self.may_end or not overflow.startswith(self.end):
            return False
        rest = overflow[len(self.end) :]
        return rest.startswith(self.closer) or self.separator.startswith(rest)


class ValueState:
    """The text of one value so far.

    Parameters
    ----------
    opener : str
        The part of the literal that is already written.
    """

    def __init__(self, grammar: ValueGrammar, following: Following, opener: str) -> None:
        self._grammar = grammar
        self._following = following
        self.text = opener
        self.tail = b""
        self._finishing = False

    def finish_character(self) -> bool:
        """Admit from now on only what completes the character under way; False if there is none."""
        self._finishing = bool(self.tail)
        return self._finishing

    def step(self, piece: bytes) -> Step | None:
        """The effect of a piece of text, or None if the value would become impossible."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            new = decoder.decode(self.tail + piece)
        except UnicodeDecodeError:
            return None
        tail = decoder.getstate()[0]
        if tail and not _completable(tail):
            return None
        if self._finishing and (len(new) > 1 or (new and tail)):
            return None
        closed = self._closed_step(new, tail)
        if closed is not None:
            return closed
        text = self.text + new
        if not admissible(text, self._grammar) or (tail and not self._grammar.possible(text + "\u4e00")):
            return None
        if new and not tail and self._grammar.complete(text) and not self._grammar.extendable(text):
            return Step(new, b"", True)
        return Step(new, tail, False)

    def _closed_step(self, new: str, tail: bytes) -> Step | None:
        """The step if the value ends inside ``new`` and the rest may follow."""
        if tail:
            return None
        for split in range(len(new)):
            overflow = new[split:]
            before = new[split - 1] if split else self.text[-1:]
            if (
                overflow[0] in self._first_following()
                and (before in _CLOSERS or before.isalnum())
                and self._grammar.complete(self.text + new[:split])
                and admissible(self.text + new[:split], self._grammar)
                and self._following.admits(overflow)
            ):
                return Step(new[:split], b"", True)
        return None

    def _first_following(self) -> str:
        return self._following.separator[0] + self._following.end[0]

    def apply(self, step: Step) -> None:
        """Take a step returned by ``step``."""
        self.text += step.value
        self.tail = step.tail


def _completable(tail: bytes) -> bool:
    """Whether some character begins with these bytes (``ED A0`` begins none: it would be a surrogate)."""
    size = 2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4
    return any(_is_character(tail + bytes([fill]) * (size - len(tail))) for fill in (0x80, 0xBF))


def _is_character(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
