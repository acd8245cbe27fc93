"""The branches of a JSON Schema (``allOf``, ``anyOf``, ``oneOf``), and merging them."""

from collections.abc import Mapping
from typing import Any, Final

from lookup.types.type_names import NULL_NAMES

Schema = Mapping[str, Any]

UNIONS: Final = ("anyOf", "oneOf")


def branches_of(spec: Schema, word: str) -> list[Schema]:
    """The objects in the list ``allOf``, ``anyOf`` or ``oneOf``; empty without a list."""
    branches = spec.get(word)
    return [b for b in branches if isinstance(b, Mapping)] if isinstance(branches, list | tuple) else []


def listed_keys(schema: Schema) -> list[str]:
    """The keys in the list ``required``; empty without a list."""
    required = schema.get("required")
    return [key for key in required if isinstance(key, str)] if isinstance(required, list | tuple) else []


def merge(merged: dict[str, Any], part: Schema, required: list[str]) -> None:
    """Merge a branch into its schema. The schema's own words win."""
    for key, value in part.items():
        if key == "properties" and isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = {**merged[key], **{k: v for k, v in value.items() if k not in merged[key]}}
        elif key not in ("required", *UNIONS, "allOf"):
            merged.setdefault(key, value)
    if required or "required" in part:
        merged["required"] = list(dict.fromkeys(required))


def is_null(branch: Schema) -> bool:
    """Whether a branch allows nothing but null."""
    written = branch.get("type")
    return isinstance(written, str) and written.lower() in NULL_NAMES
