"""Lists without an item twice (``uniqueItems``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from lookup.errors import LiteralError
from lookup.literals.dialects import Dialect
from lookup.literals.literal_reader import parse_literal
from lookup.schema.words import identity
from lookup.values.bracket_shapes import Distinct, OpenList
from lookup.values.plain_shapes import Literals, Union
from lookup.values.shapes import ANY_CHARACTER, ASCII, Ended, Reading, Shape, Start, advance, closing

_MAX_TRIED: Final = 1_000
_MAX_OPENING: Final = 12
_MAX_OPENED: Final = 100


class DistinctItems(Distinct):
    """Tells items apart by their values.

    Parameters
    ----------
    dialect : Dialect
        How items are read.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def identity(self, written: str) -> Hashable:
        key: Hashable = identity(parse_literal(written, self._dialect))
        return key

    def without(self, shape: Shape, seen: frozenset[Hashable]) -> Shape | None:
        shapes = [left for one in shape.alternatives if (left := self._left(one, seen)) is not None]
        if not shapes:
            return None
        return shapes[0] if len(shapes) == 1 else Union(shapes)

    def _left(self, shape: Shape, seen: frozenset[Hashable]) -> Shape | None:
        if not isinstance(shape, Literals):
            return shape
        texts = [text for text in shape.literals.texts if self.identity(text) not in seen]
        return Literals(texts) if texts else None

    def begin(self, shape: Shape, character: str, inside: OpenList) -> Iterable[Reading]:
        return _Item(inside, self, [Start(shape)], "").read(character)

    def shortest(self, shape: Shape, seen: frozenset[Hashable]) -> str:
        for written in itertools.islice(self._written([Start(shape)], ""), _MAX_TRIED):
            if self.identity(written) not in seen:
                return written
        return shape.shortest()

    def rest(self, readings: Sequence[Reading], written: str, inside: OpenList) -> str:
        """A short text that completes an item which is not there yet."""
        for whole in itertools.islice(self._written(readings, written), _MAX_TRIED):
            if inside.having(whole) is not None:
                return whole[len(written) :]
        return closing(readings)

    def _written(self, readings: Sequence[Reading], begun: str) -> Iterator[str]:
        """Whole items that begin so."""
        if all(isinstance(reading, Start) for reading in readings):
            yield from (begun + text for reading in readings for text in _listed(reading))
        shortest = closing(readings)
        yield begun + shortest
        openings = [shortest[:end] for end in range(min(len(shortest), _MAX_OPENING) + 1)]
        yield from (begun + rest for rest in _with_digits(readings, openings))
        yield from (begun + rest for rest in _with_letters(readings, openings))


def _with_digits(readings: Sequence[Reading], openings: Sequence[str]) -> Iterator[str]:
    """What completes an item with a number behind its opening, where digits may stand there."""
    found = False
    for number in range(_MAX_TRIED):
        for opening in openings:
            written = f"{opening}{number}"
            if further := advance(readings, written):
                found = True
                yield written + closing(further)
        if number == 9 and not found:
            return


def _with_letters(readings: Sequence[Reading], openings: Sequence[str]) -> Iterator[str]:
    """What completes an item with few letters behind its opening, whichever may stand there."""
    waiting = [(written, further) for written in openings if (further := advance(readings, written))]
    known = set(openings)
    for opened, (written, begun) in enumerate(waiting):  # it grows
        if opened == _MAX_OPENED:
            return
        letters = {*ASCII, *(letter for reading in begun for letter in reading.all_letters())} - {ANY_CHARACTER}
        for letter in sorted(letters, key=lambda letter: (not letter.isalnum(), letter)):
            longer = written + letter
            if longer not in known and (further := advance(begun, letter)):
                known.add(longer)
                waiting.append((longer, further))
                yield longer + closing(further)


def _listed(reading: Reading) -> Iterator[str]:
    """All literals of a shape, where they are listed."""
    for shape in reading.shape.alternatives if isinstance(reading, Start) else ():
        if isinstance(shape, Literals):
            yield from shape.literals.texts


def _is_end(reading: Reading) -> bool:
    """Whether an item ends here and cannot go on."""
    return isinstance(reading, Ended) and reading.frame is None


class _Item(Reading):
    """Inside an item, or at its end: it goes on behind the item by itself."""

    def __init__(self, inside: OpenList, distinct: DistinctItems, readings: Sequence[Reading], written: str) -> None:
        self.frame = inside.parent
        self._inside = inside
        self._distinct = distinct
        self._readings = readings
        self._written = written

    def read(self, character: str) -> Iterable[Reading]:
        found: list[Reading] = []
        written = self._written + character
        further = advance(self._readings, character)
        if any(map(_is_end, further)) and self._list(written) is None:
            further = [reading for reading in further if not _is_end(reading)]
        if further:
            found.append(_Item(self._inside, self._distinct, further, written))
        if any(reading.whole and reading.frame is None for reading in self._readings):
            inside = self._list(self._written)
            found += [] if inside is None else inside.behind(character)
        return found

    def _list(self, written: str) -> OpenList | None:
        """The list behind an item; ``None`` if the item may not stand there."""
        try:
            return self._inside.having(written)
        except LiteralError:
            return None

    def closing(self) -> str:
        rest = self._distinct.rest(self._readings, self._written, self._inside)
        return rest + (self._list(self._written + rest) or self._inside).closing()

    def identity(self) -> tuple[object, ...]:
        return _Item, id(self._inside), self._written

    def letters(self) -> Iterable[str]:
        return (letter for reading in self._readings for letter in reading.all_letters())
