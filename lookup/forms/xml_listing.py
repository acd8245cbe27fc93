"""Tools as XML elements, as the chat templates of Qwen3-Coder and Nemotron 3 print them.

::

    <function>
    <name>f</name>
    <description>D</description>
    <parameters>
    <parameter>
    <name>city</name>
    <type>string</type>
    <description>The city.</description>
    <enum>["a", "b"]</enum>
    </parameter>
    <required>["city"]</required>
    </parameters>
    </function>

Nothing is escaped. Lists and objects are JSON; of other words of a schema the type says how they are read.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from lookup.errors import DocumentationError, LiteralError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_tools import read_schema_tool
from lookup.literals.literal_reader import parse_literal
from lookup.type_names import value_type

_START = re.compile(r"<(?P<tag>function|tool)>\s*<name>(?P<name>[^<>\n]{1,200})</name>")
_ELEMENT = re.compile(r"\s*<(?P<tag>[A-Za-z$][\w$-]{0,60})>")
_BEHIND = re.compile(r"\s*(?:<|\Z)")
_PARAMETER_START = re.compile(r"<parameter>(?=\s*<name>)")
_PARAMETERS: Final = "<parameters>"
_PARAMETER: Final = "<parameter>"


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text."""
    if "<name>" not in text:
        return
    starts = list(_START.finditer(text))
    limits = [start.start() for start in starts[1:]] + [len(text)]
    for start, limit in zip(starts, limits, strict=False):
        closing = f"</{start['tag']}>"
        end = text.rfind(closing, start.end(), limit)
        if end < 0:
            continue
        schema, description = _read(text, start.end(), end)
        if schema is None:
            continue
        try:
            tool = read_schema_tool({"name": start["name"].strip(), "description": description, "parameters": schema})
        except DocumentationError:
            continue
        yield TextTool(tool, start.start(), end + len(closing))


def _read(text: str, position: int, end: int) -> tuple[dict[str, Any] | None, str]:
    """The schema of a tool between two offsets, ``None`` if it has no parameters element, and the description."""
    opening = text.find(_PARAMETERS, position, end)
    closing = text.rfind("</parameters>", position, end)
    if opening < 0 or closing < opening:
        return None, ""
    description = _words(text, position, opening).get("description", "")
    return _schema(text, opening + len(_PARAMETERS), closing), description.strip()


def _schema(text: str, position: int, end: int) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    keys = [match.start() for match in _PARAMETER_START.finditer(text, position, end)]
    behind = position
    for start, limit in zip(keys, [*keys[1:], end], strict=False):
        closing = text.rfind("</parameter>", start, limit) if limit < end else text.find("</parameter>", start, limit)
        if closing < 0:
            continue
        words = _words(text, start + len(_PARAMETER), closing)
        if name := words.pop("name", ""):
            properties.setdefault(name, _property(words))
        behind = closing + len("</parameter>")
    rest = _words(text, behind, end)
    schema = {word: _literal(written) for word, written in rest.items() if word != "type"}
    return {"type": "object", "properties": properties} | schema


def _words(text: str, position: int, end: int) -> dict[str, str]:
    """The elements between two offsets, which stand one below the other, and what is in them."""
    words: dict[str, str] = {}
    while element := _ELEMENT.match(text, position, end):
        closing = f"</{element['tag']}>"
        stop = text.find(closing, element.end(), end)
        # What an element holds may hold its closing tag, but hardly in front of another tag.
        while stop >= 0 and not _BEHIND.match(text, stop + len(closing), end):
            stop = text.find(closing, stop + 1, end)
        if stop < 0:
            break
        words.setdefault(element["tag"], text[element.end() : stop])
        position = stop + len(closing)
    return words


def _property(words: dict[str, str]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    written = words.get("type", "")
    kind = _literal(written) if written.startswith("[") else written
    if written:
        spec["type"] = kind
    texts = isinstance(kind, str) and value_type(kind).kind == "str"
    for word, content in words.items():
        if word == "description":
            spec[word] = content
        elif word != "type":
            spec[word] = content if texts and word in ("default", "const") else _literal(content)
    return spec


def _literal(written: str) -> Any:
    try:
        return parse_literal(written)
    except LiteralError:
        return written


FORM: Final = TextForm("elements <function><name>f</name><parameters><parameter> (Qwen3-Coder, Nemotron 3)", find)
