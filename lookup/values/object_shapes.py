"""Shapes of objects (``lookup.values.shapes``): unique keys, all required keys, and only documented ones if any."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from lookup.values.bracket_shapes import Bracket, Gap, Place
from lookup.values.literal_reader import parse_literal
from lookup.values.marked_shapes import BareKey
from lookup.values.notations import SPACED, Spacing
from lookup.values.plain_shapes import Text
from lookup.values.shapes import Ended, Frame, Reading, Shape, byte_length
from lookup.values.sorted_texts import SortedTexts, Span

_TO_TELL_APART: Final = 6
"""The most digits that are appended to make a key unique."""


class Key(NamedTuple):
    """A documented key.

    Attributes
    ----------
    texts : tuple of str
        The alternatives for writing it, the usual one first.
    shape : Shape
        The shape of its value.
    required : bool
    spacing : Spacing
        What stands behind it; a bare key ends with its colon itself.
    """

    texts: tuple[str, ...]
    shape: Shape
    required: bool

    spacing: Spacing = SPACED

    @property
    def size(self) -> int:
        """Bytes of the key with its shortest value."""
        return byte_length(self.texts[0]) + len(self.spacing.colon) + self.shape.size

    def shortest(self) -> str:
        """The key with its shortest value."""
        return self.texts[0] + self.spacing.colon + self.shape.shortest()


def behind_key(spacing: Spacing) -> Place:
    """The gap behind a key: a bare key has its colon already."""
    return "colon" if spacing.colon else "value"


class Record(Shape):
    """Objects with documented keys."""

    bracket = "{"

    def __init__(self, keys: Sequence[Key]) -> None:
        self.keys = tuple(keys)
        self.spacing = keys[0].spacing
        self.texts = SortedTexts(text for key in keys for text in key.texts)
        places = {text: place for place, text in enumerate(self.texts.texts)}
        # A set of keys is an integer with a bit for each text of a key, at the position of that text.
        self.bits = [sum(1 << places[text] for text in key.texts) for key in keys]
        self.key_at: Mapping[int, int] = {places[text]: n for n, key in enumerate(keys) for text in key.texts}
        self.all_bits = (1 << len(self.texts.texts)) - 1
        self.required_bits = sum(bits for bits, key in zip(self.bits, keys, strict=True) if key.required)

    @cached_property
    def width(self) -> int:
        return max(key.shape.width for key in self.keys)

    @cached_property
    def size(self) -> int:
        pairs = [key.size for key in self.keys if key.required]
        return len("{}") + sum(pairs) + len(self.spacing.comma) * max(0, len(pairs) - 1)

    @cached_property
    def longest_closing(self) -> int:
        # All required keys are missing, and the current key has the longest completion.
        under_way = max(_longest(key) - key.required * (key.size + len(", ")) for key in self.keys)
        return under_way + sum(key.size + len(", ") for key in self.keys if key.required) + len(" }")

    def missing(self, used: int) -> Iterator[Key]:
        """The unused required keys, in documentation order."""
        if self.required_bits & ~used:
            yield from (k for k, bits in zip(self.keys, self.bits, strict=True) if k.required and not bits & used)

    def shortest(self) -> str:
        return f"{{{self.spacing.comma.join(key.shortest() for key in self.missing(0))}}}"

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [Gap(_OpenRecord(self, frame, 0), "opened")] if character == "{" else []


def _longest(key: Key) -> int:
    """The most bytes that complete a key and its value once the key has begun."""
    written = max(map(byte_length, key.texts)) + len(": ") + key.shape.size
    return max(written, key.shape.longest_closing)


class _OpenRecord(Bracket):
    """An open object with documented keys: the used keys, and the last one."""

    closer = "}"

    def __init__(self, shape: Record, parent: Frame | None, used: int, last: int = 0) -> None:
        self.parent = parent
        self.spacing = shape.spacing
        self.shape = shape
        self.used = used
        self._last = shape.keys[last]

    def with_key(self, number: int) -> "_OpenRecord":
        """The object behind one more key."""
        return _OpenRecord(self.shape, self.parent, self.used | self.shape.bits[number], number)

    def member(self, character: str) -> Iterable[Reading]:
        return _KeyReading(self, self.shape.texts.whole).read(character)

    def value(self, character: str) -> Iterable[Reading]:
        return self._last.shape.begin(character, self)

    def may_close(self, place: Place) -> bool:
        return place == "opened" and self._may_end

    @property
    def _may_end(self) -> bool:
        return not self.shape.required_bits & ~self.used

    def completed(self, place: Place) -> str:
        if place in ("colon", "value"):
            colon = self.spacing.colon if place == "colon" else ""
            return colon + self._last.shape.shortest() + self.closing()
        missing = [key.shortest() for key in self.shape.missing(self.used)]
        if not missing and place != "opened":
            missing = [self.shape.keys[self.next_key(self.shape.texts.whole)].shortest()]
        return self.spacing.comma.join(missing) + self.closer

    def next_key(self, span: Span) -> int:
        """The unused key in a span of texts that completes the object best: required keys first, then short ones."""
        unused = {self.shape.key_at[n] for n in range(span.start, span.end) if not self.used >> n & 1}
        keys = self.shape.keys
        return min(unused, key=lambda number: (not keys[number].required, keys[number].size, number))

    def leaves(self, span: Span) -> bool:
        """Whether a key of a span is unused."""
        return bool((self.shape.all_bits & ~self.used) >> span.start & ((1 << span.end - span.start) - 1))

    def behind(self, character: str) -> Iterable[Reading]:
        if character == ",":
            return [Gap(self, "comma")] if self.used != self.shape.all_bits else []
        return [Ended(self.parent)] if character == self.closer and self._may_end else []

    def closing(self) -> str:
        return "".join(self.spacing.comma + key.shortest() for key in self.shape.missing(self.used)) + self.closer

    def letters(self, place: Place) -> Iterable[str]:
        return self._last.shape.letters if place == "value" else ()


class _KeyReading(Reading):
    """Inside a documented key."""

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


class Dictionary(Shape):
    """Objects with arbitrary keys."""

    bracket = "{"
    size = 2

    def __init__(self, texts: Sequence[Text] | BareKey, value: Shape, spacing: Spacing = SPACED) -> None:
        self.texts = (texts,) if isinstance(texts, BareKey) else tuple(texts)
        self.shape = value
        self.spacing = spacing

    @cached_property
    def width(self) -> int:
        return self.shape.width

    @cached_property
    def longest_closing(self) -> int:
        key = max(text.longest_closing for text in self.texts) + _TO_TELL_APART + len(" : ") + self.shape.size
        return max(key, self.shape.longest_closing) + len("}")

    def shortest(self) -> str:
        return "{}"

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [Gap(_OpenDictionary(self, frame, frozenset()), "opened")] if character == "{" else []


class _OpenDictionary(Bracket):
    """An open object with arbitrary keys, and its keys so far."""

    closer = "}"

    def __init__(self, shape: Dictionary, parent: Frame | None, used: frozenset[str]) -> None:
        self.parent = parent
        self.spacing = shape.spacing
        self.shape = shape
        self.used = used

    def member(self, character: str) -> Iterable[Reading]:
        return [r for text in self.shape.texts for r in text.begin(character, _OpenKey(self))]

    def value(self, character: str) -> Iterable[Reading]:
        return self.shape.shape.begin(character, self)

    def may_close(self, place: Place) -> bool:
        return place == "opened"

    def completed(self, place: Place) -> str:
        if place == "opened":
            return self.closer
        value = self.shape.shape.shortest() + self.closing()
        if place == "value":
            return value
        key = "" if place == "colon" else self.shape.texts[0].shortest_of(_OpenKey(self))
        return key + self.spacing.colon + value

    def behind(self, character: str) -> Iterable[Reading]:
        if character == ",":
            return [Gap(self, "comma")]
        return [Ended(self.parent)] if character == self.closer else []

    def closing(self) -> str:
        return self.closer

    def letters(self, place: Place) -> Iterable[str]:
        return self.shape.shape.letters if place == "value" else ()


class _OpenKey(Frame):
    """The frame of an arbitrary key."""

    def __init__(self, inside: _OpenDictionary) -> None:
        self.parent = inside.parent
        self._inside = inside

    def _key(self, written: str) -> str:
        return str(written if behind_key(self._inside.spacing) == "value" else parse_literal(written))

    def admits(self, written: str) -> bool:
        return self._key(written) not in self._inside.used

    def ended(self, written: str) -> list[Reading]:
        if not self.admits(written):
            return []
        used = self._inside.used | {self._key(written)}
        behind = behind_key(self._inside.spacing)
        return [Gap(_OpenDictionary(self._inside.shape, self.parent, used), behind)]

    def behind(self, character: str) -> Iterable[Reading]:
        return ()

    def closing(self) -> str:
        return self._inside.completed("colon")
