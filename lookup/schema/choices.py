"""Schemas with references, ``allOf`` and choices -> a union of plain branches.

References and ``allOf`` are followed, so that all words stand side by side. A choice (``anyOf``, ``oneOf``, ``if``,
``not``, ``dependentSchemas``) is multiplied out: each branch of the union has one alternative of each choice. The
alternatives of ``oneOf`` exclude each other. What would become too many branches is not enforced but noted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lookup.schema.branches import PlainBranches
from lookup.schema.contradictions import Comparison, Known
from lookup.schema.nodes import Branch, Node
from lookup.schema.schema import EVERYTHING, NOTHING, Made, MadeSchema, Schema, Words
from lookup.schema.words import KINDS, NUMBERS, Kind

MAX_BRANCHES: Final = 64
"""The most branches of one union."""

_MAX_STEPS: Final = 400
_ALL_STEPS: Final = 8_000
_FEW_STEPS: Final = 24
_MAX_ONE_OF: Final = 24
_CHOICES: Final = ("anyOf", "oneOf", "if", "not", "dependentSchemas")

Alternatives = list[tuple[Schema, ...]]
"""A value has one of them: schemas that hold together."""

_Negate = Callable[[Any], Alternatives | None]

_SIZES: Final[dict[str, Kind]] = {"Length": "string", "Items": "array", "Properties": "object"}

_Choice = tuple[str, Alternatives]


class _TooManyError(Exception):
    """More branches than ``MAX_BRANCHES``."""


@dataclass
class _Flat:
    """Schemas without references and ``allOf``, and the choices beside them."""

    plain: list[Schema] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Choices:
    """Multiplies out the choices of one document's schemas."""

    def __init__(self, branches: PlainBranches) -> None:
        self._branches = branches
        self._comparison = Comparison()
        self._left = _ALL_STEPS  # later schemas of a large document have few
        self._made: dict[tuple[str, Schema], Alternatives | None] = {}

    def node(self, schemas: Sequence[Schema]) -> Node:
        """The normal form of some schemas that hold together."""
        flat = self.flat(schemas)
        if flat is None:
            return Node(())
        choices = flat.choices
        if not choices:
            return self._node([flat.plain], flat.notes)
        dropped: list[str] = []
        while True:
            expansion = _Expansion(self, [*flat.notes, *dropped], self._left)
            try:
                expansion.expand(flat.plain, flat.plain, choices, frozenset(flat.plain), Known())
            except _TooManyError:
                choices, words = _fewer(choices)
                dropped += words
                continue
            finally:
                self._left = max(_FEW_STEPS, self._left - expansion.steps)
            return self._node(expansion.found, expansion.notes)

    def _node(self, found: list[list[Schema]], notes: list[str]) -> Node:
        branches: list[Branch] = []
        for plain in found:
            more = self._branches.build(plain, notes)
            if more is None:
                return Node((), tuple(dict.fromkeys(notes)), anything=True)
            branches += more
        return Node(tuple(branches), tuple(dict.fromkeys(notes)))

    def flat(self, schemas: Iterable[Schema], known: frozenset[Schema] = frozenset()) -> _Flat | None:
        """Follow references and ``allOf``, but not to ``known`` schemas; ``None`` if nothing is allowed."""
        flat, seen = _Flat(), {EVERYTHING, *known}
        waiting = list(schemas)
        for schema in waiting:  # it grows
            if schema is NOTHING:
                return None
            if schema in seen:
                continue
            seen.add(schema)
            words = schema.words
            flat.notes += words.get(Made.NOTES, ())
            waiting += [words["$ref"]] if "$ref" in words else []
            waiting += words.get("allOf", ())
            flat.plain.append(schema)
            for word in _CHOICES:
                if word in words and not self._add_choices(flat, waiting, word, schema):
                    flat.notes.append(word)
        return flat

    def _add_choices(self, flat: _Flat, waiting: list[Schema], word: str, schema: Schema) -> bool:
        """Add the choices of a word; False if it cannot be enforced."""
        names = [f"{word}/{key}" for key in schema.words[word]] if word == "dependentSchemas" else [word]
        for name in names:
            if (name, schema) not in self._made:
                self._made[name, schema] = self._alternatives(word, name.partition("/")[2], schema)
            alternatives = self._made[name, schema]
            if alternatives is None and word == "oneOf":  # at least one of them
                flat.notes.append(word)
                alternatives = [(inner,) for inner in schema.words[word]]
            if alternatives is None:
                return False
            if len(alternatives) == 1:
                waiting += alternatives[0]
            else:
                flat.choices.append((word, alternatives))
        return True

    def _alternatives(self, word: str, key: str, schema: Schema) -> Alternatives | None:
        words = schema.words
        match word:
            case "anyOf":
                return [(inner,) for inner in words[word]]
            case "oneOf":
                return self._one_of(words[word])
            case "if":
                condition = words["if"]
                then, other = (words.get(branch, EVERYTHING) for branch in ("then", "else"))
                return [(condition, then), (condition.negation, other)]
            case "not":
                return negated(words["not"])
        absent = MadeSchema({"properties": {key: NOTHING}})
        present = MadeSchema({"type": frozenset({"object"}), "required": (key,)})
        return [(absent,), (present, words[word][key])]

    def _one_of(self, members: Sequence[Schema]) -> Alternatives | None:
        """Each member, without what the others that overlap with it allow."""
        if len(members) > _MAX_ONE_OF:
            return None
        overlapping: list[list[Schema]] = [[] for _ in members]
        for place, one in enumerate(members):
            for further, other in enumerate(members[place + 1 :], place + 1):
                if not self._comparison.apart(one, other):
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
        if schema.words.keys() != {"$ref"}:
            return True
        schema = schema.words["$ref"]
    return False


def _fewer(choices: list[_Choice]) -> tuple[list[_Choice], list[str]]:
    """Choices that take less to multiply out, and the words that are then not enforced whole."""
    exclusive = [n for n, (word, ways) in enumerate(choices) if word == "oneOf" and any(len(way) > 1 for way in ways)]
    if exclusive:
        inclusive = [
            (word, [way[:1] for way in ways]) if n in exclusive else (word, ways)
            for n, (word, ways) in enumerate(choices)
        ]
        return inclusive, ["oneOf"]
    kept = len(choices) // 2
    return choices[:kept], [word for word, _ in choices[kept:]]


class _Expansion:
    """One multiplication of choices, in a number of steps.

    Attributes
    ----------
    found : list of list of Schema
        Plain schemas for each branch, or for several branches of different types.
    """

    def __init__(self, choices: Choices, notes: list[str], most: int) -> None:
        self._choices = choices
        self._most = min(most, _MAX_STEPS)
        self.notes = notes
        self.steps = 0
        self.found: list[list[Schema]] = []

    def expand(
        self,
        plain: list[Schema],
        new: Sequence[Schema],
        choices: list[_Choice],
        seen: frozenset[Schema],
        known: Known,
    ) -> None:
        """Add the plain schemas that hold together with one alternative of each choice; ``new`` are the last ones."""
        self.steps += 1
        after = known.after(new)
        if after is None:
            return
        if self.steps > self._most or len(self.found) > MAX_BRANCHES:
            raise _TooManyError
        if not choices:
            self.found.append(plain)
            return
        (_, alternatives), rest = choices[0], choices[1:]
        for alternative in alternatives:
            flat = self._choices.flat(alternative, seen)
            if flat is not None:
                self.notes += flat.notes
                self.expand(plain + flat.plain, flat.plain, rest + flat.choices, seen | set(flat.plain), after)


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


def _made(words: Words) -> Alternatives:
    return [(MadeSchema(words),)]


def _type(kinds: frozenset[Kind]) -> Alternatives | None:
    if "integer" in kinds and "number" not in kinds:
        return None  # fractions have no type of their own
    return _made({"type": KINDS - kinds}) if kinds != KINDS else []


def _values(values: tuple[Any, ...]) -> Alternatives | None:
    nested = any(isinstance(value, list | tuple | dict) for value in values)
    return None if nested else _made({Made.VALUES: values})


def _required(keys: tuple[str, ...]) -> Alternatives:
    return [(MadeSchema({"type": _OBJECT, "properties": {key: NOTHING}}),) for key in keys]


def _properties(properties: Mapping[str, Schema]) -> Alternatives:
    return [
        (MadeSchema({"type": _OBJECT, "required": (key,), "properties": {key: inner.negation}, Made.KEYS: True}),)
        for key, inner in properties.items()
    ]


def _limit(opposite: str) -> _Negate:
    return lambda value: _made({"type": NUMBERS, opposite: value})


def _size(kind: Kind, opposite: str, step: int) -> _Negate:
    return lambda value: _made({"type": frozenset({kind}), opposite: value + step}) if value + step >= 0 else []


def _worded(word: Made) -> _Negate:
    return lambda written: _made({"type": frozenset({"string"}), word: written})


_OBJECT: Final = frozenset[Kind]({"object"})
_NEGATED: Final[dict[Any, _Negate]] = {
    "type": _type,
    "enum": _values,
    "required": _required,
    "properties": _properties,
    "minimum": _limit("exclusiveMaximum"),
    "maximum": _limit("exclusiveMinimum"),
    "exclusiveMinimum": _limit("maximum"),
    "exclusiveMaximum": _limit("minimum"),
    **{f"min{what}": _size(kind, f"max{what}", -1) for what, kind in _SIZES.items()},
    **{f"max{what}": _size(kind, f"min{what}", 1) for what, kind in _SIZES.items()},
    "pattern": _worded(Made.PATTERN),
    "format": _worded(Made.FORMAT),
    "not": lambda inner: [(inner,)],
    "anyOf": lambda members: [tuple(inner.negation for inner in members)],
    "allOf": lambda members: [(inner.negation,) for inner in members],
    "$ref": lambda target: [(target.negation,)],
}
