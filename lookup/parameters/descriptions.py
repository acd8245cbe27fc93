"""The description of a tool or a key."""

from collections.abc import Mapping
from typing import Any

from lookup.errors import DocumentationError
from lookup.messages import shown


def read_description(data: Mapping[str, Any], owner: str) -> str:
    """The description, verbatim; ``""`` if absent or null. ``owner`` names tool and parameter."""
    key = "api_description" if "api_description" in data else "description"
    description = data.get(key)
    if description is None:
        return ""
    if not isinstance(description, str):
        raise DocumentationError(f"{owner}: expected {key!r} to be a text, found {shown(description)}")
    return description
