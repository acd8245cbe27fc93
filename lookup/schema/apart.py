"""Whether two schemas share no value, as far as a short look tells. ``oneOf`` excludes only what may overlap."""

from collections.abc import Mapping
from typing import Any, Final

from lookup.schema.document import Document, Part, reference_in
from lookup.schema.nodes import Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.plain_words import given_values, numbers_of, texts_of
from lookup.schema.words import KINDS, identity, kinds_of, names, schema_list, schemas

_MAX_DEPTH: Final = 4
_MAX_ALTERNATIVES: Final = 16
_MAX_STEPS: Final = 5_000
_NUMBERS: Final = frozenset({"integer", "number"})

_Flat = list[tuple[Mapping[str, Any], Mapping[str, Any]]]


class Comparison:
    """Compares the schemas of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = _MAX_STEPS

    def apart(self, one: Part, other: Part, depth: int = 0) -> bool:
        """Whether no value obeys both; False where that is not clear."""
        if one.schema is False or other.schema is False:
            return True
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return False
        first, second = self._flat(one), self._flat(other)
        kinds = _kinds(first) & _kinds(second)
        if not kinds:
            return True
        values = [given_values(schema) for schema, _ in first + second]
        sets = [frozenset(map(identity, found)) for found in values if found is not None]
        if len(sets) > 1 and not frozenset.intersection(*sets):
            return True
        both = [(schema, resource) for schema, resource in first + second]
        if kinds == {"string"} and _no_text(texts_of(both)):
            return True
        if kinds <= _NUMBERS and NumberRange(numbers_of(both, integer=kinds == {"integer"})).is_empty:
            return True
        if kinds == {"object"} and (self._keys_apart(first, second, depth) or self._keys_apart(second, first, depth)):
            return True
        return self._all_apart(first, other, depth) or self._all_apart(second, one, depth)

    def _all_apart(self, flat: _Flat, other: Part, depth: int) -> bool:
        """Whether all alternatives of a union are apart from a schema."""
        for schema, resource in flat:
            for word in ("anyOf", "oneOf"):
                members = schema_list(schema, word)
                if 0 < len(members) <= _MAX_ALTERNATIVES and all(
                    self.apart(self._document.part(member, resource), other, depth + 1) for member in members
                ):
                    return True
        return False

    def _keys_apart(self, first: _Flat, second: _Flat, depth: int) -> bool:
        """Whether a key that the first schemas require is impossible in both together."""
        for name in dict.fromkeys(name for schema, _ in first for name in names(schema.get("required"))):
            for schema, resource in second:
                found = _schema_of_key(schema, name)
                if found is None:
                    continue
                here = self._document.part(found, resource)
                for own, place in first:
                    mine = _schema_of_key(own, name)
                    part = self._document.part(True if mine is None else mine, place)
                    if self.apart(part, here, depth + 1):
                        return True
        return False

    def _flat(self, part: Part) -> _Flat:
        """The schemas that a schema refers to or combines."""
        found: _Flat = []
        waiting = [part]
        seen: set[int] = set()
        for schema, resource in waiting:  # it grows
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if reference := reference_in(schema):
                target = self._document.target(reference[1], resource)
                waiting += [] if target is None else [target]
                if self._document.references_stand_alone:
                    continue
            waiting += [self._document.part(inner, resource) for inner in schema_list(schema, "allOf")]
            found.append((schema, resource))
        return found


def _kinds(flat: _Flat) -> frozenset[str]:
    kinds = frozenset[str](KINDS)
    for schema, _ in flat:
        kinds &= kinds_of(schema)
    return kinds


def _schema_of_key(schema: Mapping[str, Any], name: str) -> Any:
    """What a schema says of a key; ``None`` if it says nothing that is clear."""
    found = schemas(schema, "properties").get(name)
    if found is None and "patternProperties" not in schema and schema.get("additionalProperties") is False:
        return False
    return found


def _no_text(texts: Texts) -> bool:
    if texts.most is not None and texts.least > texts.most:
        return True
    return texts.language is not None and texts.language.is_empty
