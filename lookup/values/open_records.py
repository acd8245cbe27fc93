"""Objects while they are read: which keys may follow, and what is missing (``lookup.values.object_shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from lookup.literals.literal_reader import parse_key
from lookup.values.bracket_shapes import Bracket, Gap, Place
from lookup.values.notations import Spacing
from lookup.values.shapes import Ended, Frame, Reading, Shape, byte_length, is_letter
from lookup.values.sorted_texts import Span

if TYPE_CHECKING:
    from lookup.values.object_shapes import Record


def behind_key(spacing: Spacing) -> Place:
    """The gap behind a key: a bare key has its colon already."""
    return "colon" if spacing.colon else "value"


class OpenRecord(Bracket):
    """An open object: the used keys, named ones as bits, and the shape of the last one's value."""

    closer = "}"

    def __init__(
        self,
        shape: "Record",
        parent: Frame | None,
        used: int,
        free: frozenset[str] = frozenset(),
        last: Shape | None = None,
        count: int = 0,
    ) -> None:
        self.parent = parent
        self.spacing = shape.spacing
        self.shape = shape
        self.used = used
        self.free = free
        self._last = last
        self._count = count

    def with_key(self, number: int) -> "OpenRecord":
        """The object behind one more named key."""
        shape = self.shape
        used = self.used | shape.bits[number]
        return OpenRecord(shape, self.parent, used, self.free, shape.keys[number].shape, self._count + 1)

    def free_value(self, name: str) -> Shape | None:
        """The shape of a free key's value; ``None`` if the object may not have this key."""
        free = self.shape.free
        if free is None or name in self.free or name in self.shape.names:
            return None
        return free.value(name)

    def with_free(self, name: str, value: Shape) -> "OpenRecord":
        """The object behind one more free key."""
        return OpenRecord(self.shape, self.parent, self.used, self.free | {name}, value, self._count + 1)

    def member(self, character: str) -> Iterable[Reading]:
        found = [*_KeyReading(self, self.shape.texts.whole).read(character)] if self.shape.keys else []
        if self._may_have_free:
            assert self.shape.free is not None
            found += [r for text in self.shape.free.texts for r in text.begin(character, _OpenKey(self))]
        return found

    def value(self, character: str) -> Iterable[Reading]:
        return () if self._last is None else self._last.begin(character, self)

    def value_shape(self) -> Shape | None:
        return self._last

    def joined(self, others: Sequence[Bracket]) -> Bracket:
        return _JoinedRecords([self, *others])

    def may_close(self, place: Place) -> bool:
        return place == "opened" and self._may_end

    @cached_property
    def _missing(self) -> int:
        """How many keys are missing."""
        return len(self.shape.missing(self.used))

    @property
    def _may_end(self) -> bool:
        return not self.shape.needed(self.used) & ~self.used and self._count >= self.shape.least

    @property
    def _may_have_free(self) -> bool:
        most = self.shape.most
        return self.shape.free is not None and (most is None or self._count + self._missing < most)

    def _may_have(self, number: int) -> bool:
        """Whether an unused named key may be the next one."""
        if self.used & self.shape.bits[number]:
            return False
        most = self.shape.most
        return most is None or self._count + 1 + self.with_key(number)._missing <= most

    @cached_property
    def _unused(self) -> int:
        """The named keys that may be the next one, as bits."""
        if self.shape.most is None:
            return self.shape.all_bits & ~self.used
        return sum(bits for number, bits in enumerate(self.shape.bits) if self._may_have(number))

    def completed(self, place: Place) -> str:
        if place in ("colon", "value"):
            assert self._last is not None
            colon = self.spacing.colon if place == "colon" else ""
            return colon + self._last.shortest() + self.closing()
        return self.spacing.comma.join(self._added(at_least_one=place != "opened")) + self.closer

    def _added(self, at_least_one: bool) -> list[str]:
        """The members that complete the object."""
        shape, here = self.shape, self
        members: list[str] = []
        while True:  # a further key may need others
            if missing := shape.missing(here.used):
                members += [key.shortest() for key in missing]
                used, count = here.used | shape.needed(here.used), here._count + len(missing)
                here = OpenRecord(shape, self.parent, used, here.free, None, count)
            if here._count >= shape.least and (members or not at_least_one):
                return members
            written, further = here._one_more()
            if further is None:
                return members
            members.append(written)
            here = further

    def _one_more(self) -> "tuple[str, OpenRecord | None]":
        """A short member with an unused key."""
        number = self.next_key(self.shape.texts.whole) if self._unused else None
        key, value = "", None
        if self.shape.free is not None:
            key = self.shape.free.texts[0].shortest_of(_OpenKey(self, alone=True))
            value = self.free_value(parse_key(key, self.shape.dialect))
        if number is not None and (value is None or self.shape.keys[number].rank <= byte_length(key) + value.rank):
            return self.shape.keys[number].shortest(), self.with_key(number)
        if value is None:
            return "", None
        return key + self.spacing.colon + value.shortest(), self.with_free(parse_key(key, self.shape.dialect), value)

    def next_key(self, span: Span) -> int:
        """The unused key in a span of texts that completes the object best: needed keys first, then short ones."""
        unused = {self.shape.key_at[n] for n in range(span.start, span.end) if self._unused >> n & 1}
        keys, needed = self.shape.keys, self.shape.needed(self.used)
        return min(unused, key=lambda number: (not self.shape.bits[number] & needed, keys[number].rank, number))

    def leaves(self, span: Span) -> bool:
        """Whether a key of a span may be the next one."""
        return bool(self._unused >> span.start & ((1 << span.end - span.start) - 1))

    def behind(self, character: str) -> Iterable[Reading]:
        if character == ",":
            return [Gap(self, "comma")] if self._unused or self._may_have_free else []
        return [Ended(self.parent)] if character == self.closer and self._may_end else []

    def closing(self) -> str:
        return "".join(self.spacing.comma + member for member in self._added(at_least_one=False)) + self.closer

    def letters(self, place: Place) -> Iterable[str]:
        if place == "value":
            return () if self._last is None else self._last.letters
        texts = self.shape.texts  # bare keys have no quotes
        return filter(is_letter, texts.characters(texts.whole)) if self.shape.keys else ()


class _JoinedRecords(Bracket):
    """Objects of several branches before a value of the same shape, which is read once for all of them."""

    closer = "}"

    def __init__(self, records: Sequence[Bracket]) -> None:
        self.parent = records[0].parent
        self.spacing = records[0].spacing
        self._records = records

    def member(self, character: str) -> Iterable[Reading]:
        return ()

    def value(self, character: str) -> Iterable[Reading]:
        shape = self.value_shape()
        return () if shape is None else shape.begin(character, self)

    def value_shape(self) -> Shape | None:
        return self._records[0].value_shape()

    def joined(self, others: Sequence[Bracket]) -> Bracket:
        return _JoinedRecords([*self._records, *others])

    def may_close(self, place: Place) -> bool:
        return False

    def completed(self, place: Place) -> str:
        return min((record.completed(place) for record in self._records), key=byte_length)

    def behind(self, character: str) -> Iterable[Reading]:
        return [reading for record in self._records for reading in record.behind(character)]

    def closing(self) -> str:
        return min((record.closing() for record in self._records), key=byte_length)

    def letters(self, place: Place) -> Iterable[str]:
        return self._records[0].letters(place)


class _KeyReading(Reading):
    """Inside a named key."""

    def __init__(self, inside: OpenRecord, span: Span) -> None:
        self.frame = inside.parent
        self._inside = inside
        self._span = span

    def read(self, character: str) -> Iterable[Reading]:
        texts = self._inside.shape.texts
        span = texts.narrow(self._span, character)
        if span is None or not self._inside.leaves(span):
            return []
        if texts.ends(span):  # no key is a prefix of another, because a quote or colon ends it
            return [self._behind(self._inside.shape.key_at[span.start])]
        return [_KeyReading(self._inside, span)]

    def skip(self, text: str, position: int) -> tuple[Reading, int]:
        start, end, length = self._span
        if end - start > 1:
            return self, position
        rest = self._inside.shape.texts.texts[start]
        last = min(len(rest) - 1, length + len(text) - position)  # the last character ends the key
        if last <= length or not text.startswith(rest[length:last], position):
            return self, position
        return _KeyReading(self._inside, Span(start, end, last)), position + last - length

    def _behind(self, number: int) -> Gap:
        return Gap(self._inside.with_key(number), behind_key(self._inside.spacing))

    def closing(self) -> str:
        start, _, length = self._span
        begun = self._inside.shape.texts.texts[start][:length]
        number = self._inside.next_key(self._span)
        text = next(text for text in self._inside.shape.keys[number].texts if text.startswith(begun))
        return text[length:] + self._behind(number).closing()

    def letters(self) -> Iterable[str]:
        characters = self._inside.shape.texts.characters(self._span)
        return (character for character in characters if not character.isascii())

    def identity(self) -> tuple[object, ...]:
        return _KeyReading, id(self._inside), self._span


class _OpenKey(Frame):
    """The frame of a free key.

    Parameters
    ----------
    inside : OpenRecord
    alone : bool
        Whether nothing is added behind a key that is completed.
    """

    def __init__(self, inside: OpenRecord, alone: bool = False) -> None:
        self.parent = inside.parent
        self._inside = inside
        self._alone = alone

    def admits(self, written: str) -> bool:
        return self._inside.free_value(parse_key(written, self._inside.shape.dialect)) is not None

    def ended(self, written: str) -> list[Reading]:
        inside = self._inside
        name = parse_key(written, inside.shape.dialect)
        value = inside.free_value(name)
        return [] if value is None else [Gap(inside.with_free(name, value), behind_key(inside.spacing))]

    def behind(self, character: str) -> Iterable[Reading]:
        return ()

    def closing(self) -> str:
        return ""  # it depends on the key

    def rest_behind(self, written: str) -> str:
        inside = self._inside
        name = parse_key(written, inside.shape.dialect)
        value = None if self._alone else inside.free_value(name)
        return "" if value is None else inside.with_free(name, value).completed(behind_key(inside.spacing))
