"""What of a schema is not enforced: refused where the client asks for ``strict``, told elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from lookup.dictionary import LookupDictionary, ToolSpec
from tooldecoding.chat.documentation import tool_name
from tooldecoding.errors import PromptError

_MOST_NOTES: Final = 20


def unenforced(tool: ToolSpec, strict: bool) -> list[str]:
    """Return what of a tool's schema is not enforced while it is decoded.

    Raises
    ------
    PromptError
        If there is something, and the schema is strict.
    """
    found = list(islice(_notes(tool), _MOST_NOTES))
    if strict and found:
        raise PromptError(f"strict is asked for, but not all of the schema can be enforced: {found[0]:.200}")
    return found


def unenforced_in(tools: Sequence[Any], lookup: LookupDictionary) -> list[str]:
    """Return what of the schemas of tools is not enforced; PromptError if one of these is strict."""
    found: list[str] = []
    for given in tools:
        if (name := tool_name(given)) in lookup:
            found += (f"tool {name!r:.60}: {note}" for note in unenforced(lookup[name], _is_strict(given)))
    return found[:_MOST_NOTES]


def _is_strict(given: Mapping[str, Any]) -> bool:
    function = given.get("function", given)
    return isinstance(function, Mapping) and function.get("strict") is True


def _notes(tool: ToolSpec) -> Iterator[str]:
    yield from tool.notes
    for parameter in tool.parameters:
        for note in () if parameter.schema is None else parameter.schema.notes:
            if "leads nowhere" not in note:  # the tool's notes say so
                yield f"key {parameter.name!r:.60}: {note}"
