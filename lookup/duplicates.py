"""Tools with the same name: raise an error that shows both sources, or rename the later ones.

Decoding chooses a tool by its name, so names must be unique. TOOLDEC advises to "rewrite the tool names to include
more details" otherwise (version 1 of the paper, on the trie of names).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError

OnDuplicate = Literal["error", "rename"]


def distinct(tools: Sequence[ToolSpec], on_duplicate: OnDuplicate = "error") -> tuple[ToolSpec, ...]:
    """Return the tools with unique names.

    With ``rename``, the first tool of a name keeps it. Each later one becomes ``name_for_collection`` if its
    collection is documented (RapidAPI's ``tool_name``), otherwise ``name_2``, ``name_3``, …. If the new name is taken,
    it gets the next free number. ``documented_name`` keeps the documented name.

    Raises
    ------
    DocumentationError
        If ``on_duplicate`` is ``error`` and two tools have the same name.
    """
    first: dict[str, ToolSpec] = {}
    for tool in tools:
        if tool.name not in first:
            first[tool.name] = tool
        elif on_duplicate == "error":
            raise DocumentationError(
                f"{tool.source}: two tools of one name: {tool.name!r} is documented at {first[tool.name].source} "
                "already; remove or rename one of them, or let them be renamed (--on-duplicate rename)"
            )
    used = set(first)
    numbers: dict[str, int] = {}
    named = []
    for tool in tools:
        if tool is not first[tool.name]:
            name = _free_name(tool, used, numbers)
            used.add(name)
            tool = replace(tool, name=name, documented_name=tool.name)
        named.append(tool)
    return tuple(named)


def _free_name(tool: ToolSpec, used: set[str], numbers: dict[str, int]) -> str:
    """``numbers`` maps each base name to its last number, so that renaming n duplicates takes O(n) steps."""
    base = f"{tool.name}_for_{tool.collection}" if tool.collection else tool.name
    if base not in used:
        return base
    number = numbers.get(base, 1) + 1
    while f"{base}_{number}" in used:
        number += 1
    numbers[base] = number
    return f"{base}_{number}"
