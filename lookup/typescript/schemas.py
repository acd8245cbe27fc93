"""JSON Schemas of TypeScript's unions, literals and arrays."""

from collections.abc import Sequence
from typing import Any, Final

Schema = dict[str, Any]

NULL: Final[Schema] = {"type": "null"}
UNDEFINED: Final[Schema] = {"type": "undefined"}
_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


def array(items: Schema) -> Schema:
    """The schema of an array."""
    if items == {}:
        return {"type": "array"}
    return {"type": "array", "items": union([items])}


def union(branches: Sequence[Schema]) -> Schema:
    """The schema of a union: an enum of literals, a list of plain types, or ``anyOf``."""
    if len(branches) > 1 and _is_literal_array(branches[-1]) and all("const" in b for b in branches[:-1]):
        # ``"a" | "b"[]`` of an encoder that sets no parentheses.
        members = [b["const"] for b in branches[:-1]] + branches[-1]["items"]["enum"]
        return {"type": "array", "items": enum(members)}
    nullable = NULL in branches
    named = [b for b in branches if b not in (NULL, UNDEFINED)]
    if not named:
        return dict(NULL)
    if {} in named:
        return {}
    literals = [b["const"] for b in named if "const" in b]
    others = [b for b in named if "const" not in b]
    if literals:
        others = [*others, enum(literals)]
    if len(others) == 1:
        return {**others[0], "nullable": True} if nullable and "$ref" not in others[0] else dict(others[0])
    if all(set(b) == {"type"} and isinstance(b["type"], str) for b in others):
        return {"type": [b["type"] for b in others] + (["null"] if nullable else [])}
    return {"anyOf": others + ([dict(NULL)] if nullable else [])}


def _is_literal_array(branch: Schema) -> bool:
    items = branch.get("items")
    return branch.get("type") == "array" and isinstance(items, dict) and len(items.get("enum", ())) == 1


def enum(members: list[Any]) -> Schema:
    """The schema of values that are one of some literals."""
    kinds = {type(member) for member in members}
    if kinds == {bool} and len(members) == 2:
        return {"type": "boolean"}
    if kinds <= {int, float} and float in kinds:
        return {"type": "number", "enum": members}
    return {"type": _TYPE_NAMES[kinds.pop()], "enum": members} if len(kinds) == 1 else {"enum": members}
