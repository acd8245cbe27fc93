"""Schemas that surely allow some value, as a short look tells; for all others a smallest value must be found."""

from typing import Any, Final

from lookup.schema.document import Document, Part, reference_in
from lookup.schema.words import count, is_schema, kinds_of, names, schemas

_MAX_DEPTH: Final = 4
_MAX_LENGTH: Final = 1_000
_WORDS: Final = frozenset(
    {
        "type", "description", "title", "default", "examples", "example", "$comment", "deprecated", "nullable",
        "properties", "items", "additionalProperties", "required", "maxLength", "minLength", "format", "enum", "const",
        "maxItems", "uniqueItems", "$ref", "readOnly", "writeOnly",
    }
)  # fmt: skip


def surely_allows(part: Part, document: Document, depth: int = 0) -> bool:
    """Whether some value surely obeys a schema. False says nothing."""
    schema, resource = part
    if isinstance(schema, bool):
        return schema
    if depth > _MAX_DEPTH or not _WORDS.issuperset(schema):
        return False
    if reference := reference_in(schema):
        target = document.target(reference[1], resource)
        alone = len(schema) == 1 or document.references_stand_alone
        return alone and target is not None and surely_allows(target, document, depth + 1)
    if "enum" in schema or "const" in schema:
        return _WITH_VALUES.issuperset(schema) and bool(schema.get("enum", True))
    if (count(schema, "minLength") or 0) > _MAX_LENGTH:
        return False
    if "minLength" in schema and ("format" in schema or "maxLength" in schema):
        return False
    if "maxLength" in schema and ("format" in schema or count(schema, "maxLength") is None):
        return False
    kinds = kinds_of(schema)
    if kinds != {"object"}:
        return bool(kinds)
    named: dict[str, Any] = schemas(schema, "properties")
    additional = schema.get("additionalProperties")
    other = additional if is_schema(additional) else True
    needed = [document.part(named.get(name, other), resource) for name in names(schema.get("required"))]
    return all(surely_allows(inner, document, depth + 1) for inner in needed)


_WITH_VALUES: Final = frozenset({"enum", "const", "description", "title", "default", "$comment", "examples", "example"})
