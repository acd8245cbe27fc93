"""Schemas in one form, whose keywords are read when they are needed."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, TypedDict, TypeGuard

from lookup.schema.equality import identity
from lookup.schema.json_types import JSON_TYPES, JsonType, json_types_named

INFINITE: Final = 1 << 60
"""The size of the smallest value of what has none."""

_LISTING_MEMBERS: Final = ("enum", "values", "options", "choices", "symbols")


def is_schema(value: object) -> TypeGuard[Mapping[str, Any] | bool]:
    """Whether a value is a schema: an object or a boolean."""
    return isinstance(value, dict | bool)


def named_type(value: object) -> dict[str, Any] | None:
    """The schema of a text that is the name of a type, as in ``"items": "string"``; ``None`` for anything else."""
    return {"type": value} if isinstance(value, str) and json_types_named(value) != JSON_TYPES else None


def names(value: object) -> tuple[str, ...]:
    """The texts of a list, such as ``required``."""
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()


def with_enum(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """``{"type": "enum", "values": […]}``, as in older documentation, as ``{"enum": […]}``; all others unchanged."""
    if not is_typed_enum(written):
        return written
    lists = (word for word in _LISTING_MEMBERS if isinstance(written.get(word), list | tuple))
    keyword = next((word for word in lists if not any(isinstance(m, dict | list | tuple) for m in written[word])), None)
    others = {key: value for key, value in written.items() if key not in ("type", "param_type", keyword)}
    return written if keyword is None else {**others, "enum": written[keyword]}


def is_typed_enum(written: Mapping[str, Any]) -> bool:
    """Whether the type of a documented schema is ``enum``, whose members stand under another keyword."""
    named = written.get("type", written.get("param_type"))
    return isinstance(named, str) and named.strip().lower() == "enum"


_Bound = tuple[float, bool]
_Keyed = Mapping[str, "Schema"]
_Schemas = tuple["Schema", ...]
NormalizedSchema = TypedDict(
    "NormalizedSchema",
    {
        "type": frozenset[JsonType],
        "whole": bool,  # integers are named beside numbers
        "tuple": bool,  # arrays are written as tuples where a notation has them
        "enum": tuple[Any, ...],  # values of the type, also that of a constant
        "refused": tuple[Any, ...],  # values that are not allowed
        "texts": tuple[tuple[str, str, bool], ...],  # "pattern" or "format", its text, whether a text must have it
        "low": _Bound, "high": _Bound, "multipleOf": float,  # limit, whether it is excluded
        "minLength": int, "maxLength": int, "minItems": int, "maxItems": int, "minContains": int, "maxContains": int,
        "minProperties": int, "maxProperties": int, "uniqueItems": bool,
        "prefixItems": _Schemas, "items": "Schema", "contains": "Schema", "unevaluatedItems": "Schema",
        "properties": _Keyed, "patternProperties": _Keyed, "dependentSchemas": _Keyed,
        "additionalProperties": "Schema", "unevaluatedProperties": "Schema", "propertyNames": "Schema",
        "required": tuple[str, ...], "dependentRequired": Mapping[str, tuple[str, ...]],
        "unnamed": bool,  # type and properties are named by what refuses them, so they stay unevaluated
        "allOf": _Schemas,  # also what a reference names, and a union of one
        "anyOf": _Schemas, "oneOf": _Schemas, "not": "Schema", "if": "Schema", "then": "Schema", "else": "Schema",
        "notes": tuple[str, ...],  # what is not enforced
    },
    total=False,
)  # fmt: skip
"""One schema in one form: nothing is said in two ways, and no keyword has a value of the wrong type.

The schema ``{"type": "integer", "exclusiveMinimum": 1, "nullable": true, "const": 3}`` of documentation is
``{"type": frozenset({"integer", "null"}), "low": (1, True), "enum": (3,)}``.
"""

_MAX_WALKED: Final = 500  # schemas that hold together, as in ``Document.parts``


class Schema:
    """One schema, equal only to itself.

    ``source``: the keywords, or what reads them.
    """

    def __init__(self, source: NormalizedSchema | Callable[[], NormalizedSchema]) -> None:
        self._source = source

    @cached_property
    def keywords(self) -> NormalizedSchema:
        """See ``NormalizedSchema``."""
        return self._source() if callable(self._source) else self._source

    def __reduce__(self) -> str | tuple[Any, ...]:
        names = {EVERYTHING: "EVERYTHING", NOTHING: "NOTHING"}  # each of them is one object
        return names.get(self) or (Schema, (self._source,))

    @property
    def types(self) -> frozenset[JsonType]:
        """The types that the keyword ``type`` allows."""
        return self.keywords.get("type", JSON_TYPES)

    @cached_property
    def members(self) -> Mapping[Any, Any]:
        """The identities of the members of ``enum``, and the members."""
        return {identity(member): member for member in self.keywords["enum"]}

    @cached_property
    def negation(self) -> "Schema":
        """The schema that refuses this one."""
        return Schema({"not": self})


EVERYTHING: Final = Schema({})
"""The schema of all values."""

NOTHING: Final = Schema({"enum": ()})
"""The schema of no value."""


def values_of(schemas: Iterable[Schema], keyword: str) -> list[Any]:
    """What some schemas say with a keyword."""
    each: list[Mapping[str, Any]] = [schema.keywords for schema in schemas]
    return [keywords[keyword] for keywords in each if keyword in keywords]


def with_all(schema: Schema) -> list[Schema]:
    """A schema and all that hold with it, a bounded number."""
    found = [schema]
    for here in found:  # it grows
        found += [inner for inner in here.keywords.get("allOf", ()) if inner not in found][: _MAX_WALKED - len(found)]
    return found
