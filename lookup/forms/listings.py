"""Listings of frameworks: the name and description of a tool in lines, and an object of its keys behind a word.

LangChain (``render_text_description_and_args``), smolagents, DeepSeek's encoder, and LlamaIndex or CrewAI::

    search(query: str) -> str - Searches the web., args: {'query': {'title': 'Query', 'type': 'string'}}

    - search: Searches the web.
        Takes inputs: {'query': {'type': 'string', 'description': 'The query.'}}
        Returns an output of type: string

    ### search
    Description: Searches the web.

    Parameters: {"type": "object", "properties": {...}, "required": [...]}

    Tool Name: search
    Tool Description: Searches the web.
    Tool Args: {...}

The object is a JSON Schema, or has a schema for each key. In the latter a key is required unless it has a default
(LangChain) or may be null (smolagents).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.errors import DocumentationError, LiteralError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_schema import read_tool
from lookup.literals.literal_reader import LiteralReader
from lookup.python.signature import read_signature
from lookup.scanning import end_of_line

MAX_HEAD: Final = 20_000
"""How far above its object the name of a tool may stand, in characters."""


_OBJECT = re.compile(
    r"""(?:
        ^(?P<indent>[ \t]*)(?:[-*][ \t]+)?[*_`]{0,2}(?P<word>Takes[ ]inputs
            |(?:Tool[ ])?(?:Parameters|Arguments|Args|Inputs?)
            |(?:Input|Parameters?|Arguments?|Args)[ ](?:[Ss]chema)|Input[ ]parameters)[*_`]{0,2}[ \t]*:[*_`]{0,2}
      | (?P<args>,[ ]args|[ ]Parameters):
    )(?:[ \t]*\n[ \t]*(?:```(?:json)?[ \t]*\n[ \t]*)?)?[ \t]*(?=\{)""",
    re.VERBOSE | re.MULTILINE,
)
_NAMED = re.compile(
    r"""^(?P<indent>[ \t]*)(?:
        (?P<heading>\#{1,6}[ \t]+)(?:(?:Tool|Function|API|Name)(?:[ ][Nn]ame)?[ \t]*:[ \t]*)?[`*]{0,3}
            (?P<titled>[\w.\-/]{1,200})(?:\([^()\n]{0,300}\))?[`*]{0,3}[ \t]*:?[ \t]*$
      | (?:>[ \t]*|[-*][ \t]+|\d{1,4}[.)][ \t]+)?[*_]{0,2}(?:Tool|Function|API)?[ ]?[Nn]ame[*_]{0,2}[ \t]*:
            [*_]{0,2}[ \t]*[`"']?(?P<named>[\w.\-/]{1,200})[`"']?[ \t]*$
      | (?P<bullet>[-*][ \t]+|\d{1,4}[.)][ \t]+)?[`*]{0,3}(?P<name>[^\W\d][\w.\-]{0,199})[`*]{0,3}
            (?:(?P<list>\()|[`*]{0,3}[ \t]*:[ ](?=\S)|[ ]-[ ](?=\S)|[ \t]*:[ \t]*$)
    )""",
    re.VERBOSE | re.MULTILINE,
)
_ARROW = re.compile(r"(?:[ ]->[ ][^\n]{1,300}?)?(?:[ ]-[ ]|:[ ])")
_DESCRIPTION = re.compile(r"(?:[-*][ \t]+)?[*_]{0,2}(?:Tool[ ])?Description[*_]{0,2}[ \t]*:[*_]{0,2}[ ]?")
_RETURNS = re.compile(r"\n[ \t]*Returns an output of type:[^\n]*")
_BELOW = re.compile(r"\n[ \t]*(?:Tool[ ])?Description[ \t]*:[ ]?(?P<text>[^\n]*)")
_NO_NAMES: Final = frozenset(
    {"action", "answer", "api", "args", "arguments", "assistant", "description", "example", "examples", "final"}
    | {"format", "function", "functions", "human", "input", "inputs", "note", "notes", "observation", "output"}
    | {"parameters", "question", "raises", "result", "return", "returns", "system", "thought", "tool", "tools"}
    | {"user", "warning", "yields"}
)
_WORDS: Final = frozenset(
    {"type", "description", "title", "anyOf", "oneOf", "allOf", "$ref", "enum", "default", "items", "const"}
    | {"properties"}
)


@dataclass(frozen=True)
class _Head:
    """The lines above an object: the name, where the tool starts, and where its description does."""

    name: str
    start: int
    description: int
    sure: bool  # whether the name stands in a heading or behind "Name:"
    indent: int


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text whose object is one of keys; calls and results have other objects."""
    reader = LiteralReader(text)
    behind, position, follows = 0, 0, False
    while match := _OBJECT.search(text, position):
        position = match.end()
        try:
            value, end = reader.read(match.end())
        except LiteralError:
            continue
        position = end
        schema = _schema(value)
        if schema is None:
            continue
        head = _head(text, max(behind, match.start() - MAX_HEAD), match.start(), follows)
        behind, follows = end, False
        if head is None or (not value and not (head.sure or match["word"] == "Takes inputs" or match["args"])):
            continue
        description = _description(text[head.description : match.start()])
        if not description and (below := _BELOW.match(text, end)):
            description, end = below["text"].strip(), below.end()
        if returns := _RETURNS.match(text, end):
            end = returns.end()
        try:
            tool = read_tool({"name": head.name, "description": description, "parameters": schema})
        except DocumentationError:
            continue
        behind = position = end
        follows = True
        yield TextTool(tool, head.start, end)


def _schema(value: Any) -> dict[str, Any] | None:
    """The JSON Schema that an object is, or that its keys make; ``None`` for any other object."""
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("properties"), Mapping) or (isinstance(value.get("type"), str) and len(value) == 1):
        return {"type": "object", **value}
    for spec in value.values():
        if not isinstance(spec, Mapping) or (spec and _WORDS.isdisjoint(spec)):
            return None
    optional = [key for key, spec in value.items() if "default" in spec or spec.get("nullable") or _says(spec) is False]
    required = [key for key in value if key not in optional]
    properties = {key: {k: v for k, v in spec.items() if k != "required"} for key, spec in value.items()}
    return {"type": "object", "properties": properties, "required": required}


def _says(spec: Mapping[str, Any]) -> Any:
    return spec.get("required")


def _head(text: str, start: int, end: int, follows: bool) -> _Head | None:
    """The name of the tool whose object begins at ``end``.

    Behind another tool it is the first line with a name, else the nearest of those that are indented least; a heading
    or a line ``Name:`` goes first.
    """
    heads = []
    for match in _NAMED.finditer(text, start, end):
        head = _read_head(text, match, end)
        if head:
            heads.append(head)
    sure = [head for head in heads if head.sure]
    if sure:
        return sure[-1]
    if follows and heads and not text[start : heads[0].start].strip():
        return heads[0]
    least = min((head.indent for head in heads), default=0)
    near = [head for head in heads if head.indent == least]
    return near[-1] if near and "\n\n" not in text[near[-1].description : end].strip() else None


def _read_head(text: str, match: re.Match[str], end: int) -> _Head | None:
    indent = len(match["indent"].expandtabs())
    start = match.end("indent")
    if name := match["titled"] or match["named"]:
        if name.lower() in _NO_NAMES:
            return None
        return _Head(name, start, min(match.end() + 1, end), True, indent)
    if match["name"].lower() in _NO_NAMES:
        return None
    position = match.end()
    if match["list"]:
        try:
            position = read_signature(text, match.start("list"), min(end, end_of_line(text, match.end()))).end
        except LiteralError:
            return None
        arrow = _ARROW.match(text, position, end)
        if not arrow:
            return None
        position = arrow.end()
    return _Head(match["name"], start, position, False, indent)


def _description(written: str) -> str:
    """The description, without the word in front of it and the line ends behind it."""
    written = re.sub(r"[ \t]+\Z", "", written).removesuffix("\n").removesuffix("\n")
    lead = _DESCRIPTION.match(written.lstrip())
    return written.lstrip()[lead.end() :] if lead else written.strip("\n")


FORM: Final = TextForm(
    "listings 'name: description' with 'Parameters:', 'Takes inputs:' or ', args:' (DeepSeek, LangChain, smolagents)",
    find,
)
