"""Which values an option takes: checked by pydantic, and said in words."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import Field as Bounds
from pydantic import TypeAdapter, ValidationError

Count = Annotated[int, Bounds(ge=1)]
"""1 or more."""
CountOrNone = Annotated[int, Bounds(ge=0)]
"""0 or more."""
Positive = Annotated[float, Bounds(gt=0, allow_inf_nan=False)]
"""Above 0."""
NotNegative = Annotated[float, Bounds(ge=0, allow_inf_nan=False)]
"""0 or more."""
Share = Annotated[float, Bounds(ge=0, le=1)]
"""0 to 1."""


@cache
def adapter_of(type_: Any) -> TypeAdapter[Any]:
    """Return pydantic's reader of a type."""
    return TypeAdapter(type_)


def fits(value: Any, adapter: TypeAdapter[Any]) -> bool:
    """Return whether a value has a type, without conversion, and is within its bounds."""
    try:
        adapter.validate_python(value, strict=True)
    except ValidationError as error:
        # a path may hold bytes that are not UTF-8
        return all(each["type"] == "string_unicode" for each in error.errors())
    return True


@cache
def schema_of(type_: Any) -> Mapping[str, Any]:
    """Return the JSON Schema of a type, without null."""
    schema = adapter_of(type_).json_schema()
    return next((branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"), schema)


def in_words(schema: Mapping[str, Any]) -> str:
    """Return the values of a schema in words: ``a whole number of 1 or more``."""
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else None):
        *most, last = map(repr, choices)
        return f"{', '.join(most)} or {last}" if most else last
    if schema["type"] == "array":
        items = schema["items"]
        if items["type"] == "integer":
            return f"whole numbers{bounds_in_words(items)}"
        return in_words(items) if "enum" in items else "names"
    word = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
    return word[schema["type"]] + bounds_in_words(schema)


def bounds_in_words(schema: Mapping[str, Any]) -> str:
    """Return the bounds of a number: `` from 0 to 1``, `` of 1 or more``, `` above 0``; empty without bounds."""
    least, most, above = (schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if above is not None:
        return f" above {above:g}" + ("" if most is None else f", {most:g} at most")
    if most is not None:
        return f" from {least:g} to {most:g}"
    return f" of {least:g} or more" if least is not None else ""
