"""Schemas with references, ``allOf`` and choices -> a union of plain branches.

References and ``allOf`` are followed, so that all words stand side by side. A choice (``anyOf``, ``oneOf``, ``if``,
``not``, ``dependentSchemas``) is multiplied out: each branch of the union has one alternative of each choice. The
alternatives of ``oneOf`` exclude each other. What would become too many branches is not enforced but noted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lookup.schema.apart import Comparison
from lookup.schema.document import Document, Part, Schema, reference_in
from lookup.schema.known_keys import Known
from lookup.schema.negation import negated
from lookup.schema.nodes import Branch, Node
from lookup.schema.plain_branches import PlainBranches
from lookup.schema.words import is_schema, schema_list, schemas

MAX_BRANCHES: Final = 64
"""The most branches of one union."""

_MAX_STEPS: Final = 400
_ALL_STEPS: Final = 8_000
_FEW_STEPS: Final = 24
_MAX_ONE_OF: Final = 24
_CHOICES: Final = ("anyOf", "oneOf", "if", "not", "dependentSchemas", "dependencies")

Alternative = tuple[Part, ...]
_Choice = tuple[str, list[Alternative]]


class _TooManyError(Exception):
    """More branches than ``MAX_BRANCHES``."""


@dataclass
class _Flat:
    """Schemas without references and ``allOf``, and the choices beside them."""

    plain: list[Part] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Choices:
    """Multiplies out the choices of one document's schemas."""

    def __init__(self, document: Document, branches: PlainBranches) -> None:
        self._document = document
        self._branches = branches
        self._comparison = Comparison(document)
        self._left = _ALL_STEPS  # later schemas of a large document have few
        self._made: dict[tuple[str, int, int], tuple[Any, list[Alternative] | None]] = {}

    def node(self, parts: Sequence[Part]) -> Node:
        """The normal form of some schemas that hold together."""
        flat = self.flat(parts)
        if flat is None:
            return Node(())
        choices = flat.choices
        dropped: list[str] = []
        while True:
            expansion = _Expansion(self, [*flat.notes, *dropped], self._left)
            try:
                expansion.expand(flat.plain, flat.plain, choices, _seen(flat.plain), Known())
            except _TooManyError:
                choices, words = _fewer(choices)
                dropped += words
                continue
            finally:
                self._left = max(_FEW_STEPS, self._left - expansion.steps)
            return self._node(expansion.found, expansion.notes)

    def _node(self, found: list[list[Part]], notes: list[str]) -> Node:
        branches: list[Branch] = []
        for plain in found:
            more = self._branches.build(plain, notes)
            if more is None:
                return Node((), tuple(dict.fromkeys(notes)), anything=True)
            branches += more
        return Node(tuple(branches), tuple(dict.fromkeys(notes)))

    def flat(self, parts: Iterable[Part], known: frozenset[tuple[int, int]] = frozenset()) -> _Flat | None:
        """Follow references and ``allOf``, but not to ``known`` schemas; ``None`` if nothing is allowed."""
        flat, seen = _Flat(), set(known)
        waiting = list(parts)
        for part in waiting:  # it grows
            schema, resource = part
            if schema is False:
                return None
            key = id(schema), id(resource)
            if isinstance(schema, bool) or key in seen:
                continue
            seen.add(key)
            if reference := reference_in(schema):
                word, name = reference
                target = self._document.target(name, resource)
                if target is None:
                    flat.notes.append(f"the reference {name!r}, which leads nowhere")
                else:
                    waiting.append(target)
                if word != "$ref":
                    flat.notes.append(word)
                if self._document.references_stand_alone:
                    continue
            waiting += [self._document.part(inner, resource) for inner in schema_list(schema, "allOf")]
            flat.plain.append(part)
            for word in _CHOICES:
                if word in schema and not self._add_choices(flat, waiting, word, part):
                    flat.notes.append(word)
        return flat

    def _add_choices(self, flat: _Flat, waiting: list[Part], word: str, part: Part) -> bool:
        """Add the choices of a word; False if it cannot be enforced."""
        for name in self._choices_of(word, part):
            key = name, id(part.schema), id(part.resource)
            if key not in self._made:
                self._made[key] = part.schema, self._alternatives(word, name, part)
            alternatives = self._made[key][1]
            if alternatives is None and word == "oneOf":  # at least one of them
                flat.notes.append(word)
                members = schema_list(part.schema, word)  # type: ignore[arg-type]
                alternatives = [(self._document.part(inner, part.resource),) for inner in members]
            if alternatives is None:
                return False
            if len(alternatives) == 1:
                waiting += alternatives[0]
            else:
                flat.choices.append((word, alternatives))
        return True

    def _choices_of(self, word: str, part: Part) -> list[str]:
        """The choices of a word: one of each key of ``dependentSchemas``."""
        assert not isinstance(part.schema, bool)
        if word in ("dependentSchemas", "dependencies"):
            return [f"{word}/{key}" for key in schemas(part.schema, word)]
        if word in ("anyOf", "oneOf"):
            return [word] if schema_list(part.schema, word) else []
        return [word] if is_schema(part.schema[word]) else []

    def _alternatives(self, word: str, name: str, part: Part) -> list[Alternative] | None:
        schema, resource = part
        assert not isinstance(schema, bool)

        def inside(*found: Schema) -> Alternative:
            return tuple(self._document.part(inner, resource) for inner in found)

        if word == "anyOf":
            return [inside(inner) for inner in schema_list(schema, word)]
        if word == "oneOf":
            return self._one_of([self._document.part(inner, resource) for inner in schema_list(schema, word)])
        if word == "if":
            condition = schema["if"]
            then, other = (schema.get(w) if is_schema(schema.get(w)) else True for w in ("then", "else"))
            return [inside(condition, then), inside({"not": condition}, other)]  # type: ignore[arg-type]
        if word == "not":
            return self._refused(self._document.part(schema["not"], resource))
        key = name.partition("/")[2]
        absent = {"properties": {key: False}}
        present = {"type": "object", "required": [key]}
        return [inside(absent), inside(present, schemas(schema, word)[key])]

    def _refused(self, part: Part, depth: int = 0) -> list[Alternative] | None:
        """The alternatives of what a schema refuses."""
        schema, resource = part
        if isinstance(schema, dict) and (reference := reference_in(schema)):
            target = self._document.target(reference[1], resource)
            if target is None or depth > 8 or (len(schema) > 1 and not self._document.references_stand_alone):
                return None
            return self._refused(target, depth + 1)
        found = negated(schema)
        if found is None:
            return None
        return [tuple(self._document.part(inner, resource) for inner in alternative) for alternative in found]

    def _one_of(self, members: list[Part]) -> list[Alternative] | None:
        """Each member, without what the others that overlap with it allow."""
        if len(members) > _MAX_ONE_OF:
            return None
        overlapping: list[list[Part]] = [[] for _ in members]
        for place, one in enumerate(members):
            for further, other in enumerate(members[place + 1 :], place + 1):
                if not self._comparison.apart(one, other):
                    overlapping[place].append(other)
                    overlapping[further].append(one)
        if any(self._refused(other) is None for others in overlapping for other in others):
            return None
        return [
            (member, *(Part({"not": other.schema}, other.resource) for other in others))
            for member, others in zip(members, overlapping, strict=True)
        ]


def _seen(parts: Iterable[Part]) -> frozenset[tuple[int, int]]:
    return frozenset((id(part.schema), id(part.resource)) for part in parts)


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
    found : list of list of Part
        Plain schemas for each branch, or for several branches of different types.
    """

    def __init__(self, choices: Choices, notes: list[str], most: int) -> None:
        self._choices = choices
        self._most = min(most, _MAX_STEPS)
        self.notes = notes
        self.steps = 0
        self.found: list[list[Part]] = []

    def expand(
        self,
        plain: list[Part],
        new: Sequence[Part],
        choices: list[_Choice],
        seen: frozenset[tuple[int, int]],
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
                self.expand(plain + flat.plain, flat.plain, rest + flat.choices, seen | _seen(flat.plain), after)
