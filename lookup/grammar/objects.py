"""Parsers of objects (``lookup.grammar.parsers``): unique keys, all required keys, named ones and free ones."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

from lookup.errors import LiteralError
from lookup.grammar.keys import FreeKeys, Key
from lookup.grammar.notations import Inside
from lookup.grammar.parsers import END, CharRange, ParserState, ValueParser, byte_length, char_ranges
from lookup.grammar.plain_parsers import SortedTexts, Stretch
from lookup.grammar.states import BetweenMembers, Bracket, BracketParser, BracketPosition, Checked, completions
from lookup.literals.literal_reader import parse_key

_MAX_TRIED: Final = 2_000  # keys that are tried until an object may have one


class Record(BracketParser):
    """Objects whose keys obey rules.

    Parameters
    ----------
    keys : sequence of Key
        The named keys.
    free : FreeKeys, optional
        Other keys; without them there are none.
    around : Inside
        How the notation writes them.
    least, most : int
        The number of keys; ``most`` may be ``None``.
    """

    bracket = "{"

    def __init__(
        self, keys: Sequence[Key], free: FreeKeys | None, around: Inside, least: int = 0, most: int | None = None
    ) -> None:
        self.syntax = around.syntax
        self.keys = tuple(keys)
        self.free = free
        self.least = least
        self.most = most
        self.spacing = around.spacing
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
        """The named keys as they are read, but for those with escapes in escapes, which no free key has."""
        found = set[str]()
        for text in self.texts.texts:
            with suppress(LiteralError):
                found.add(parse_key(text, self.syntax))
        return frozenset(found)

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

    def missing(self, used: int) -> list[int]:
        """The numbers of the unused keys that an object needs, in documentation order."""
        needed = self.needed(used) & ~used
        return [number for number, bits in enumerate(self.bits) if bits & needed] if needed else []

    def shortest_member(self, number: int) -> str:
        """A named key with its shortest value."""
        key = self.keys[number]
        return key.texts[0] + self.spacing.colon + key.parser.shortest()

    @property
    def inside(self) -> Sequence[ValueParser]:
        return [*(key.parser for key in self.keys), *(() if self.free is None else self.free.values)]

    def opened(self, continuation: ParserState) -> "OpenRecord":
        return OpenRecord(self, continuation, 0)


class OpenRecord(Bracket):
    """An open object: the used keys, named ones as bits, and the parser of the last one's value."""

    closer = "}"

    def __init__(
        self,
        parser: Record,
        continuation: ParserState,
        used: int,
        free: frozenset[str] = frozenset(),
        last: ValueParser | None = None,
        count: int = 0,
    ) -> None:
        self.continuation = continuation
        self.spacing = parser.spacing
        self.parser = parser
        self.used = used
        self.free = free
        self._last = last
        self._count = count

    def with_key(self, number: int) -> "OpenRecord":
        """The object behind one more named key."""
        parser = self.parser
        used = self.used | parser.bits[number]
        return OpenRecord(parser, self.continuation, used, self.free, parser.keys[number].parser, self._count + 1)

    def behind_key(self) -> BetweenMembers:
        """The state behind the last key; a bare key has its colon already."""
        return BetweenMembers(self, "colon" if self.spacing.colon else "value")

    def free_value(self, name: str) -> ValueParser | None:
        """The parser of a free key's value; ``None`` if the object may not have this key."""
        free = self.parser.free
        if free is None or name in self.free or name in self.parser.names:
            return None
        return free.value(name)

    def with_free(self, name: str, value: ValueParser) -> "OpenRecord":
        """The object behind one more free key."""
        return OpenRecord(self.parser, self.continuation, self.used, self.free | {name}, value, self._count + 1)

    def key_that_begins(self, written: str, state: ParserState) -> tuple[str, bool]:
        """A short free key that begins so, and whether the object may have it."""
        for rest in itertools.islice(completions(state), _MAX_TRIED):
            if self.free_value(parse_key(written + rest, self.parser.syntax)) is not None:
                return written + rest, True
        return written + rest, False

    def members(self) -> Iterable[ParserState]:
        found: list[ParserState] = [_NamedKey(self, self.parser.texts.whole)] if self._unused else []
        return found + self._free_keys

    def value_parser(self) -> ValueParser | None:
        return self._last

    def may_close(self, position: BracketPosition) -> bool:
        if position not in ("opened", "member", "line") or self.parser.needed(self.used) & ~self.used:
            return False
        # an object with too few keys is ended, and found to be wrong, where no further key is left
        return self._count >= self.parser.least or not (self._unused or self._free_keys)

    @cached_property
    def _missing(self) -> int:
        """How many keys are missing."""
        return len(self.parser.missing(self.used))

    @cached_property
    def _free_keys(self) -> "list[_FreeKey]":
        """The states before a free key, if one may be the next key."""
        most, free = self.parser.most, self.parser.free
        if free is None or (most is not None and self._count + self._missing >= most):
            return []
        keys = [_FreeKey(self, state) for text in free.texts for state in text.start(END)]
        return [key for key in keys if free.is_open or not key.is_stuck]

    def _may_have(self, number: int) -> bool:
        """Whether an unused named key may be the next one."""
        if self.used & self.parser.bits[number]:
            return False
        most = self.parser.most
        return most is None or self._count + 1 + self.with_key(number)._missing <= most

    @cached_property
    def _unused(self) -> int:
        """The named keys that may be the next one, as bits."""
        if self.parser.most is None:
            return self.parser.all_bits & ~self.used
        return sum(bits for number, bits in enumerate(self.parser.bits) if self._may_have(number))

    def completed(self, position: BracketPosition) -> str:
        if position in ("colon", "value"):
            assert self._last is not None
            colon = self.spacing.colon if position == "colon" else ""
            return colon + self._last.shortest() + self.completion()
        return self.spacing.comma.join(self._added(at_least_one=position in ("comma", "space"))) + self.closer

    def _added(self, at_least_one: bool) -> list[str]:
        """The members that complete the object.

        Where ``a`` is required, ``a`` needs ``b``, and three keys must be there: ``"a": 0``, ``"b": true``, and the
        shortest of the others, ``"c": 0``, or a free key, ``"": 0``.
        """
        parser, here = self.parser, self
        members: list[str] = []
        while True:  # a further key may need others
            if missing := parser.missing(here.used):
                members += [parser.shortest_member(number) for number in missing]
                used, count = here.used | parser.needed(here.used), here._count + len(missing)
                here = OpenRecord(parser, self.continuation, used, here.free, None, count)
            if here._count >= parser.least and (members or not at_least_one):
                return members
            written, further = here._one_more()
            if further is None:
                return members
            members.append(written)
            here = further

    def _one_more(self) -> "tuple[str, OpenRecord | None]":
        """A short member with an unused key."""
        number = self.next_key(self.parser.texts.whole) if self._unused else None
        key, value = "", None
        if self.parser.free is not None:
            key = self.key_that_begins("", next(iter(self.parser.free.texts[0].start(END))))[0]
            value = self.free_value(parse_key(key, self.parser.syntax))
        if number is not None and (value is None or self.parser.keys[number].rank <= byte_length(key) + value.rank):
            return self.parser.shortest_member(number), self.with_key(number)
        if value is None:
            return "", None
        return key + self.spacing.colon + value.shortest(), self.with_free(parse_key(key, self.parser.syntax), value)

    def next_key(self, stretch: Stretch) -> int:
        """The unused key in a stretch of texts that completes the object best: needed keys first, then short ones."""
        unused = {self.parser.key_at[n] for n in range(stretch.start, stretch.end) if self._unused >> n & 1}
        keys, needed = self.parser.keys, self.parser.needed(self.used)
        return min(unused, key=lambda number: (not self.parser.bits[number] & needed, keys[number].rank, number))

    def leaves(self, stretch: Stretch) -> bool:
        """Whether a key of a stretch may be the next one."""
        return bool(self._unused >> stretch.start & ((1 << stretch.end - stretch.start) - 1))

    def behind_comma(self) -> "OpenRecord | None":
        return self if self._unused or self._free_keys else None

    def completion(self) -> str:
        return "".join(self.spacing.comma + member for member in self._added(at_least_one=False)) + self.closer


class _NamedKey(ParserState):
    """Inside a named key."""

    def __init__(self, inside: OpenRecord, stretch: Stretch) -> None:
        self.continuation = inside.continuation
        self._inside = inside
        self._stretch = stretch

    def advance(self, character: str) -> Iterable[ParserState]:
        texts = self._inside.parser.texts
        stretch = texts.narrow(self._stretch, character)
        if stretch is None or not self._inside.leaves(stretch):
            return []
        if texts.ends(stretch):  # no key is a prefix of another, because a quote or colon ends it
            return [self._inside.with_key(self._inside.parser.key_at[stretch.start]).behind_key()]
        return [_NamedKey(self._inside, stretch)]

    def advance_text(self, text: str, position: int) -> tuple[ParserState, int]:
        start, end, length = self._stretch
        if end - start > 1:
            return self, position
        rest = self._inside.parser.texts.texts[start]
        last = min(len(rest) - 1, length + len(text) - position)  # the last character ends the key
        if last <= length or not text.startswith(rest[length:last], position):
            return self, position
        return _NamedKey(self._inside, Stretch(start, end, last)), position + last - length

    def completion(self) -> str:
        start, _, length = self._stretch
        begun = self._inside.parser.texts.texts[start][:length]
        number = self._inside.next_key(self._stretch)
        text = next(text for text in self._inside.parser.keys[number].texts if text.startswith(begun))
        return text[length:] + self._inside.with_key(number).behind_key().completion()

    def allowed_ranges(self) -> list[CharRange]:
        texts, inside = self._inside.parser.texts, self._inside
        return char_ranges(c for c, stretch in texts.stretches(self._stretch) if inside.leaves(stretch))

    def identity(self) -> tuple[object, ...]:
        return _NamedKey, self._inside, self._stretch


class _FreeKey(Checked):
    """Inside a free key."""

    def __init__(self, inside: OpenRecord, inner: ParserState, written: str = "") -> None:
        self.continuation = inside.continuation
        self._inside = inside
        self._inner = [inner]
        self._written = written
        self._is_open = inside.parser.free is not None and inside.parser.free.is_open

    def behind(self, written: str) -> Sequence[BetweenMembers]:
        inside = self._inside
        name = parse_key(written, inside.parser.syntax)
        value = inside.free_value(name)
        return [] if value is None else [inside.with_free(name, value).behind_key()]

    def going_on(self, inner: Sequence[ParserState], written: str) -> Sequence[ParserState]:
        key = _FreeKey(self._inside, inner[0], written)
        return [key] if self._is_open or not key.is_stuck else []

    def advance_text(self, text: str, position: int) -> tuple[ParserState, int]:
        inner, end = self._inner[0].advance_text(text, position)
        key = _FreeKey(self._inside, inner, self._written + text[position:end])
        return (key, end) if end > position and (self._is_open or not key.is_stuck) else (self, position)

    @cached_property
    def _whole(self) -> tuple[str, bool]:
        return self._inside.key_that_begins(self._written, self._inner[0])

    @property
    def is_stuck(self) -> bool:  # type: ignore[override]
        return not self._whole[1]

    def completion(self) -> str:
        whole = self._whole[0]
        return whole[len(self._written) :] + "".join(between.completion() for between in self.behind(whole))

    def identity(self) -> tuple[object, ...]:
        return _FreeKey, self._inside, self._written

    def allowed_ranges(self) -> list[CharRange]:
        return self._inner[0].all_allowed_ranges()
