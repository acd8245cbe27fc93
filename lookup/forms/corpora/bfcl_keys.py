"""Keys as BFCL prints them in XML and docstrings: the enum is at the end of the description."""

from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import ANY, ParameterSpec, ValueType
from lookup.errors import DocumentationError, LiteralError
from lookup.literals.literal_reader import read_literal
from lookup.parameters.plain_values import plain_value

_ENUM_VALUES: Final = "Enum values: "
_MAX_ENUM_ATTEMPTS: Final = 16


def split_enum(description: str) -> tuple[str, tuple[Any, ...] | None]:
    """The description without the enum at its end, and the members; ``None`` without an enum.

    >>> split_enum("The size. Enum values: ['a', 1].")
    ('The size.', ('a', 1))
    """
    text = description.rstrip()
    start = len(text)
    for _ in range(_MAX_ENUM_ATTEMPTS):
        start = text.rfind(f"{_ENUM_VALUES}[", 0, start)
        if start < 0:
            break
        try:
            members, end = read_literal(text, start + len(_ENUM_VALUES))
            if members and text[end:] in (".", ""):
                return text[:start].rstrip(), tuple(plain_value(m, "enum", "") for m in members)
        except (LiteralError, DocumentationError):
            continue
    return description, None


def with_keys(kind: ValueType, keys: tuple[ParameterSpec, ...] | None) -> ValueType:
    """The type with its documented keys. On a list, they are the keys of its elements; otherwise it is an object."""
    if keys is None:
        return kind
    if kind.kind in ("list", "tuple"):
        return replace(kind, items=with_keys(kind.items or ANY, keys))
    return ValueType("dict", properties=keys, nullable=kind.nullable)
