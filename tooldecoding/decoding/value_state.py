"""A value while the model writes it freely: which tokens may come next, and where the value ends.

A value ends in one of three ways:

1. The model writes what may follow a value in the call format, a separator or the end of the call, behind a whole
   literal. Which of them it writes plays no part: another key may be injected next, of which the model knows nothing.
2. The literal is whole and cannot be longer, such as a text behind its closing quote in JSON.
3. It is cut: a limit of tokens ends it, or it goes round in circles. Then it is closed by force (``cut_off``), so that
   the call can be read, and what is whole of it is kept (``cut_values``).
"""

import codecs
from typing import NamedTuple

from lookup.grammar.number_here import NUMBER_CHARACTERS, NumberHere
from lookup.grammar.value_grammar import MAX_CLOSING, ValueGrammar
from tooldecoding.formats.call_format import CallFormat

_EVERY_BYTE = frozenset(range(256))
_EXPONENT = frozenset("eE")
_IN_NUMBERS = frozenset(NUMBER_CHARACTERS)
_MOST_DIGITS = 64
_LAST_CHARACTERS = frozenset("'\"]})")
"""A literal ends with one of these, with a letter or digit, or with the mark of its notation."""


def begins_with_letter(text: bytes) -> bool:
    """Whether a text begins with a letter of a script with capitals; others, such as Chinese, have no apostrophes."""
    first = text.decode(errors="replace")[:1]
    return first.islower() or first.isupper()


def _missing(tail: bytes) -> int:
    """Return how many bytes the character lacks that has begun so; 0 if none has."""
    return sum(tail[0] >= lead for lead in (0xC0, 0xE0, 0xF0)) + 1 - len(tail) if tail else 0


class Step(NamedTuple):
    """What a piece of text does to a value.

    Attributes
    ----------
    value : str
        The part of the piece that belongs to the value.
    tail : bytes
        An unfinished character at its end.
    closed : bool
        Whether the value ends; the rest of the piece comes behind it.
    needed : int
        Bytes of the shortest text that closes the value behind it, and of what its unfinished character lacks.
    """

    value: str
    tail: bytes
    closed: bool
    needed: int = 0


class ValueState:
    """One value so far.

    Attributes
    ----------
    text : str
        Its whole characters.
    tail : bytes
        The bytes of an unfinished character behind them.
    closed : bool
        Whether the model has ended the value.
    is_crowded : bool
        Whether a piece was refused since the last one that was written, for want of room alone.
    """

    def __init__(self, grammar: ValueGrammar, call_format: CallFormat) -> None:
        self._grammar = grammar
        self._format = call_format
        self._first_behind = frozenset(call_format.first_behind_value)
        notation = call_format.notation
        self._last_characters = _LAST_CHARACTERS | frozenset("" if isinstance(notation, str) else notation.mark[-1])
        self.text = grammar.opener
        self.tail = b""
        self.closed = False
        self._room = MAX_CLOSING
        self._needed = len(self._grammar.close(self.text).encode())
        self._finishing = False
        self._last: tuple[bytes, Step | None] | None = None
        self._is_number_whole = self._is_in_full = False
        self.is_crowded = False

    def __call__(self, piece: bytes) -> Step | None:
        """Return the effect of a piece of text, or None if the value would become impossible, or too long to close."""
        if self._last is None or self._last[0] != piece:
            step = self._step(piece)
            self._last = piece, None if step is None else self._fitting(step)
        return self._last[1]

    def _fitting(self, step: Step) -> Step | None:
        """Return a step with what it needs, or None if there is no room for it."""
        if step.closed:
            self.is_crowded |= len(step.value.encode()) > self._room
            return step if len(step.value.encode()) <= self._room else None
        text, missing = self.text + step.value, _missing(step.tail)
        behind = self._grammar.characters_behind(text, step.tail) if missing else ("",)
        for character in behind:  # the unfinished one may open what takes long to close
            closing = character + self._grammar.close(text + character)
            needed = missing + len(closing[len(character) :].encode())
            whole = (text + closing).removesuffix(self._format.value_mark)
            begin = max(0, len(self.text) - self._format.longest_mark)
            if self._format.mark_inside(whole, begin):
                continue
            if needed < self._room:
                return step._replace(needed=needed)
            self.is_crowded = True
        return None

    def limit(self, room: int) -> bool:
        """Admit from now on only what can be closed within so many tokens; returns whether there is room for a token.

        What is counted is the shortest way to close the value where it stands, a token for each byte.
        """
        self._room, self._last = room, None
        return bool(self.tail) or self._needed < room

    def first_bytes(self) -> frozenset[int]:
        """Return the bytes that may come next, possibly with some others."""
        if self.tail or self._finishing:
            return _EVERY_BYTE
        behind = "".join(self._first_behind) if self._grammar.complete(self.text) else ""
        return self._grammar.bytes_after(self.text) | frozenset(behind.encode())

    def write(self, piece: bytes) -> bytes:
        """Append an admitted piece, and return the part of it that belongs to the value."""
        step = self(piece)
        if step is None:
            raise RuntimeError(f"text {piece!r} was admitted and then refused")
        kept = step.value.encode()[len(self.tail) :]
        self._last = None
        self._is_number_whole = self._is_in_full = self.is_crowded = False
        self.text += step.value
        self.tail = step.tail
        self.closed = step.closed
        self._needed = step.needed
        return kept

    @property
    def has_escapes(self) -> bool:
        """Whether a backslash would begin an escape here, as between quotes."""
        return self._grammar.possible(self.text + "\\\\") and not self._grammar.possible(self.text + "\\d")

    @property
    def number(self) -> NumberHere | None:
        """What is written of a number that may go on, or begin, here; None where no number may."""
        return None if self.tail or self._is_number_whole else self._grammar.number_behind(self.text)

    def number_kept(self, piece: bytes) -> bytes | None:
        """As ``kept``, for the rest of a number that the model writes so to its end; admitted from now on."""
        self._last, self._is_in_full = None, True
        return self.kept(piece)

    def ends_number(self, piece: bytes) -> bool:
        """Whether a number may end behind an admitted piece."""
        here = self._grammar.number_inside(self.text + piece.decode())
        return here is not None and here.may_end

    def end_number(self) -> None:
        """From now on admit no further digit of the number that stands here."""
        self._last, self._is_number_whole = None, True

    def ends_with(self, piece: bytes) -> bool:
        """Whether the value ends with an admitted piece, or before its end."""
        step = self(piece)
        return step is not None and step.closed

    def kept(self, piece: bytes) -> bytes | None:
        """Return a piece if it is admitted, and there is room for it with a token for each byte; else None."""
        step = self(piece)
        return None if step is None or step.tail or len(piece) + step.needed > self._room else piece

    def finish_character(self) -> bool:
        """From now on admit only the rest of the unfinished character; False if there is none."""
        self._last = None
        self._finishing = bool(self.tail)
        return self._finishing

    def cut_off(self) -> str:
        """Close the literal where it stands, and return what is added."""
        suffix = self._grammar.close(self.text)
        self.text += suffix
        return suffix

    def _step(self, piece: bytes) -> Step | None:
        whole_bytes = self.tail + piece if self.tail else piece
        tail = b""
        try:
            new = whole_bytes.decode()
        except UnicodeDecodeError:
            decoder = codecs.getincrementaldecoder("utf-8")()
            try:
                new = decoder.decode(whole_bytes)
            except UnicodeDecodeError:
                return None
            tail = decoder.getstate()[0]
        if self._finishing and (len(new) > 1 or (new and tail)):
            return None
        ended = None if tail or self._first_behind.isdisjoint(new) else self._ended_inside(new)
        if ended is not None:
            return ended
        text = self.text + new
        if self._holds_mark(text, len(new)) or (self._is_number_whole and new[:1] in _IN_NUMBERS):
            return None
        if not self._grammar.possible(text) or (not self._is_in_full and self._is_half_integer(text)):
            return None
        whole = bool(new) and not tail and self._grammar.complete(text) and not self._grammar.extendable(text)
        # the model may go on with a number, and that is told
        return Step(new, tail, whole and not (text[-1].isdigit() and self._grammar.number_inside(text)))

    def _is_half_integer(self, text: str) -> bool:
        """Whether an integer has an exponent that may lead nowhere: it must be read on first."""
        if not _EXPONENT.intersection(text[-_MOST_DIGITS:]) or text[-1] not in _IN_NUMBERS:
            return False
        here = self._grammar.number_inside(text)
        return here is not None and here.is_whole and not here.may_end and not _EXPONENT.isdisjoint(here.written)

    def _ended_inside(self, new: str) -> Step | None:
        """Return the step if the value ends before one of the characters ``new`` and the rest may follow a value."""
        for split in range(len(new)):
            behind = new[split:]
            last = new[split - 1] if split else self.text[-1:]
            if (
                behind[0] in self._first_behind
                and (last in self._last_characters or last.isalnum())
                and self._grammar.complete(self.text + new[:split])
                and not self._holds_mark(self.text + new[:split], split)
                and self._format.may_follow_value(behind)
            ):
                return Step(new[:split], b"", True)
        return None

    def _holds_mark(self, text: str, new: int) -> bool:
        """Whether the last ``new`` characters complete a mark of the format where it is not the value's own end."""
        begin = max(0, len(text) - new - self._format.longest_mark)
        found = self._format.mark_inside(text, begin)
        return found and not (text.endswith(self._format.value_mark or "\0") and self._grammar.complete(text))
