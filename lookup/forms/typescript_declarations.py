"""TypeScript declarations as documentation.

What chat templates print for gpt-oss, Kimi and others::

    namespace functions {

    // Get the weather.
    type get_weather = (_: {
    // The city.
    city: string,
    unit?: "celsius" | "fahrenheit", // default: celsius
    }) => any;

    } // namespace functions

and, where nothing else in a text documents tools, such types without a namespace, declared functions, methods of
interfaces and, where there are no functions, object types and interfaces themselves. Built-in tools of other namespaces
than ``functions`` are no tools of the prompt's own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_schema import read_tool
from lookup.typescript.declared import Declaration, DeclaredText
from lookup.typescript.schemas import Schema

MAX_DEFINITIONS: Final = 50
"""How many declared types one tool may refer to."""
_OWN_NAMESPACE: Final = "functions"

_NAMESPACE = re.compile(
    r"^[ \t]*(?:(?:export|declare)[ \t]+){0,2}namespace[ \t]+(?P<name>[\w.$-]{1,100})[ \t]*\{", re.MULTILINE
)
_CLOSING = re.compile(r"^\}", re.MULTILINE)


def _tool(declaration: Declaration, definitions: Mapping[str, Schema]) -> ToolSpec | None:
    """The tool of a declaration; ``None`` if its schema is none of parameters."""
    schema = dict(declaration.schema or {})
    used = _used(schema, definitions)
    if "$ref" in schema and len(schema) == 1:
        schema = dict(definitions.get(schema["$ref"].removeprefix("#/$defs/"), {}))
    schema = {"type": "object", **schema}
    if used:
        schema["$defs"] = used
    try:
        return read_tool({"name": declaration.name, "description": declaration.description, "parameters": schema})
    except DocumentationError:
        return None


def _used(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The definitions that a schema refers to, also by way of another; what is too many stays unknown."""
    used: Schema = {}
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix("#/$defs/")
            if name in definitions and name not in used and len(used) < MAX_DEFINITIONS:
                used[name] = definitions[name]
                waiting.append(definitions[name])
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return used


def _found(declarations: list[Declaration], definitions: Mapping[str, Schema]) -> Iterator[TextTool]:
    for declaration in declarations:
        tool = _tool(declaration, definitions)
        if tool:
            yield TextTool(tool, declaration.start, declaration.end)


def _namespaces(text: str) -> list[tuple[str, int, int]]:
    """Name, start and end of the namespaces of a text."""
    matches = list(_NAMESPACE.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    found = []
    for match, limit in zip(matches, ends, strict=False):
        closing = None
        for closing in _CLOSING.finditer(text, match.end(), limit):
            if not text.startswith("})", closing.start()):
                break
        end = closing.start() if closing else limit
        found.append((match["name"], match.end(), end))
    return found


def find_namespaces(text: str) -> Iterator[TextTool]:
    """The functions that the namespaces of a text declare."""
    if "namespace" not in text:
        return
    spaces = _namespaces(text)
    own = any(name == _OWN_NAMESPACE for name, _, _ in spaces)
    for name, start, end in spaces:
        if own and name != _OWN_NAMESPACE:
            continue
        inside = DeclaredText(text[start:end], inside=True)
        functions = [d for d in inside.declarations if d.is_function and d.kind != "method"]
        for found in _found(functions, inside.definitions()):
            yield TextTool(found.tool, start + found.start, start + found.end)


def find_declarations(text: str) -> Iterator[TextTool]:
    """The functions that a text declares; where there are none, its object types that no other refers to."""
    found = DeclaredText(text)
    definitions = found.definitions()
    functions = [d for d in found.declarations if d.is_function and _documents(d)]
    if functions:
        yield from _found(functions, definitions)
        return
    named: set[str] = set()
    for declaration in found.declarations:
        named |= set(_used(declaration.schema or {}, definitions)) - {declaration.name}
    objects = [d for d in found.declarations if _is_data(d) and d.name not in named]
    yield from _found(objects, definitions)


def _documents(declaration: Declaration) -> bool:
    """Whether a function is documentation rather than code."""
    return declaration.kind in ("type", "method") or declaration.documented


def _is_data(declaration: Declaration) -> bool:
    schema = declaration.schema or {}
    return not declaration.is_function and schema.get("type") == "object" and bool(schema.get("properties"))


NAMESPACE_FORM: Final = TextForm("TypeScript namespaces (type name = (_: {key: type}) => any)", find_namespaces)
FORM: Final = TextForm("TypeScript types, interfaces and functions", find_declarations, fallback=True)
