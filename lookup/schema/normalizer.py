"""Schemas with ``allOf`` and choices -> a union of plain alternatives.

``allOf`` is followed, so that all keywords stand side by side. A choice (``anyOf``, ``oneOf``, ``if``, ``not``,
``dependentSchemas``) is multiplied out: each alternative of the union has one way of each choice. The
ways of ``oneOf`` exclude each other. What would become too many alternatives is not enforced but noted.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

from lookup.schema.alternatives import alternatives_of, contradict
from lookup.schema.json_types import JSON_TYPES, NUMBERS, JsonType
from lookup.schema.normal import Alternative, LazySchema, Node
from lookup.schema.schema import EVERYTHING, NOTHING, NormalizedSchema, Schema

MAX_ALTERNATIVES: Final = 64
"""The most alternatives of one union."""

_MAX_STEPS: Final = 400  # combinations of alternatives that are looked at for one schema
_ALL_STEPS: Final = 8_000  # those for all schemas of a document, so that its size bounds the time
_FEW_STEPS: Final = 24  # what each schema may take even then
_MAX_ONE_OF: Final = 24  # each member is compared with each other
_MAX_COMPARED: Final = 4_000  # schemas, also of two together, that are compared in one document

Disjunction = list[tuple[Schema, ...]]
"""A value has one of them: schemas that hold together."""

_Choice = tuple[str, Disjunction]


class _TooManyError(Exception):
    """More alternatives than ``MAX_ALTERNATIVES``."""


@dataclass
class _Flat:
    """Schemas without ``allOf``, and the choices beside them."""

    plain: list[Schema] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Normalizer:
    """Makes the normal forms of one document's schemas, each of them once.

    Parameters
    ----------
    closed : bool
        Whether they are those of documentation, see ``alternatives_of``.
    exclusive : bool
        Whether the alternatives of ``oneOf`` exclude each other; otherwise it is read as ``anyOf``.
    """

    def __init__(self, closed: bool, exclusive: bool = True) -> None:
        self._closed = closed
        self._exclusive = exclusive
        self._known: dict[frozenset[Schema], LazySchema] = {}
        self._sizes: dict[LazySchema, int] = {}
        self._left = _ALL_STEPS  # later schemas of a large document have few
        self._made: dict[Schema, list[tuple[str, Disjunction | None]]] = {}

    def lazy_schema(self, schemas: Iterable[Schema]) -> LazySchema:
        """The lazy schema of some schemas; the same object for the same schemas."""
        distinct = tuple(dict.fromkeys(schema for schema in schemas if schema is not EVERYTHING))
        key = frozenset(distinct)
        if key not in self._known:
            self._known[key] = LazySchema(distinct, self._node, self._sizes)
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
                choices, keywords = _fewer(choices)
                dropped += keywords
            else:
                return self._union(found, notes)

    def _union(self, found: list[list[Schema]], notes: list[str]) -> Node:
        alternatives: list[Alternative] = []
        for plain in found:
            more = alternatives_of(plain, self.lazy_schema, self._closed, notes)
            if more is None:
                return Node((), tuple(dict.fromkeys(notes)), anything=True)
            alternatives += more
        return Node(tuple(alternatives), tuple(dict.fromkeys(notes)))

    def _expanded(self, plain: list[Schema], choices: list[_Choice], notes: list[str]) -> list[list[Schema]]:
        """The plain schemas that hold together with one alternative of each choice.

        An integer with ``anyOf: [A, B]`` and ``anyOf: [C, {"type": "string"}]`` gives one with A and C, and one with B
        and C: beside the text, the types contradict each other.
        """
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
            if step > most or len(found) > MAX_ALTERNATIVES:
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
        waiting = deque(schemas)
        while waiting:
            schema = waiting.popleft()
            if schema is NOTHING:
                return None
            if schema in seen:
                continue
            seen.add(schema)
            flat.notes += schema.keywords.get("notes", ())
            waiting += schema.keywords.get("allOf", ())
            flat.plain.append(schema)
            if schema not in self._made:
                self._made[schema] = list(self._choices(schema.keywords))
            for keyword, alternatives in self._made[schema]:
                if alternatives is None:
                    flat.notes.append(keyword)
                elif len(alternatives) == 1:
                    waiting += alternatives[0]
                else:
                    flat.choices.append((keyword, alternatives))
        return flat

    def _choices(self, keywords: NormalizedSchema) -> Iterator[tuple[str, Disjunction | None]]:
        """The choices of a schema; without alternatives where they cannot be enforced whole."""
        if "anyOf" in keywords:
            yield "anyOf", [(inner,) for inner in keywords["anyOf"]]
        if "oneOf" in keywords:
            exclusive = self._one_of(keywords["oneOf"]) if self._exclusive else []
            if exclusive is None:
                yield "oneOf", None
            yield "oneOf", exclusive or [(inner,) for inner in keywords["oneOf"]]
        if "if" in keywords:
            then, other = keywords.get("then", EVERYTHING), keywords.get("else", EVERYTHING)
            yield "if", [(keywords["if"], then), (keywords["if"].negation, other)]
        if "not" in keywords:
            yield "not", negated(keywords["not"])
        for key, inner in keywords.get("dependentSchemas", {}).items():
            present = Schema({"type": _OBJECT, "required": (key,), "unnamed": True})
            yield "dependentSchemas", [(Schema({"properties": {key: NOTHING}}),), (present, inner)]

    @cached_property
    def _overlaps(self) -> "Normalizer":
        """Makes what several alternatives of ``oneOf`` allow together."""
        return Normalizer(closed=False, exclusive=False)

    def _are_apart(self, one: Schema, other: Schema) -> bool:
        """Whether no value obeys both; False where that takes too long to find."""
        return len(self._overlaps._known) < _MAX_COMPARED and self._overlaps.lazy_schema((one, other)).is_empty

    def _one_of(self, members: Sequence[Schema]) -> Disjunction | None:
        """Each member, without what the others that overlap with it allow.

        Numbers from 0 on, numbers up to 10, and texts: the first with ``not`` of the second, which leaves those beyond
        10; the second with ``not`` of the first; texts as they are, which overlap with nothing.
        """
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
        always = schema.keywords.get("allOf", ())
        if len(schema.keywords) != 1 or len(always) != 1:
            return True
        schema = always[0]
    return False


def _fewer(choices: list[_Choice]) -> tuple[list[_Choice], list[str]]:
    """Choices that take less to multiply out, and the keywords that are then not enforced whole."""
    exclusive = [keyword == "oneOf" and any(len(way) > 1 for way in ways) for keyword, ways in choices]
    if any(exclusive):
        pairs = zip(choices, exclusive, strict=True)
        return [(keyword, [way[:1] for way in ways] if less else ways) for (keyword, ways), less in pairs], ["oneOf"]
    kept = len(choices) // 2
    return choices[:kept], [keyword for keyword, _ in choices[kept:]]


def negated(schema: Schema) -> Disjunction | None:
    """What a schema refuses; ``None`` if that cannot be said in schemas.

    ``{"required": ["a"]}`` refuses ``{"type": "object", "properties": {"a": false}}``.
    """
    if schema is EVERYTHING:
        return []
    if schema is NOTHING:
        return [(EVERYTHING,)]
    found: Disjunction = []
    for keyword, value in schema.keywords.items():
        alternatives = _negated_keyword(keyword, value)
        if alternatives is None:
            return None
        found += alternatives
    return found


def _negated_keyword(keyword: str, value: Any) -> Disjunction | None:
    """What one keyword of a schema refuses."""
    match keyword:
        case "type" if "integer" in value and "number" not in value:
            return None  # fractions have no type of their own
        case "type":
            return [(Schema({"type": JSON_TYPES - value, "unnamed": True}),)] if value != JSON_TYPES else []
        case "whole":
            return []
        case "enum" if not any(isinstance(member, list | tuple | dict) for member in value):
            return [(Schema({"refused": value}),)]
        case "required":
            return [(Schema({"type": _OBJECT, "properties": {key: NOTHING}}),) for key in value]
        case "properties":
            return [
                (Schema({"type": _OBJECT, "required": (key,), "properties": {key: inner.negation}, "unnamed": True}),)
                for key, inner in value.items()
            ]
        case "texts":
            opposite = ((of, text, not wanted) for of, text, wanted in value)
            return [(Schema({"type": frozenset({"string"}), "texts": (limit,)}),) for limit in opposite]
        case "low" | "high":
            return [_limited(NUMBERS, "high" if keyword == "low" else "low", (value[0], not value[1]))]
        case "not":
            return [(value,)]
        case "anyOf":
            return [tuple(inner.negation for inner in value)]
        case "allOf":
            return [(inner.negation,) for inner in value]
    end, of = keyword[:3], keyword[3:]
    if of not in _SIZES:
        return None
    size = value - 1 if end == "min" else value + 1
    return [_limited(frozenset({_SIZES[of]}), f"{'max' if end == 'min' else 'min'}{of}", size)] if size >= 0 else []


def _limited(types: frozenset[JsonType], keyword: str, value: Any) -> tuple[Schema, ...]:
    return (Schema(cast(NormalizedSchema, {"type": types, keyword: value})),)


_OBJECT: Final = frozenset[JsonType]({"object"})
_SIZES: Final[dict[str, JsonType]] = {"Length": "string", "Items": "array", "Properties": "object"}
