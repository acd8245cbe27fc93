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

from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.forms.json_tools import printed_tool
from lookup.literals.literal_reader import literal_or
from lookup.scanning import bounded
from lookup.type_names import value_type

_START = re.compile(r"<(?P<tag>function|tool)>\s*<name>(?P<name>[^<>\n]{1,200})</name>")
_ELEMENT = re.compile(r"\s*<(?P<tag>[A-Za-z$][\w$-]{0,60})>")
_BEHIND = re.compile(r"\s*(?:<|\Z)")
_PARAMETER = re.compile(r"<parameter>(?=\s*<name>)")
_PARAMETERS: Final = "<parameters>"


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text."""
    if "<name>" not in text:
        return
    for start, limit in bounded(_START, text):
        closing = f"</{start['tag']}>"
        end = max(text.rfind(closing, start.end(), limit), 0)
        first = text.find(_PARAMETERS, start.end(), end)
        last = text.rfind("</parameters>", start.end(), end)
        if first < 0 or last < first:
            continue
        description = _words(text, start.end(), first).get("description", "").strip()
        schema = _schema(text, first + len(_PARAMETERS), last)
        if tool := printed_tool(start["name"].strip(), description, schema):
            yield TextTool(tool, start.start(), end + len(closing))


def _schema(text: str, position: int, end: int) -> dict[str, Any]:
    """The schema of the parameters between two offsets."""
    properties: dict[str, Any] = {}
    for start, limit in bounded(_PARAMETER, text, position, end):
        search = text.rfind if limit < end else text.find
        closing = search("</parameter>", start.start(), limit)
        if closing < 0:
            continue
        words = _words(text, start.end(), closing)
        if name := words.pop("name", ""):
            properties.setdefault(name, _property(words))
        position = closing + len("</parameter>")
    words = _words(text, position, end)
    rest = {word: literal_or(written, written) for word, written in words.items() if word != "type"}
    return {"type": "object", "properties": properties} | rest


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
    """The schema of a key. Its texts are as they are, all else is JSON."""
    written = words.pop("type", "")
    kind = literal_or(written, written) if written.startswith("[") else written
    plain = {"description"}
    if isinstance(kind, str) and value_type(kind).kind == "str":
        plain |= {"default", "const"}
    spec = {word: content if word in plain else literal_or(content, content) for word, content in words.items()}
    return {"type": kind} | spec if written else spec


FORM: Final = TextForm("elements <function><name>f</name><parameters><parameter> (Qwen3-Coder, Nemotron 3)", find)
