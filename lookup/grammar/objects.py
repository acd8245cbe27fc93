"""Parsers of objects (``lookup.grammar.parsers``): unique keys, all required keys, named ones and free ones."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from lookup.grammar.keys import KeyRules
from lookup.grammar.notations import Spacing
from lookup.grammar.parsers import END, CharRange, ParserState, ValueParser, byte_length, char_ranges
from lookup.grammar.plain_parsers import Stretch
from lookup.grammar.states import BetweenMembers, Bracket, BracketParser, BracketPosition, Checked, completions
from lookup.literals.literal_reader import parse_key

_MAX_TRIED: Final = 2_000  # keys that are tried until an object may have one


def _behind_key(spacing: Spacing) -> BracketPosition:
    """The position behind a key: a bare key has its colon already."""
    return "colon" if spacing.colon else "value"


class Record(BracketParser):
    """Objects whose keys obey rules."""

    bracket = "{"

    def __init__(self, rules: KeyRules) -> None:
        self.rules = rules

    @property
    def inside(self) -> Sequence[ValueParser]:
        free = () if self.rules.free is None else self.rules.free.values
        return [*(key.parser for key in self.rules.keys), *free]

    def opened(self, continuation: ParserState) -> "OpenRecord":
        return OpenRecord(self.rules, continuation, 0)


class OpenRecord(Bracket):
    """An open object: the used keys, named ones as bits, and the parser of the last one's value."""

    closer = "}"

    def __init__(
        self,
        rules: KeyRules,
        continuation: ParserState,
        used: int,
        free: frozenset[str] = frozenset(),
        last: ValueParser | None = None,
        count: int = 0,
    ) -> None:
        self.continuation = continuation
        self.spacing = rules.spacing
        self.rules = rules
        self.used = used
        self.free = free
        self._last = last
        self._count = count

    def with_key(self, number: int) -> "OpenRecord":
        """The object behind one more named key."""
        rules = self.rules
        used = self.used | rules.bits[number]
        return OpenRecord(rules, self.continuation, used, self.free, rules.keys[number].parser, self._count + 1)

    def free_value(self, name: str) -> ValueParser | None:
        """The parser of a free key's value; ``None`` if the object may not have this key."""
        free = self.rules.free
        if free is None or name in self.free or name in self.rules.names:
            return None
        return free.value(name)

    def with_free(self, name: str, value: ValueParser) -> "OpenRecord":
        """The object behind one more free key."""
        return OpenRecord(self.rules, self.continuation, self.used, self.free | {name}, value, self._count + 1)

    def key_that_begins(self, written: str, state: ParserState) -> tuple[str, bool]:
        """A short free key that begins so, and whether the object may have it."""
        for rest in itertools.islice(completions(state), _MAX_TRIED):
            if self.free_value(parse_key(written + rest, self.rules.syntax)) is not None:
                return written + rest, True
        return written + rest, False

    def members(self) -> Iterable[ParserState]:
        found: list[ParserState] = [_NamedKey(self, self.rules.texts.whole)] if self._unused else []
        return found + self._free_keys

    def value_parser(self) -> ValueParser | None:
        return self._last

    def may_close(self, position: BracketPosition) -> bool:
        if position not in ("opened", "member", "line") or self.rules.needed(self.used) & ~self.used:
            return False
        # an object with too few keys is ended, and found to be wrong, where no further key is left
        return self._count >= self.rules.least or not (self._unused or self._free_keys)

    @cached_property
    def _missing(self) -> int:
        """How many keys are missing."""
        return len(self.rules.missing(self.used))

    @cached_property
    def _free_keys(self) -> "list[_FreeKey]":
        """The states before a free key, if one may be the next key."""
        most, free = self.rules.most, self.rules.free
        if free is None or (most is not None and self._count + self._missing >= most):
            return []
        keys = [_FreeKey(self, state) for text in free.texts for state in text.start(END)]
        return [key for key in keys if free.is_open or not key.is_stuck]

    def _may_have(self, number: int) -> bool:
        """Whether an unused named key may be the next one."""
        if self.used & self.rules.bits[number]:
            return False
        most = self.rules.most
        return most is None or self._count + 1 + self.with_key(number)._missing <= most

    @cached_property
    def _unused(self) -> int:
        """The named keys that may be the next one, as bits."""
        if self.rules.most is None:
            return self.rules.all_bits & ~self.used
        return sum(bits for number, bits in enumerate(self.rules.bits) if self._may_have(number))

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
        rules, here = self.rules, self
        members: list[str] = []
        while True:  # a further key may need others
            if missing := rules.missing(here.used):
                members += [key.shortest() for key in missing]
                used, count = here.used | rules.needed(here.used), here._count + len(missing)
                here = OpenRecord(rules, self.continuation, used, here.free, None, count)
            if here._count >= rules.least and (members or not at_least_one):
                return members
            written, further = here._one_more()
            if further is None:
                return members
            members.append(written)
            here = further

    def _one_more(self) -> "tuple[str, OpenRecord | None]":
        """A short member with an unused key."""
        number = self.next_key(self.rules.texts.whole) if self._unused else None
        key, value = "", None
        if self.rules.free is not None:
            key = self.key_that_begins("", next(iter(self.rules.free.texts[0].start(END))))[0]
            value = self.free_value(parse_key(key, self.rules.syntax))
        if number is not None and (value is None or self.rules.keys[number].rank <= byte_length(key) + value.rank):
            return self.rules.keys[number].shortest(), self.with_key(number)
        if value is None:
            return "", None
        return key + self.spacing.colon + value.shortest(), self.with_free(parse_key(key, self.rules.syntax), value)

    def next_key(self, stretch: Stretch) -> int:
        """The unused key in a stretch of texts that completes the object best: needed keys first, then short ones."""
        unused = {self.rules.key_at[n] for n in range(stretch.start, stretch.end) if self._unused >> n & 1}
        keys, needed = self.rules.keys, self.rules.needed(self.used)
        return min(unused, key=lambda number: (not self.rules.bits[number] & needed, keys[number].rank, number))

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
        texts = self._inside.rules.texts
        stretch = texts.narrow(self._stretch, character)
        if stretch is None or not self._inside.leaves(stretch):
            return []
        if texts.ends(stretch):  # no key is a prefix of another, because a quote or colon ends it
            return [self._behind(self._inside.rules.key_at[stretch.start])]
        return [_NamedKey(self._inside, stretch)]

    def advance_text(self, text: str, position: int) -> tuple[ParserState, int]:
        start, end, length = self._stretch
        if end - start > 1:
            return self, position
        rest = self._inside.rules.texts.texts[start]
        last = min(len(rest) - 1, length + len(text) - position)  # the last character ends the key
        if last <= length or not text.startswith(rest[length:last], position):
            return self, position
        return _NamedKey(self._inside, Stretch(start, end, last)), position + last - length

    def _behind(self, number: int) -> BetweenMembers:
        return BetweenMembers(self._inside.with_key(number), _behind_key(self._inside.spacing))

    def completion(self) -> str:
        start, _, length = self._stretch
        begun = self._inside.rules.texts.texts[start][:length]
        number = self._inside.next_key(self._stretch)
        text = next(text for text in self._inside.rules.keys[number].texts if text.startswith(begun))
        return text[length:] + self._behind(number).completion()

    def allowed_ranges(self) -> list[CharRange]:
        texts, inside = self._inside.rules.texts, self._inside
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
        self._is_open = inside.rules.free is not None and inside.rules.free.is_open

    def behind(self, written: str) -> Sequence[BetweenMembers]:
        inside = self._inside
        name = parse_key(written, inside.rules.syntax)
        value = inside.free_value(name)
        return [] if value is None else [BetweenMembers(inside.with_free(name, value), _behind_key(inside.spacing))]

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
