"""Plain values in documentation: descriptions, and values that a call can contain (enums, constants, defaults)."""

import json
from collections.abc import Mapping
from typing import Any

from lookup.dictionary import ValueType
from lookup.errors import DocumentationError, LiteralError, shown
from lookup.literals.literal_reader import parse_literal
from lookup.literals.syntaxes import render_literal
from lookup.type_names import type_of


def demand_object(value: object, where: str, what: str) -> Mapping[str, Any]:
    """The value if it is an object. DocumentationError with the place and what was expected if it is none."""
    if not isinstance(value, Mapping):
        raise DocumentationError(f"{where}: expected {what}, found {shown(value)}")
    return value


def read_description(data: Mapping[str, Any], owner: str) -> str:
    """The description of a tool or key, verbatim; ``""`` if absent or null. ``owner`` names tool and parameter."""
    key = "api_description" if "api_description" in data else "description"
    description = data.get(key)
    if description is None:
        return ""
    if not isinstance(description, str):
        raise DocumentationError(f"{owner}: expected {key!r} to be a text, found {shown(description)}")
    return description


def plain_value(value: Any, what: str, owner: str) -> Any:
    """Return the value if it can be written as a literal.

    Rejected are sets, NaN, infinities, numbers that are too long, deep nesting, and lone surrogates.

    DocumentationError, naming ``owner`` and ``what`` the value is, such as ``default``.
    """
    try:
        if isinstance(value, str):
            value.encode()
        elif value is not None and not isinstance(value, bool):
            json.dumps(value, ensure_ascii=False).encode()
            parse_literal(render_literal(value))
    except (LiteralError, TypeError, ValueError, RecursionError):
        raise DocumentationError(
            f"{owner}: expected {what!r} to hold values that a call can carry, found {shown(value)}"
        ) from None
    return value


def read_enum(enum: object, where: str) -> tuple[tuple[Any, ...], ValueType]:
    """The members of an enum, which may be none, and their type. DocumentationError unless it is a list of values."""
    if not isinstance(enum, list | tuple):
        raise DocumentationError(f"{where}: expected 'enum' to be a list with members, found {shown(enum)}")
    members = tuple(plain_value(member, "enum", where) for member in enum)
    return members, type_of(members)
