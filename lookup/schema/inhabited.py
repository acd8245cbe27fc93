"""Schemas that surely allow some value, as a short look tells; for all others a smallest value must be found."""

from typing import Final

from lookup.schema.schema import EVERYTHING, Made, Schema

_MAX_DEPTH: Final = 4
_MAX_LENGTH: Final = 1_000
_WORDS: Final = frozenset(
    {
        "type", "properties", "items", "additionalProperties", "required", "maxLength", "minLength", "format", "enum",
        "maxItems", "uniqueItems", "$ref", Made.NOTES, Made.TUPLE,
    }
)  # fmt: skip
_WITH_VALUES: Final = frozenset({"enum", "type", Made.NOTES})


def surely_allows(schema: Schema, depth: int = 0) -> bool:
    """Whether some value surely obeys a schema. False says nothing."""
    words = schema.words
    if depth > _MAX_DEPTH or not _WORDS.issuperset(words):
        return False
    if "$ref" in words:
        return len(words) == 1 and surely_allows(words["$ref"], depth + 1)
    if "enum" in words:  # its members have the type
        return bool(words["enum"]) and _WITH_VALUES.issuperset(words)
    lengths = [word for word in ("minLength", "maxLength", "format") if word in words]
    if len(lengths) > 1 or words.get("minLength", 0) > _MAX_LENGTH:
        return False
    if schema.kinds != {"object"}:
        return bool(schema.kinds)
    other = words.get("additionalProperties", EVERYTHING)
    needed = (words.get("properties", {}).get(name, other) for name in words.get("required", ()))
    return all(surely_allows(inner, depth + 1) for inner in needed)
