"""Contradictions that a short look finds: two schemas without a common value, and keys that nothing can have.

``oneOf`` excludes only what may overlap, and choices that contradict each other are not multiplied out.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from lookup.schema.branches import numbers_of, texts_of
from lookup.schema.nodes import Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.schema import EVERYTHING, NOTHING, Made, Schema, said
from lookup.schema.words import KINDS, NUMBERS, Kind, identity

_MAX_DEPTH: Final = 4
_MAX_ALTERNATIVES: Final = 16
_MAX_STEPS: Final = 5_000


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
        kinds = reduce(frozenset.__and__, (schema.kinds for schema in both), KINDS)
        if not kinds:
            return True
        sets = [schema.members for schema in both if "enum" in schema.words]
        if len(sets) > 1 and not frozenset.intersection(*sets):
            return True
        if kinds == {"string"} and _no_text(texts_of(both)):
            return True
        if kinds <= NUMBERS and NumberRange(numbers_of(both, integer=kinds == {"integer"})).is_empty:
            return True
        if kinds == {"object"} and (self._keys_apart(first, second, depth) or self._keys_apart(second, first, depth)):
            return True
        return self._all_apart(first, other, depth) or self._all_apart(second, one, depth)

    def _all_apart(self, flat: Sequence[Schema], other: Schema, depth: int) -> bool:
        """Whether all alternatives of a union are apart from a schema."""
        return any(
            len(members) <= _MAX_ALTERNATIVES and all(self.apart(member, other, depth + 1) for member in members)
            for word in ("anyOf", "oneOf")
            for members in said(flat, word)
        )

    def _keys_apart(self, first: Sequence[Schema], second: Sequence[Schema], depth: int) -> bool:
        """Whether a key that the first schemas require is impossible in both together."""
        for name in dict.fromkeys(name for listed in said(first, "required") for name in listed):
            own = [_of_key(schema, name) or EVERYTHING for schema in first]
            others = [found for schema in second if (found := _of_key(schema, name)) is not None]
            if any(self.apart(mine, other, depth + 1) for other in others for mine in own):
                return True
        return False


def _flat(schema: Schema) -> list[Schema]:
    """The schemas that a schema refers to or combines."""
    waiting = {schema: None}
    found = []
    while waiting:
        here, _ = waiting.popitem()
        found.append(here)
        inner = [*said([here], "$ref"), *here.words.get("allOf", ())]
        waiting |= dict.fromkeys(one for one in inner if one not in found)
    return found


def _of_key(schema: Schema, name: str) -> Schema | None:
    """What a schema says of a key; ``None`` if it says nothing that is clear."""
    found: Schema | None = schema.words.get("properties", {}).get(name)
    if found is None and "patternProperties" not in schema.words:
        return NOTHING if schema.words.get("additionalProperties") is NOTHING else None
    return found


def _no_text(texts: Texts) -> bool:
    if texts.most is not None and texts.least > texts.most:
        return True
    return texts.language is not None and texts.language.is_empty


class Known(NamedTuple):
    """What is known of a value.

    Attributes
    ----------
    kinds : frozenset of str
        The types that it may have.
    allowed, refused : mapping of str to frozenset
        Key -> the identities of the values that it may have, or may not have.
    required : frozenset of str
    absent : frozenset of str
        The keys that may not be there.
    """

    kinds: frozenset[Kind] = KINDS
    allowed: Mapping[str, frozenset[Any]] = {}
    refused: Mapping[str, frozenset[Any]] = {}
    required: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()

    def after(self, schemas: Iterable[Schema]) -> "Known | None":
        """What is known with more schemas; ``None`` if they contradict each other."""
        kinds, required, absent = self.kinds, set(self.required), set(self.absent)
        allowed, refused = dict(self.allowed), dict(self.refused)
        for schema in schemas:
            kinds = kinds & schema.kinds
            required.update(schema.words.get("required", ()))
            for key, inner in schema.words.get("properties", {}).items():
                if inner is NOTHING:
                    absent.add(key)
                    continue
                if "enum" in inner.words:
                    allowed[key] = allowed[key] & inner.members if key in allowed else inner.members
                refused[key] = refused.get(key, frozenset()) | _refused(inner)
        if not kinds:
            return None
        impossible = {key for key, values in allowed.items() if not values - refused.get(key, frozenset())}
        if kinds == {"object"} and required & (absent | impossible):
            return None
        return Known(kinds, allowed, refused, frozenset(required), frozenset(absent))


def _refused(schema: Schema) -> frozenset[Any]:
    """The identities of the values that a schema refuses by name."""
    found = frozenset(map(identity, schema.words.get(Made.VALUES, ())))
    inner = schema.words.get("not")
    if inner is not None and "enum" in inner.words and inner.words.keys() <= {"enum", "type"}:
        found |= inner.members
    return found
