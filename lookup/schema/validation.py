"""Check a finished value against a schema: all words of JSON Schema that limit values, also those not enforced before.

Follows JSON Schema 2020-12 and the older words of drafts 4 to 2019-09. A number may be written ``1.0`` for an integer.
``unevaluatedProperties`` and ``unevaluatedItems`` count what the schema itself and the schemas applied beside it name.
Patterns are automata; a pattern or format that cannot be made into one is not checked.
"""

import reprlib
from collections.abc import Mapping
from typing import Any, Final

from lookup.schema.document import Document, Part, reference_in
from lookup.schema.plain_checks import (
    SchemaError,
    broken,
    check_count,
    check_keys,
    check_number,
    check_text,
    matches,
    pattern_schemas,
)
from lookup.schema.plain_words import given_values
from lookup.schema.words import (
    KINDS,
    Kind,
    count,
    identity,
    is_schema,
    kind_of,
    kinds_of,
    schema_list,
    schemas,
)

_MAX_STEPS: Final = 100_000
_MAX_DEPTH: Final = 200
_MAX_LISTED: Final = 20


class _UncheckedError(SchemaError):
    """A check that takes too long. It is neither a yes nor a no, also inside ``not``."""


class _Applied:
    """The keys, and the places of items, that some schemas name."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.items: set[int] = set()

    def add(self, other: "_Applied") -> None:
        """Also what another schema names."""
        self.keys |= other.keys
        self.items |= other.items


class Validator:
    """Checks values against the schemas of one document.

    Parameters
    ----------
    document : Document
    closed : bool
        Whether an enum or constant that its own type excludes wins over the type.
    """

    def __init__(self, document: Document, closed: bool = False) -> None:
        self.document = document
        self.closed = closed
        self._enums: dict[int, tuple[Any, frozenset[Any]]] = {}

    def enum(self, values: Any) -> frozenset[Any]:
        """The identities of an enum's members."""
        if id(values) not in self._enums:
            self._enums[id(values)] = values, frozenset(map(identity, values))
        return self._enums[id(values)][1]

    def allows(self, value: Any, part: Part) -> bool:
        """Whether a value obeys a schema."""
        try:
            self.demand(value, part)
        except SchemaError:
            return False
        return True

    def demand(self, value: Any, part: Part) -> None:
        """Raise SchemaError unless the value obeys the schema."""
        try:
            _Check(self).check(value, part, "the value", 0)
        except RecursionError:
            raise SchemaError("the value: the schema is nested too deep to be checked") from None


class _Check:
    """One check, of bounded length."""

    def __init__(self, validator: Validator) -> None:
        self._document = validator.document
        self._enum = validator.enum
        self._closed = validator.closed
        self._steps = 0
        self._known: dict[tuple[int, int, int, str], _Applied | SchemaError] = {}

    def check(self, value: Any, part: Part, where: str, depth: int) -> _Applied:
        """What a schema names of the value; SchemaError if the value breaks the schema."""
        schema, resource = part
        if schema is False:
            raise broken(where, "no value", value)
        if schema is True:
            return _Applied()
        key = id(schema), id(resource), id(value), where
        known = self._known.get(key)
        if known is None:  # each schema once, because references may lead to it in many ways
            self._known[key] = _Applied()  # inside itself a schema says nothing more
            try:
                known = self._checked(value, part, where, depth)
            except SchemaError as error:
                known = error
            self._known[key] = known
        if isinstance(known, SchemaError):
            raise known.with_traceback(None)
        return known

    def _checked(self, value: Any, part: Part, where: str, depth: int) -> _Applied:
        schema, resource = part
        assert not isinstance(schema, bool)
        applied = _Applied()
        self._steps += 1
        if self._steps > _MAX_STEPS or depth > _MAX_DEPTH:
            raise _UncheckedError(f"{where}: the schema cannot be checked within {_MAX_STEPS} steps")
        if reference := reference_in(schema):
            target = self._document.target(reference[1], resource)
            if target is not None:
                applied.add(self.check(value, target, where, depth + 1))
            if self._document.references_stand_alone:
                return applied
        self._kind(value, schema, where)
        self._combined(value, part, where, depth, applied)
        if isinstance(value, str):
            check_text(value, schema, where)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            check_number(value, schema, where)
        elif isinstance(value, dict):
            self._object(value, part, where, depth, applied)
        elif isinstance(value, list | tuple):
            self._list(value, part, where, depth, applied)
        return applied

    def _allowed(self, value: Any, schema: Any, part: Part, depth: int) -> _Applied | None:
        try:
            return self.check(value, self._document.part(schema, part.resource), "", depth + 1)
        except _UncheckedError:
            raise
        except SchemaError:
            return None

    def _kind(self, value: Any, schema: Mapping[str, Any], where: str) -> None:
        kinds = kinds_of(schema) if "type" in schema else KINDS
        if kind_of(value) not in kinds and not (self._closed and _lists_others(schema, kinds)):
            raise broken(where, f"a value of type {schema['type']!r}", value)
        if "const" in schema and identity(value) != identity(schema["const"]):
            raise broken(where, reprlib.repr(schema["const"]), value)
        values = schema.get("enum")
        if isinstance(values, list | tuple) and identity(value) not in self._enum(values):
            raise broken(where, f"one of {', '.join(map(reprlib.repr, values[:_MAX_LISTED]))}", value)

    def _combined(self, value: Any, part: Part, where: str, depth: int, applied: _Applied) -> None:
        schema = part.schema
        assert not isinstance(schema, bool)
        for inner in schema_list(schema, "allOf"):
            applied.add(self.check(value, self._document.part(inner, part.resource), where, depth + 1))
        for word in ("anyOf", "oneOf"):
            members = schema_list(schema, word)
            if not members:
                continue
            found = [a for inner in members if (a := self._allowed(value, inner, part, depth)) is not None]
            if not found or (word == "oneOf" and len(found) > 1):
                expected = "one of the alternatives" if not found else f"exactly one alternative, not {len(found)},"
                raise broken(where, f"{expected} of {word!r}", value)
            for one in found:
                applied.add(one)
        if is_schema(schema.get("not")) and self._allowed(value, schema["not"], part, depth) is not None:
            raise broken(where, "what 'not' does not refuse", value)
        if is_schema(schema.get("if")):
            condition = self._allowed(value, schema["if"], part, depth)
            applied.add(condition or _Applied())
            follows = schema.get("else" if condition is None else "then")
            if is_schema(follows):
                applied.add(self.check(value, self._document.part(follows, part.resource), where, depth + 1))
        if isinstance(value, dict):
            for word in ("dependentSchemas", "dependencies"):
                for key, inner in schemas(schema, word).items():
                    if key in value:
                        applied.add(self.check(value, self._document.part(inner, part.resource), where, depth + 1))

    def _object(self, value: Mapping[Any, Any], part: Part, where: str, depth: int, applied: _Applied) -> None:
        schema = part.schema
        assert not isinstance(schema, bool)
        check_keys(value, schema, where)
        named, patterns = schemas(schema, "properties"), pattern_schemas(schema)
        additional, unevaluated = schema.get("additionalProperties"), schema.get("unevaluatedProperties")
        for key, member in value.items():
            inner = f"{where}, key {key!r}"
            found = [named[key]] if key in named else []
            found += [s for language, s in patterns if matches(language, str(key))]
            if not found and is_schema(additional):
                found = [additional]
            for one in found:
                self.check(member, self._document.part(one, part.resource), inner, depth + 1)
            if not found and is_schema(unevaluated) and key not in applied.keys:
                found = [unevaluated]
                self.check(member, self._document.part(unevaluated, part.resource), inner, depth + 1)
            if found:
                applied.keys.add(key)
            if is_schema(schema.get("propertyNames")):
                self.check(str(key), self._document.part(schema["propertyNames"], part.resource), inner, depth + 1)

    def _list(self, value: Any, part: Part, where: str, depth: int, applied: _Applied) -> None:
        schema = part.schema
        assert not isinstance(schema, bool)
        check_count(len(value), schema, "Items", where)
        if schema.get("uniqueItems") is True and len(set(map(identity, value))) < len(value):
            raise broken(where, "no item twice", value)
        first = schema_list(schema, "prefixItems" if "prefixItems" in schema else "items")
        rest = schema.get("items")
        if isinstance(rest, list | tuple):
            rest = schema.get("additionalItems")
        for place, member in enumerate(value):
            inner = first[place] if place < len(first) else rest
            if is_schema(inner):
                self.check(member, self._document.part(inner, part.resource), f"{where}, item {place}", depth + 1)
        applied.items |= set(range(len(value) if is_schema(rest) else len(first)))
        if is_schema(schema.get("contains")):
            found = [n for n, m in enumerate(value) if self._allowed(m, schema["contains"], part, depth) is not None]
            least, most = count(schema, "minContains"), count(schema, "maxContains")
            if len(found) < (1 if least is None else least) or (most is not None and len(found) > most):
                raise broken(where, "another number of items that 'contains' allows", value)
            applied.items.update(found)
        unevaluated = schema.get("unevaluatedItems")
        if is_schema(unevaluated):
            for place in set(range(len(value))) - applied.items:
                inner = f"{where}, item {place}"
                self.check(value[place], self._document.part(unevaluated, part.resource), inner, depth + 1)
            applied.items = set(range(len(value)))


def _lists_others(schema: Mapping[str, Any], kinds: frozenset[Kind]) -> bool:
    """Whether a schema lists values, and none of them of its own types; not if it is about objects only."""
    values = given_values(schema)
    if values is None or kinds <= {"object", "null"}:
        return False
    return not any(kind_of(value) in kinds for value in values)
