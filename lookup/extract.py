"""Extract a lookup dictionary from tool documentation.

>>> text = 'Tools: {"name": "GetToday", "description": "Today\\'s date.", "input_parameters": {}}'
>>> list(extract(text))
['GetToday']
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from lookup.dictionary import LookupDictionary, ToolSpec
from lookup.documents import structured
from lookup.documents.forms import OBJECT_FORMS, TEXT_FORMS
from lookup.documents.text.text_file import read_text
from lookup.documents.text.text_reader import TextReader
from lookup.errors import DocumentationError

OnDuplicate = Literal["error", "rename"]
"""What to do with two tools of the same name: raise an error that shows both sources, or rename the later ones."""


def extract(source: Any, *, origin: str = "<text>", on_duplicate: OnDuplicate = "error") -> LookupDictionary:
    """Read every tool documented by a text, by parsed data or by live objects.

    DocumentationError if the source is empty or malformed, documents no tool, or documents two tools of the same name.
    The message starts with ``origin:line:column`` for a text and ``origin[key]`` for data.

    Parameters
    ----------
    source : str, mapping, callable, class, or sequence of these
        Any text that contains documentation; or a parsed tool, a list of tools or a whole document; or Python
        functions, dataclasses, ``TypedDict``s and pydantic models.
    origin : str
        The name of the source in error messages. If it ends in ``.json`` or ``.jsonl``, the text must be JSON; if it
        ends in ``.yaml`` or ``.yml``, it must be YAML.
    on_duplicate : {"error", "rename"}
        What to do with two tools of the same name.

    Returns
    -------
    LookupDictionary
        The tools in documentation order, and what looked like a tool but was not read.
    """
    if isinstance(source, str):
        if not source.strip("\ufeff \t\r\n\f\v"):
            raise DocumentationError(f"{origin}: expected tool documentation, found an empty text")
        tools, unread = TextReader(source, origin).read()
    else:
        tools, unread = structured.read(source, origin)
    if not tools:
        forms = "; ".join([form.title for form in OBJECT_FORMS] + [form.title for form in TEXT_FORMS])
        seen = f"; what looks like a tool: {unread[0]}" if unread else ""
        raise DocumentationError(f"{origin}: no tool documentation found{seen}; looked for: {forms}")
    return LookupDictionary(_distinct(tools, on_duplicate), tuple(unread))


def extract_file(path: str | Path, *, on_duplicate: OnDuplicate = "error") -> LookupDictionary:
    """Read every tool documented by a UTF-8 file.

    DocumentationError as for ``extract``, or if the file is missing, a directory, unreadable, larger than 64 MiB, or
    not UTF-8.
    """
    return extract(read_text(path), origin=str(path), on_duplicate=on_duplicate)


def _distinct(tools: Sequence[ToolSpec], on_duplicate: OnDuplicate) -> tuple[ToolSpec, ...]:
    """Return the tools with unique names, because decoding chooses a tool by its name.

    TOOLDEC advises to "rewrite the tool names to include more details" otherwise (version 1 of the paper, on the trie
    of names).

    With ``rename``, the first tool of a name keeps it. Each later one becomes ``name_for_collection`` if its
    collection is documented (RapidAPI's ``tool_name``), otherwise ``name_2``, ``name_3``, …. If the new name is taken,
    it gets the next free number. ``documented_name`` keeps the documented name.

    DocumentationError if ``on_duplicate`` is ``error`` and two tools have the same name.
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
