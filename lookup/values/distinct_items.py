"""Lists without an item twice (``uniqueItems``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from lookup.errors import DocumentationError, LiteralError
from lookup.literals.dialects import Dialect
from lookup.literals.literal_reader import parse_literal
from lookup.schema.words import identity
from lookup.values.bracket_shapes import Distinct, OpenList
from lookup.values.plain_shapes import Literals, Union
from lookup.values.shapes import Ended, Reading, Shape, Span, Start, advance, closing, spans_of

_MAX_TRIED: Final = 1_000
_MAX_STEPS: Final = 20_000
_MAX_NUMBERED: Final = 20
_MAX_OPENING: Final = 200
_MAX_CHECKED: Final = 2_000
_MAX_LISTED: Final = 256
_MAX_KEPT: Final = 256
_COMMON: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHARACTERS: Final = (*_COMMON, *sorted(set(map(chr, range(32, 127))) - set(_COMMON)))


class DistinctItems(Distinct):
    """Tells items apart by their values.

    An item goes on only as long as some value that is not there yet is found behind it, so that it can be closed.

    Parameters
    ----------
    dialect : Dialect
        How items are read.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._identities: dict[str, Hashable] = {}
        self._rests: dict[Hashable, _Rests] = {}

    def identity(self, written: str) -> Hashable:
        key: Hashable = identity(parse_literal(written, self._dialect))
        return key

    def without(self, shape: Shape, seen: frozenset[Hashable]) -> Shape | None:
        shapes = [left for one in shape.alternatives if (left := self._left(one, seen)) is not None]
        return None if not shapes else shapes[0] if len(shapes) == 1 else Union(shapes)

    def _left(self, shape: Shape, seen: frozenset[Hashable]) -> Shape | None:
        if not seen:
            return shape
        if not isinstance(shape, Literals) or len(shape.given) > _MAX_LISTED:
            return None if self.unseen([Start(shape)], "", seen) is None else shape
        texts = [text for text in shape.literals.texts if self._identity_of(text) not in seen]
        return Literals(texts) if texts else None

    def _identity_of(self, listed: str) -> Hashable:
        """The identity of a listed literal, which is asked for again and again."""
        if listed not in self._identities:
            self._identities[listed] = self.identity(listed)
        return self._identities[listed]

    def start(self, shape: Shape, inside: OpenList) -> Reading:
        return _Item(inside, self, [Start(shape)], "", None)

    def shortest(self, shape: Shape, seen: frozenset[Hashable]) -> str:
        found = self.unseen([Start(shape)], "", seen)
        if found is None:
            raise DocumentationError(f"a list needs more than {len(seen)} different items, and no further one is found")
        return found

    def unseen(self, readings: Sequence[Reading], written: str, seen: frozenset[Hashable]) -> str | None:
        """A short item that begins so and is not there yet; ``None`` if none is found."""
        for rest in itertools.islice(self._rests_of(readings, len(seen)), len(seen) + _MAX_TRIED):
            try:
                if self.identity(written + rest) not in seen:
                    return written + rest
            except LiteralError:
                continue
        return None

    def _rests_of(self, readings: Sequence[Reading], known: int) -> "Iterator[str]":
        """See ``_rests``. Items with the same continuations share what was found."""
        key = (known, *(reading.identity() for reading in readings))
        if key not in self._rests:
            if len(self._rests) == _MAX_KEPT:
                self._rests.clear()
            self._rests[key] = _Rests(readings, known)
        kept = self._rests[key]
        return _rests(readings, known) if kept.is_busy else iter(kept)


class _Rests:
    """What completes an item, found as far as it was asked for. Keeps its readings, whose identity is its key.

    Attributes
    ----------
    is_busy : bool
        Whether the next one is looked for just now. Items may have items of their own shape.
    """

    def __init__(self, readings: Sequence[Reading], known: int) -> None:
        self._readings = readings
        self._found: list[str] = []
        self._further = _rests(readings, known)
        self.is_busy = False

    def __iter__(self) -> Iterator[str]:
        for place in itertools.count():
            if place == len(self._found):
                self.is_busy = True
                further = next(self._further, None)
                self.is_busy = False
                if further is None:
                    return
                self._found.append(further)
            yield self._found[place]


def _rests(readings: Sequence[Reading], known: int) -> Iterator[str]:
    """What completes an item; ``known`` items are there already."""
    shortest = closing(readings)
    yield shortest
    if all(isinstance(reading, Start) for reading in readings):
        yield from (text for reading in readings for text in _listed(reading))
    for number in map(str, range(known, known + _MAX_NUMBERED)):
        here = list(readings)
        for end in range(min(len(shortest), _MAX_OPENING) + 1):
            if further := advance(here, number):
                yield shortest[:end] + number + closing(further)
            here = advance(here, shortest[end : end + 1])
    yield from _search(readings)


def _search(readings: Sequence[Reading]) -> Iterator[str]:
    """What completes an item, that with the shorter beginnings first."""
    waiting: list[tuple[str, Sequence[Reading]]] = [("", readings)]
    steps = 0
    for opening, here in waiting:  # it grows
        others = [chr(span[0]) for reading in here for span in reading.all_spans() if span[0] >= 128]
        for character in (*_CHARACTERS, *sorted(set(others))):
            steps += 1
            if further := advance(here, character):
                yield opening + character + closing(further)
                waiting.append((opening + character, further))
        if steps > _MAX_STEPS:
            return


def _listed(reading: Reading) -> Iterator[str]:
    """All literals of a shape, where they are listed."""
    for shape in reading.shape.alternatives if isinstance(reading, Start) else ():
        if isinstance(shape, Literals):
            yield from shape.literals.texts


def _is_end(reading: Reading) -> bool:
    """Whether an item ends here and cannot go on."""
    return isinstance(reading, Ended) and reading.frame is None


class _Item(Reading):
    """Inside an item, or at its end: it goes on behind the item by itself.

    ``whole`` is an item that begins so and may stand in the list, if it was looked for.
    """

    def __init__(
        self, inside: OpenList, distinct: DistinctItems, readings: Sequence[Reading], written: str, whole: str | None
    ) -> None:
        self.frame = inside.parent
        self._inside = inside
        self._distinct = distinct
        self._readings = readings
        self._written = written
        self._whole = whole

    def read(self, character: str) -> Iterable[Reading]:
        found: list[Reading] = []
        further = advance(self._readings, character)
        if further:
            found += self._going_on(further, self._written + character)
        if any(reading.whole and reading.frame is None for reading in self._readings):
            inside = self._list(self._written)
            found += [] if inside is None else inside.behind(character)
        return found

    def _going_on(self, readings: Sequence[Reading], written: str) -> "list[_Item]":
        """The item behind one more character; empty if all that begins so is there already."""
        if any(map(_is_end, readings)) and self._list(written) is None:
            readings = [reading for reading in readings if not _is_end(reading)]
        if not readings:
            return []
        whole, seen = self._whole, self._inside.seen
        if seen and len(written) <= _MAX_CHECKED and (whole is None or not whole.startswith(written)):
            whole = self._distinct.unseen(readings, written, seen)
            if whole is None:
                return []
        return [_Item(self._inside, self._distinct, readings, written, whole)]

    def _list(self, written: str) -> OpenList | None:
        """The list behind an item; ``None`` if the item may not stand there."""
        try:
            return self._inside.having(written)
        except LiteralError:
            return None

    def closing(self) -> str:
        whole = self._whole
        if whole is None or not whole.startswith(self._written):
            found = self._distinct.unseen(self._readings, self._written, self._inside.seen)
            whole = self._written + closing(self._readings) if found is None else found
        return whole[len(self._written) :] + (self._list(whole) or self._inside).closing()

    def identity(self) -> tuple[object, ...]:
        return _Item, self._inside, self._written

    def spans(self) -> list[Span]:
        inner = {span for reading in self._readings for span in reading.all_spans()}
        ascii_points = {point for first, stop in inner for point in range(first, min(stop, 128))}
        found = [span for span in inner if span[1] > 128 and self.read(chr(max(span[0], 128)))]
        behind = [ord(","), ord(self._inside.closer)]
        return [*spans_of(c for c in map(chr, {*ascii_points, *behind}) if self.read(c)), *found]
