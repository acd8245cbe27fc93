"""TypeScript namespaces, as the chat templates of gpt-oss and Kimi print tools.

::

    namespace functions {

    // Get the weather.
    type get_weather = (_: {
    // The city.
    city: string,
    unit?: "celsius" | "fahrenheit", // default: celsius
    }) => any;

    } // namespace functions

A namespace may also declare the types that its functions refer to. Built-in tools of other namespaces than
``functions`` are no tools of the prompt's own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import LiteralError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_tools import printed_tool
from lookup.forms.typescript_types import Schema, TypeReader, comment_text
from lookup.scanning import bounded

MAX_DEFINITIONS: Final = 50
"""How many declared types one tool may refer to."""
_OWN_NAMESPACE: Final = "functions"

_NAMESPACE = re.compile(r"^[ \t]*namespace[ \t]+(?P<name>[\w.$-]{1,100})[ \t]*\{", re.MULTILINE)
_CLOSING = re.compile(r"^\}", re.MULTILINE)
_DECLARATION = re.compile(
    r"""^[ \t]*(?:type[ \t]+(?P<type>[^\s=<>(){};]{1,200})[ \t]*=(?!=)
        |interface[ \t]+(?P<interface>[\w$]{1,200})[ \t]*(?=\{))""",
    re.VERBOSE | re.MULTILINE,
)
_PARAMETERS = re.compile(r"\s*\((?:\s*\)|\s*[A-Za-z_$][\w$]{0,199}[ \t]*\??[ \t]*:)")


@dataclass(frozen=True)
class _Declaration:
    """A function with the schema of its parameters, or a type with its own schema."""

    name: str
    description: str
    schema: Schema
    is_function: bool
    start: int
    end: int


def find(text: str) -> Iterator[TextTool]:
    """The functions that the namespaces of a text declare."""
    if "namespace" not in text:
        return
    spaces = _namespaces(text)
    own = any(name == _OWN_NAMESPACE for name, _, _ in spaces)
    for name, start, end in spaces:
        if own and name != _OWN_NAMESPACE:
            continue
        declarations = _declarations(text, start, end)
        types = {d.name: {"description": d.description} | d.schema for d in declarations if not d.is_function}
        for declaration in declarations:
            if declaration.is_function and (tool := _tool(declaration, types)):
                yield TextTool(tool, declaration.start, declaration.end)


def _namespaces(text: str) -> list[tuple[str, int, int]]:
    """Name, start and end of the namespaces of a text."""
    found = []
    for match, limit in bounded(_NAMESPACE, text):
        closing = None
        for closing in _CLOSING.finditer(text, match.end(), limit):
            if not text.startswith("})", closing.start()):
                break
        found.append((match["name"], match.end(), closing.start() if closing else limit))
    return found


def _declarations(text: str, start: int, end: int) -> list[_Declaration]:
    """The declarations of a namespace, each read up to where the next one begins. What cannot be read is left out."""
    matches = list(bounded(_DECLARATION, text, start, end))
    names = {match["type"] or match["interface"] for match, _ in matches}
    found: list[_Declaration] = []
    behind = start
    for match, limit in matches:
        first = _comment_start(text, behind, match.start())
        description = comment_text(text[first : match.start()]) if first < match.start() else ""
        reader = TypeReader(text, match.end(), limit, names)
        parameters = _PARAMETERS.match(text, match.end(), limit)
        try:
            schema = _parameters(reader, parameters) if parameters else reader.type()
        except LiteralError:
            continue
        reader.take(";")
        name = match["type"] or match["interface"]
        found.append(_Declaration(name, description, schema, parameters is not None, first, reader.position))
        behind = reader.position
    return found


def _comment_start(text: str, behind: int, start: int) -> int:
    """Where the comment above the declaration at ``start`` begins; ``start`` without a comment.

    ``//`` stands in front of each line, or once in front of a text of several lines that begins where the declaration
    above or the namespace has ended.
    """
    above = text[behind:start]
    whole = above.lstrip()
    return start - len(whole) if whole.startswith("//") else start


def _parameters(reader: TypeReader, opening: re.Match[str]) -> Schema:
    """The schema of the parameters of a function, whose name and colon are ``opening``, up to the end of its result."""
    reader.position = opening.end()
    schema: Schema = {}
    if not opening[0].endswith(")"):
        schema = reader.type()
        reader.expect(")")
    reader.expect("=>")
    reader.type()
    return schema


def _tool(declaration: _Declaration, types: Mapping[str, Schema]) -> ToolSpec | None:
    """The tool of a declaration; ``None`` if its schema is none of parameters."""
    schema = dict(declaration.schema)
    used = _used(schema, types)
    if "$ref" in schema and len(schema) == 1:
        schema = dict(types.get(schema["$ref"].removeprefix("#/$defs/"), {}))
    schema = {"type": "object", **schema}
    if used:
        schema["$defs"] = used
    return printed_tool(declaration.name, declaration.description, schema)


def _used(schema: Schema, types: Mapping[str, Schema]) -> Schema:
    """The types that a schema refers to, also by way of another; what is too many stays unknown."""
    used: Schema = {}
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix("#/$defs/")
            if name in types and name not in used and len(used) < MAX_DEFINITIONS:
                used[name] = types[name]
                waiting.append(types[name])
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return used


FORM: Final = TextForm("TypeScript namespaces (type name = (_: {key: type}) => any)", find)
