"""Schemas with ``allOf`` and choices -> a union of plain branches.

``allOf`` is followed, so that all words stand side by side. A choice (``anyOf``, ``oneOf``, ``if``, ``not``,
``dependentSchemas``) is multiplied out: each branch of the union has one alternative of each choice. The
alternatives of ``oneOf`` exclude each other. What would become too many branches is not enforced but noted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from lookup.schema.branches import branches_of, contradict
from lookup.schema.nodes import Branch, Conjunction, Node
from lookup.schema.schema import EVERYTHING, KINDS, NOTHING, NUMBERS, Kind, Schema, Words

MAX_BRANCHES: Final = 64
"""The most branches of one union."""

_MAX_STEPS: Final = 400
_ALL_STEPS: Final = 8_000
_FEW_STEPS: Final = 24
_MAX_ONE_OF: Final = 24
_MAX_COMPARED: Final = 4_000

Alternatives = list[tuple[Schema, ...]]
"""A value has one of them: schemas that hold together."""

_Choice = tuple[str, Alternatives]


class _TooManyError(Exception):
    """More branches than ``MAX_BRANCHES``."""


@dataclass
class _Flat:
    """Schemas without ``allOf``, and the choices beside them."""

    plain: list[Schema] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Choices:
    """Makes the normal forms of one document's schemas, each of them once.

    Parameters
    ----------
    closed : bool
        Whether they are those of documentation, see ``branches_of``.
    exclusive : bool
        Whether the alternatives of ``oneOf`` exclude each other; otherwise it is read as ``anyOf``.
    """

    def __init__(self, closed: bool, exclusive: bool = True) -> None:
        self._closed = closed
        self._exclusive = exclusive
        self._known: dict[frozenset[Schema], Conjunction] = {}
        self._sizes: dict[Conjunction, int] = {}
        self._left = _ALL_STEPS  # later schemas of a large document have few
        self._made: dict[Schema, list[tuple[str, Alternatives | None]]] = {}

    def conjunction(self, schemas: Iterable[Schema]) -> Conjunction:
        """The conjunction of some schemas; the same object for the same schemas."""
        distinct = tuple(dict.fromkeys(schema for schema in schemas if schema is not EVERYTHING))
        key = frozenset(distinct)
        if key not in self._known:
            self._known[key] = Conjunction(distinct, self._node, self._sizes)
        return self._known[key]

    def _node(self, schemas: Sequence[Schema]) -> Node:
        """The normal form of some schemas that hold together."""
        flat = self._flat(schemas)
        if flat is None:
            return Node(())
        choices, dropped = flat.choices, list[str]()
        while True:
            notes = [*flat.notes, *dropped]
            try:
                found = self._expanded(flat.plain, choices, notes) if choices else [flat.plain]
            except _TooManyError:
                choices, words = _fewer(choices)
                dropped += words
            else:
                return self._union(found, notes)

    def _union(self, found: list[list[Schema]], notes: list[str]) -> Node:
        branches: list[Branch] = []
        for plain in found:
            more = branches_of(plain, self.conjunction, self._closed, notes)
            if more is None:
                return Node((), tuple(dict.fromkeys(notes)), anything=True)
            branches += more
        return Node(tuple(branches), tuple(dict.fromkeys(notes)))

    def _expanded(self, plain: list[Schema], choices: list[_Choice], notes: list[str]) -> list[list[Schema]]:
        """The plain schemas that hold together with one alternative of each choice."""
        most = min(self._left, _MAX_STEPS)
        if len(choices) > most:  # one step each is the least
            raise _TooManyError
        found: list[list[Schema]] = []
        waiting = [_Flat(plain, choices)]
        for step in range(1, most + 2):
            if not waiting:
                break
            self._left = max(_FEW_STEPS, self._left - 1)
            here = waiting.pop()
            notes += here.notes
            if step > most or len(found) > MAX_BRANCHES:
                raise _TooManyError
            if contradict(here.plain):
                continue
            if not here.choices:
                found.append(here.plain)
                continue
            (_, alternatives), *rest = here.choices
            for alternative in reversed(alternatives):
                flat = self._flat(alternative, here.plain)
                if flat is not None:
                    waiting.append(_Flat(here.plain + flat.plain, rest + flat.choices, flat.notes))
        return found

    def _flat(self, schemas: Iterable[Schema], known: Iterable[Schema] = ()) -> _Flat | None:
        """Follow ``allOf``, but not to ``known`` schemas; ``None`` if nothing is allowed."""
        flat, seen = _Flat(), {EVERYTHING, *known}
        waiting = list(schemas)
        for schema in waiting:  # it grows
            if schema is NOTHING:
                return None
            if schema in seen:
                continue
            seen.add(schema)
            flat.notes += schema.words.get("notes", ())
            waiting += schema.words.get("allOf", ())
            flat.plain.append(schema)
            if schema not in self._made:
                self._made[schema] = list(self._choices(schema.words))
            for word, alternatives in self._made[schema]:
                if alternatives is None:
                    flat.notes.append(word)
                elif len(alternatives) == 1:
                    waiting += alternatives[0]
                else:
                    flat.choices.append((word, alternatives))
        return flat

    def _choices(self, words: Words) -> Iterator[tuple[str, Alternatives | None]]:
        """The choices of a schema; without alternatives where they cannot be enforced whole."""
        if "anyOf" in words:
            yield "anyOf", [(inner,) for inner in words["anyOf"]]
        if "oneOf" in words:
            exclusive = self._one_of(words["oneOf"]) if self._exclusive else []
            if exclusive is None:
                yield "oneOf", None
            yield "oneOf", exclusive or [(inner,) for inner in words["oneOf"]]
        if "if" in words:
            then, other = (words.get(branch, EVERYTHING) for branch in ("then", "else"))
            yield "if", [(words["if"], then), (words["if"].negation, other)]
        if "not" in words:
            yield "not", negated(words["not"])
        for key, inner in words.get("dependentSchemas", {}).items():
            present = Schema({"type": _OBJECT, "required": (key,), "unnamed": True})
            yield "dependentSchemas", [(Schema({"properties": {key: NOTHING}}),), (present, inner)]

    @cached_property
    def _overlaps(self) -> "Choices":
        """Makes what several alternatives of ``oneOf`` allow together."""
        return Choices(closed=False, exclusive=False)

    def _are_apart(self, one: Schema, other: Schema) -> bool:
        """Whether no value obeys both; False where that takes too long to find."""
        return len(self._overlaps._known) < _MAX_COMPARED and self._overlaps.conjunction((one, other)).is_empty

    def _one_of(self, members: Sequence[Schema]) -> Alternatives | None:
        """Each member, without what the others that overlap with it allow."""
        if len(members) > _MAX_ONE_OF:
            return None
        overlapping: list[list[Schema]] = [[] for _ in members]
        for place, one in enumerate(members):
            for further, other in enumerate(members[place + 1 :], place + 1):
                if not self._are_apart(one, other):
                    overlapping[place].append(other)
                    overlapping[further].append(one)
        if any(not _can_be_refused(other) for others in overlapping for other in others):
            return None
        return [
            (member, *(other.negation for other in others)) for member, others in zip(members, overlapping, strict=True)
        ]


def _can_be_refused(schema: Schema) -> bool:
    """Whether what a schema refuses can be said in schemas; a reference is followed."""
    for _ in range(9):
        if negated(schema) is None:
            return False
        always = schema.words.get("allOf", ())
        if len(schema.words) != 1 or len(always) != 1:
            return True
        schema = always[0]
    return False


def _fewer(choices: list[_Choice]) -> tuple[list[_Choice], list[str]]:
    """Choices that take less to multiply out, and the words that are then not enforced whole."""
    exclusive = [word == "oneOf" and any(len(way) > 1 for way in ways) for word, ways in choices]
    if any(exclusive):
        pairs = zip(choices, exclusive, strict=True)
        return [(word, [way[:1] for way in ways] if less else ways) for (word, ways), less in pairs], ["oneOf"]
    kept = len(choices) // 2
    return choices[:kept], [word for word, _ in choices[kept:]]


def negated(schema: Schema) -> Alternatives | None:
    """What a schema refuses; ``None`` if that cannot be said in schemas.

    ``{"required": ["a"]}`` refuses ``{"type": "object", "properties": {"a": false}}``.
    """
    if schema is EVERYTHING:
        return []
    if schema is NOTHING:
        return [(EVERYTHING,)]
    found: Alternatives = []
    for word, value in schema.words.items():
        negate = _NEGATED.get(word)
        alternatives = None if negate is None else negate(value)
        if alternatives is None:
            return None
        found += alternatives
    return found


def _type(kinds: frozenset[Kind]) -> Alternatives | None:
    if "integer" in kinds and "number" not in kinds:
        return None  # fractions have no type of their own
    return [(Schema({"type": KINDS - kinds, "unnamed": True}),)] if kinds != KINDS else []


def _values(values: tuple[Any, ...]) -> Alternatives | None:
    nested = any(isinstance(value, list | tuple | dict) for value in values)
    return None if nested else [(Schema({"refused": values}),)]


def _required(keys: tuple[str, ...]) -> Alternatives:
    return [(Schema({"type": _OBJECT, "properties": {key: NOTHING}}),) for key in keys]


def _properties(properties: Mapping[str, Schema]) -> Alternatives:
    return [
        (Schema({"type": _OBJECT, "required": (key,), "properties": {key: inner.negation}, "unnamed": True}),)
        for key, inner in properties.items()
    ]


def _texts(limits: tuple[tuple[str, str, bool], ...]) -> Alternatives:
    opposite = ((word, text, not wanted) for word, text, wanted in limits)
    return [(Schema({"type": frozenset({"string"}), "texts": (limit,)}),) for limit in opposite]


def _limit(opposite: str) -> Callable[[tuple[float, bool]], Alternatives]:
    return lambda limit: [(Schema({"type": NUMBERS, opposite: (limit[0], not limit[1])}),)]


def _size(kind: Kind, opposite: str, step: int) -> Callable[[int], Alternatives]:
    return lambda size: [(Schema({"type": frozenset({kind}), opposite: size + step}),)] if size + step >= 0 else []


_OBJECT: Final = frozenset[Kind]({"object"})
_SIZES: Final[dict[str, Kind]] = {"Length": "string", "Items": "array", "Properties": "object"}
_NEGATED: Final[dict[str, Callable[[Any], Alternatives | None]]] = {
    "type": _type,
    "whole": lambda _: [],
    "enum": _values,
    "required": _required,
    "properties": _properties,
    "texts": _texts,
    "low": _limit("high"),
    "high": _limit("low"),
    **{f"min{what}": _size(kind, f"max{what}", -1) for what, kind in _SIZES.items()},
    **{f"max{what}": _size(kind, f"min{what}", 1) for what, kind in _SIZES.items()},
    "not": lambda inner: [(inner,)],
    "anyOf": lambda members: [tuple(inner.negation for inner in members)],
    "allOf": lambda members: [(inner.negation,) for inner in members],
}
