"""Shapes of objects (``lookup.values.shapes``): unique keys, all required keys, named ones and free ones."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from lookup.literals.literal_reader import parse_literal
from lookup.values.bracket_shapes import Bracket, Gap, Place
from lookup.values.language_shapes import LimitedText
from lookup.values.marked_shapes import BareKey
from lookup.values.notations import SPACED, Spacing
from lookup.values.plain_shapes import Text
from lookup.values.shapes import Ended, Frame, Reading, Shape, byte_length, is_letter
from lookup.values.sorted_texts import SortedTexts, Span

_TO_TELL_APART: Final = 6
"""The most digits that are appended to make a key unique."""


class Key(NamedTuple):
    """A named key.

    Attributes
    ----------
    texts : tuple of str
        The alternatives for writing it, the usual one first.
    shape : Shape
        The shape of its value.
    required : bool
    spacing : Spacing
        What stands behind it; a bare key ends with its colon itself.
    needs : tuple of int
        The numbers of the keys that must stand in the object if this one does.
    """

    texts: tuple[str, ...]
    shape: Shape
    required: bool

    spacing: Spacing = SPACED
    needs: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the key with its shortest value."""
        return byte_length(self.texts[0]) + len(self.spacing.colon) + self.shape.size

    def shortest(self) -> str:
        """The key with its shortest value."""
        return self.texts[0] + self.spacing.colon + self.shape.shortest()


class FreeKeys(NamedTuple):
    """Keys that are not named.

    Attributes
    ----------
    texts : tuple of Shape
        The alternatives for writing one.
    value : callable
        Key -> the shape of its value; ``None`` if the object may not have this key.
    shortest : Shape
        A shape of values for bounds; every free key's value closes within its bound.
    """

    texts: tuple[Text | LimitedText | BareKey, ...]
    value: Callable[[str], Shape | None]
    bound: Shape


def behind_key(spacing: Spacing) -> Place:
    """The gap behind a key: a bare key has its colon already."""
    return "colon" if spacing.colon else "value"


class Record(Shape):
    """Objects.

    Parameters
    ----------
    keys : sequence of Key
        The named keys.
    free : FreeKeys, optional
        Other keys; without them there are none.
    spacing : Spacing
    least, most : int
        The number of keys; ``most`` may be ``None``.
    """

    bracket = "{"

    def __init__(
        self,
        keys: Sequence[Key],
        free: FreeKeys | None = None,
        spacing: Spacing = SPACED,
        least: int = 0,
        most: int | None = None,
    ) -> None:
        self.keys = tuple(keys)
        self.free = free
        self.least = least
        self.most = most
        self.spacing = spacing
        self.texts = SortedTexts(text for key in keys for text in key.texts)
        places = {text: place for place, text in enumerate(self.texts.texts)}
        # A set of keys is an integer with a bit for each text of a key, at the position of that text.
        self.bits = [sum(1 << places[text] for text in key.texts) for key in keys]
        self.key_at: Mapping[int, int] = {places[text]: n for n, key in enumerate(keys) for text in key.texts}
        self.all_bits = (1 << len(self.texts.texts)) - 1
        self.required_bits = sum(bits for bits, key in zip(self.bits, keys, strict=True) if key.required)
        self._has_needs = any(key.needs for key in keys)

    @cached_property
    def names(self) -> frozenset[str]:
        """The named keys as they are read."""
        return frozenset(read_key(text, self.spacing) for text in self.texts.texts)

    @cached_property
    def width(self) -> int:
        free = [] if self.free is None else [self.free.bound.width]
        return max((key.shape.width for key in self.keys), default=1) if self.keys else max(free, default=1)

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        # All required keys are missing, and the current key has the longest completion.
        under_way = [_longest(key) - key.required * (key.size + len(", ")) for key in self.keys]
        if self.free is not None:
            key = max(text.longest_closing for text in self.free.texts) + _TO_TELL_APART + len(" : ")
            under_way.append(max(key + self.free.bound.size, self.free.bound.longest_closing))
        needed = {number for key in self.keys for number in key.needs}
        required = sum(key.size + len(", ") for n, key in enumerate(self.keys) if key.required or n in needed)
        return max(under_way, default=0) + required + len(" }") + (self.size if self.least else 0)

    def needed(self, used: int) -> int:
        """The keys that must stand in an object with the keys ``used``, as bits."""
        needed = self.required_bits
        if self._has_needs:
            while True:
                more = needed
                for bits, key in zip(self.bits, self.keys, strict=True):
                    if bits & (used | needed):
                        more |= sum(self.bits[number] for number in key.needs)
                if more == needed:
                    break
                needed = more
        return needed

    def missing(self, used: int) -> list[Key]:
        """The unused keys that an object needs, in documentation order."""
        needed = self.needed(used) & ~used
        return [key for key, bits in zip(self.keys, self.bits, strict=True) if bits & needed] if needed else []

    def shortest(self) -> str:
        return "{" + _OpenRecord(self, None, 0).completed("opened")

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [Gap(_OpenRecord(self, frame, 0), "opened")] if character == "{" else []


def read_key(written: str, spacing: Spacing) -> str:
    """The key that a text stands for."""
    return str(written.removesuffix(":") if behind_key(spacing) == "value" else parse_literal(written))


def _longest(key: Key) -> int:
    """The most bytes that complete a key and its value once the key has begun."""
    written = max(map(byte_length, key.texts)) + len(": ") + key.shape.size
    return max(written, key.shape.longest_closing)


class _OpenRecord(Bracket):
    """An open object: the used keys, named ones as bits, and the shape of the last one's value."""

    closer = "}"

    def __init__(
        self,
        shape: Record,
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

    def with_key(self, number: int) -> "_OpenRecord":
        """The object behind one more named key."""
        shape = self.shape
        used = self.used | shape.bits[number]
        return _OpenRecord(shape, self.parent, used, self.free, shape.keys[number].shape, self._count + 1)

    def free_value(self, name: str) -> Shape | None:
        """The shape of a free key's value; ``None`` if the object may not have this key."""
        free = self.shape.free
        if free is None or name in self.free or name in self.shape.names:
            return None
        return free.value(name)

    def with_free(self, name: str, value: Shape) -> "_OpenRecord":
        """The object behind one more free key."""
        return _OpenRecord(self.shape, self.parent, self.used, self.free | {name}, value, self._count + 1)

    def member(self, character: str) -> Iterable[Reading]:
        found = [*_KeyReading(self, self.shape.texts.whole).read(character)] if self.shape.keys else []
        if self._may_have_free:
            assert self.shape.free is not None
            found += [r for text in self.shape.free.texts for r in text.begin(character, _OpenKey(self))]
        return found

    def value(self, character: str) -> Iterable[Reading]:
        return () if self._last is None else self._last.begin(character, self)

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
                here = _OpenRecord(shape, self.parent, used, here.free, None, count)
            if here._count >= shape.least and (members or not at_least_one):
                return members
            written, further = here._one_more()
            if further is None:
                return members
            members.append(written)
            here = further

    def _one_more(self) -> "tuple[str, _OpenRecord | None]":
        """A short member with an unused key."""
        if self._unused:
            number = self.next_key(self.shape.texts.whole)
            return self.shape.keys[number].shortest(), self.with_key(number)
        if self.shape.free is None:
            return "", None
        key = self.shape.free.texts[0].shortest_of(_OpenKey(self, alone=True))
        name = read_key(key, self.spacing)
        value = self.free_value(name)
        if value is None:
            return "", None
        return key + self.spacing.colon + value.shortest(), self.with_free(name, value)

    def next_key(self, span: Span) -> int:
        """The unused key in a span of texts that completes the object best: needed keys first, then short ones."""
        unused = {self.shape.key_at[n] for n in range(span.start, span.end) if self._unused >> n & 1}
        keys, needed = self.shape.keys, self.shape.needed(self.used)
        return min(unused, key=lambda number: (not self.shape.bits[number] & needed, keys[number].size, number))

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


class _KeyReading(Reading):
    """Inside a named key."""

    def __init__(self, inside: _OpenRecord, span: Span) -> None:
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
    inside : _OpenRecord
    alone : bool
        Whether nothing is added behind a key that is completed.
    """

    def __init__(self, inside: _OpenRecord, alone: bool = False) -> None:
        self.parent = inside.parent
        self._inside = inside
        self._alone = alone

    def admits(self, written: str) -> bool:
        return self._inside.free_value(read_key(written, self._inside.spacing)) is not None

    def ended(self, written: str) -> list[Reading]:
        inside = self._inside
        name = read_key(written, inside.spacing)
        value = inside.free_value(name)
        return [] if value is None else [Gap(inside.with_free(name, value), behind_key(inside.spacing))]

    def behind(self, character: str) -> Iterable[Reading]:
        return ()

    def closing(self) -> str:
        return ""  # it depends on the key

    def rest_behind(self, written: str) -> str:
        inside = self._inside
        name = read_key(written, inside.spacing)
        value = None if self._alone else inside.free_value(name)
        return "" if value is None else inside.with_free(name, value).completed(behind_key(inside.spacing))
