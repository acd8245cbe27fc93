"""Two tools of one name: an error that shows both places, or names that tell them apart.

Decoding chooses among tools by name, so names must differ; where they do not, TOOLDEC advises to "rewrite the tool
names to include more details" (version 1 of the paper, on the trie of names).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError

OnDuplicate = Literal["error", "rename"]


def distinct(tools: Sequence[ToolSpec], on_duplicate: OnDuplicate = "error") -> tuple[ToolSpec, ...]:
    """The tools under names that differ.

    With ``rename`` the first tool of a name keeps it. Each later one is called ``name_for_collection`` where its
    documentation says what it belongs to (RapidAPI's ``tool_name``), else ``name_2``, ``name_3``, …; the next free one
    of these where the new name is taken, too. The name as documented stands in ``documented_name``.

    Raises
    ------
    DocumentationError
        If ``on_duplicate`` is ``error`` and two tools have one name.
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
    """``numbers`` holds the last number given to each base, so that a thousand twins cost a thousand steps."""
    base = f"{tool.name}_for_{tool.collection}" if tool.collection else tool.name
    if base not in used:
        return base
    number = numbers.get(base, 1) + 1
    while f"{base}_{number}" in used:
        number += 1
    numbers[base] = number
    return f"{base}_{number}"
