"""JSON tools as chat templates print them by hand: name and description put between quotes as they are.

``{"name": "f", "description": "D", "parameters": {...}}`` of Mistral's, Command R's and Hermes' templates escapes
nothing in name and description, so that a quote or a line end in them makes it no JSON. Hermes' templates put the
signature and the keys into the description, and Hermes 2 Pro's leaves out the quote in front of the name::

    {"type": "function", "function": {"name": f", "description": "f(a: str) - D

        Args:
            a(str): The a.", "parameters": {...}}

Every template prints ``parameters`` as JSON, which says where the description ends.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.forms.json_tools import printed_tool
from lookup.errors import LiteralError
from lookup.literals.literal_reader import LiteralReader
from lookup.scanning import bounded

MAX_TRIALS: Final = 8
"""How often a description may hold what ends it."""

_HEAD = re.compile(
    r"""\{(?P<wrapper>[ \t]*"type"[ \t]*:[ \t]*"function"[ \t]*,[ \t]*"function"[ \t]*:[ \t]*\{)?
        [ \t]*"name"[ \t]*:[ \t]*"?(?P<name>[^"\n]{1,200})"[ \t]*,[ \t]*"description"[ \t]*:[ \t]*"
    """,
    re.VERBOSE,
)
_BEHIND = re.compile(r'"[ \t]*,[ \t]*"(?:parameters|input_schema|inputSchema)"[ \t]*:[ \t]*(?=\{|null|None)')
_CLOSING = re.compile(r'[ \t\r\n]*(?:,[ \t]*"\w{1,40}"[ \t]*:[ \t]*(?:null|true|false|\{\}|"[^"\n]{0,200}")[ \t]*)?\}')
_SIGNATURE = re.compile(r"\((?P<keys>[^()\n]*)\)(?: -> [\w \[\],.|]{1,200}?)? - ")
_LISTED = re.compile(r"        (?P<key>[^()\n]{1,200})\((?P<type>[^()\n]{1,200})\): ")


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text that are printed by hand and are no JSON, or whose description holds a signature."""
    if '"description"' not in text:
        return
    reader = LiteralReader(text)
    behind = 0
    for head, limit in bounded(_HEAD, text):
        if head.start() >= behind and (found := _read(reader, head, limit)):
            behind = found.end
            yield found


def _read(reader: LiteralReader, head: re.Match[str], limit: int) -> TextTool | None:
    text = reader.text
    position = head.end()
    for _ in range(MAX_TRIALS):
        behind = _BEHIND.search(text, position, limit)
        if not behind:
            return None
        position = behind.end()
        try:
            parameters, end = reader.read(behind.end())
        except LiteralError:
            continue
        closing = _CLOSING.match(text, end)
        if not closing:
            continue
        end = closing.end()
        if head["wrapper"] and text.startswith("}", end):
            end += 1
        return _tool(text, head, text[head.end() : behind.start()], parameters, end)
    return None


def _tool(text: str, head: re.Match[str], written: str, parameters: Any, end: int) -> TextTool | None:
    """The tool whose description is ``written``; ``None`` where it is JSON that other forms read."""
    name = head["name"]
    keys = parameters.get("properties") if isinstance(parameters, Mapping) else None
    description = without_signature(name, written, keys if isinstance(keys, Mapping) else {})
    quoted = text.startswith('"', head.start("name") - 1)
    if quoted and description == written and _is_json(written):
        return None
    tool = printed_tool(name, description, parameters or {})
    return TextTool(tool, head.start(), end) if tool else None


def _is_json(written: str) -> bool:
    """Whether a text can stand between double quotes in JSON as it is, or has escapes already."""
    return '"' not in written.replace('\\"', "") and "\n" not in written


def without_signature(name: str, description: str, keys: Mapping[str, Any]) -> str:
    """The description without the signature in front of it and the keys behind it, where both are there."""
    head = _SIGNATURE.match(description, len(name)) if description.startswith(name) else None
    ending = "\n\n    Args:\n" if keys else "\n\n"
    start = description.rfind(ending)
    if not head or start < head.end():
        return description
    position, declared = start + len(ending), 0
    for key, spec in keys.items():
        said = spec.get("description") if isinstance(spec, Mapping) else None
        listed = _LISTED.match(description, position)
        if not listed or listed["key"] != key:
            return description
        declared = head["keys"].find(f"{key}: {listed['type']}", declared)
        if declared < 0:
            return description
        written = said.strip() if isinstance(said, str) else ""
        if not description.startswith(written, listed.end()):
            return description
        position = listed.end() + len(written)
    complete = position == len(description) or description.startswith("\n    Returns:", position)
    return description[head.end() : start] if complete else description


FORM: Final = TextForm('tools {"name", "description", "parameters"} with nothing escaped (chat templates)', find)
