"""Contradictions that a short look finds.

``oneOf`` excludes only what may overlap, and choices that contradict each other are not multiplied out.
"""

import itertools
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final

from lookup.schema.branches import numbers_of, texts_of
from lookup.schema.schema import EVERYTHING, NOTHING, Schema, said
from lookup.schema.words import INFINITE, KINDS, NUMBERS, Kind, identity

_MAX_DEPTH: Final = 4
_MAX_ALTERNATIVES: Final = 16
_MAX_STEPS: Final = 5_000


def contradict(plain: Sequence[Schema]) -> bool:
    """Whether schemas allow no type together, or only objects with a key that is not there or has no value."""
    kinds = _kinds(plain)
    if kinds != {"object"}:
        return not kinds
    required = dict.fromkeys(itertools.chain.from_iterable(said(plain, "required")))
    properties = said(plain, "properties") if required else []
    return any(_has_no_value([keys[name] for keys in properties if name in keys]) for name in required)


def _has_no_value(schemas: Sequence[Schema]) -> bool:
    """Whether nothing is allowed, or all listed values are refused."""
    listed = [schema.members for schema in schemas if "enum" in schema.words]
    if NOTHING in schemas or not listed:
        return NOTHING in schemas
    left = frozenset.intersection(*listed)
    return left.issubset(itertools.chain.from_iterable(map(_refused, schemas)))


def _refused(schema: Schema) -> Iterable[Any]:
    """The identities of the values that a schema refuses by name."""
    inner: Schema | None = schema.words.get("not")
    if inner is not None and "enum" in inner.words and inner.words.keys() <= {"enum", "type"}:
        return inner.members
    return map(identity, schema.words.get("refused", ()))


def _kinds(schemas: Iterable[Schema]) -> frozenset[Kind]:
    return reduce(frozenset.__and__, (schema.kinds for schema in schemas), KINDS)


class Comparison:
    """Compares schemas, in a bounded number of steps."""

    def __init__(self) -> None:
        self._left = _MAX_STEPS

    def apart(self, one: Schema, other: Schema, depth: int = 0) -> bool:
        """Whether no value obeys both; False where that is not clear."""
        if NOTHING in (one, other):
            return True
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return False
        first, second = _flat(one), _flat(other)
        both = first + second
        kinds = _kinds(both)
        sets = [schema.members for schema in both if "enum" in schema.words]
        if not kinds or (len(sets) > 1 and not frozenset.intersection(*sets)):
            return True
        if kinds == {"string"} and texts_of(both).size >= INFINITE:
            return True
        if kinds <= NUMBERS and numbers_of(both, integer=kinds == {"integer"}).size >= INFINITE:
            return True
        if kinds == {"object"}:  # a required key may be impossible in both together
            for name in dict.fromkeys(itertools.chain.from_iterable(said(both, "required"))):
                pairs = itertools.product(_of_key(first, name), _of_key(second, name))
                if any(self.apart(*pair, depth + 1) for pair in pairs if pair[0] is not pair[1]):
                    return True
        unions = ((members, to) for flat, to in ((first, other), (second, one)) for members in _unions(flat))
        return any(all(self.apart(member, to, depth + 1) for member in members) for members, to in unions)


def _unions(flat: Sequence[Schema]) -> list[tuple[Schema, ...]]:
    members = (*said(flat, "anyOf"), *said(flat, "oneOf"))
    return [alternatives for alternatives in members if len(alternatives) <= _MAX_ALTERNATIVES]


def _flat(schema: Schema) -> list[Schema]:
    """A schema and all that hold with it."""
    found = [schema]
    for here in found:  # it grows
        found += [inner for inner in here.words.get("allOf", ()) if inner not in found]
    return found


def _of_key(schemas: Sequence[Schema], name: str) -> list[Schema]:
    """What schemas clearly say of a key, and that it may be anything."""
    found = [EVERYTHING]
    for schema in schemas:
        if name in schema.words.get("properties", ()):
            found.append(schema.words["properties"][name])
        elif "patternProperties" not in schema.words and schema.words.get("additionalProperties") is NOTHING:
            found.append(NOTHING)
    return found
