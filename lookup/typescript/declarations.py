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
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import MISSING, ToolSpec
from lookup.errors import DocumentationError, LiteralError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_schema import read_tool
from lookup.typescript.comments import DocComment, line_comments
from lookup.typescript.type_reader import Schema, TypeReader
from lookup.values.literals import read_literal

MAX_DEFINITIONS: Final = 50
"""How many declared types one tool may refer to."""
_OWN_NAMESPACE: Final = "functions"

_NAMESPACE = re.compile(
    r"^[ \t]*(?:(?:export|declare)[ \t]+){0,2}namespace[ \t]+(?P<name>[\w.$-]{1,100})[ \t]*\{", re.MULTILINE
)
_CLOSING = re.compile(r"^\}", re.MULTILINE)
_DECLARATION = re.compile(
    r"""^(?P<indent>[ \t]*)(?:(?:export|declare|default|abstract)[ \t]+){0,3}(?:
        type[ \t]+(?P<type>[^\s=<>(){};]{1,200})[ \t]*(?:<[^>\n]{0,200}>)?[ \t]*=(?!=)
      | (?P<braced>interface|class)[ \t]+(?P<interface>[\w$]{1,200})(?:[ \t]*<[^>\n]{0,200}>)?[^{};\n]{0,200}\{
      | (?:async[ \t]+)?function[ \t]+(?P<function>[\w$]{1,200})[ \t]*(?:<[^>\n]{0,200}>)?[ \t]*(?=\()
      | enum[ \t]+(?P<enum>[\w$]{1,200})[ \t]*\{
    )""",
    re.VERBOSE | re.MULTILINE,
)
_METHOD = re.compile(r"[ \t]*(?P<name>[A-Za-z_$][\w$]{0,199})\??[ \t]*(?::[ \t]*)?(?=\()")
_RESULT = re.compile(r"[ \t]*(?::|=>)")
_OF_PARAMETERS: Final = frozenset({"_", "args", "arguments", "params", "parameters", "input", "props"})
_PARAMETER = re.compile(r"(?:\.\.\.)?(?P<name>[A-Za-z_$][\w$]{0,199})[ \t]*(?P<optional>\?)?[ \t]*")
_REFERENCE = re.compile(r"[A-Za-z_$][\w$.]{0,200}")
_MEMBER = re.compile(
    r"""[\s,]*(?:"[^"\\\n]{1,200}"|'[^'\\\n]{1,200}'|[\w$]{1,200})[ \t]*
        (?:=[ \t]*(?P<value>"[^"\\\n]{0,200}"|'[^'\\\n]{0,200}'|-?\d{1,20}))?[ \t]*(?=[,}\n])""",
    re.VERBOSE,
)


@dataclass
class _Declaration:
    """One declaration of a text: its stretch, and what it declares."""

    kind: str
    name: str
    start: int
    description: str = ""
    schema: Schema | None = None  # of the parameters, or of the type itself
    is_function: bool = False
    documented: bool = False
    end: int = 0


class _Text:
    """The declarations of one text, each read up to where the next one begins."""

    def __init__(self, text: str, inside: bool = False) -> None:
        self._text = text
        self._inside = inside  # whether it is the inside of a namespace
        self._matches = list(_DECLARATION.finditer(text))
        self._names = {m["type"] or m["interface"] or m["enum"] for m in self._matches}
        self.declarations: list[_Declaration] = []
        limits = [m.start() for m in self._matches[1:]] + [len(text)]
        behind = 0
        for match, limit in zip(self._matches, limits, strict=False):
            for found in self._read(match, limit, behind):
                self.declarations.append(found)
                behind = found.end

    def declared(self, name: str) -> bool:
        """Whether the text declares a type of this name."""
        return name in self._names

    def definitions(self) -> Mapping[str, Schema]:
        """The schema of each type that is declared as data."""
        declared = [d for d in self.declarations if not d.is_function and d.schema is not None]
        return {d.name: {"description": d.description} | (d.schema or {}) for d in declared}

    def _read(self, match: re.Match[str], limit: int, behind: int) -> Iterator[_Declaration]:
        reader = TypeReader(self._text, match.end(), limit, self.declared)
        start = match.end("indent")
        comment, start = self._comment(behind, start, match.start())
        doc = DocComment(comment) if comment.startswith("/*") else None
        description = doc.description if doc else line_comments(comment) if comment else ""
        name = match["type"] or match["interface"] or match["function"] or match["enum"]
        kind = "type" if match["type"] else match["braced"] or ("function" if match["function"] else "enum")
        found = _Declaration(kind, name, start, description, documented=bool(comment))
        try:
            if kind == "interface":
                yield from self._methods(reader, match.end(), limit)
                reader.position = match.end() - 1
                found.schema = reader.members()
            elif kind == "enum":
                found.schema = _enum(self._text, match.end(), limit, reader)
            elif kind == "function" or (kind == "type" and self._is_function(reader)):
                found.schema, found.is_function = _parameters(reader, doc), True
                self._result(reader)
            elif kind == "type":
                found.schema = reader.type()
            else:
                return
        except LiteralError:
            return
        reader.take(";")
        found.end = reader.position
        yield found

    def _is_function(self, reader: TypeReader) -> bool:
        """Whether ``( ... ) =>`` follows."""
        start = reader.position
        reader.skip()
        if not self._text.startswith("(", reader.position):
            reader.position = start
            return False
        opening = reader.position
        reader.parenthesized()
        arrow = reader.take("=>")
        reader.position = opening
        return arrow

    def _result(self, reader: TypeReader) -> None:
        """Step over the type of the result."""
        result = _RESULT.match(self._text, reader.position, reader.limit)
        if result:
            reader.position = result.end()
            reader.type()

    def _methods(self, reader: TypeReader, position: int, limit: int) -> Iterator[_Declaration]:
        """The methods of an interface, each a function of its own."""
        for line in re.finditer(r"^[ \t]*[A-Za-z_$][^\n]*", self._text[position:limit], re.MULTILINE):
            at = position + line.start()
            match = _METHOD.match(self._text, at, limit)
            if not match or at < reader.position:
                continue
            comment, start = self._comment(reader.position, at, at)
            doc = DocComment(comment) if comment.startswith("/*") else None
            reader.position = match.end()
            try:
                schema = _parameters(reader, doc)
                self._result(reader)
            except LiteralError:
                reader.position = max(reader.position, line.end() + position)
                continue
            description = doc.description if doc else line_comments(comment) if comment else ""
            yield _Declaration(
                "method", match["name"], start, description, schema, True, bool(comment), reader.position
            )

    def _comment(self, behind: int, start: int, line_start: int) -> tuple[str, int]:
        """The comment above a declaration, with the line end below it, and where the declaration begins with it.

        ``//`` stands in front of each line, or once in front of a text of several lines that begins where the
        declaration above or the namespace has ended.
        """
        text = self._text
        above = text[behind:line_start]
        trimmed = above.rstrip()
        if trimmed.endswith("*/"):
            opening = trimmed.rfind("/*")
            if opening >= 0:
                return trimmed[opening:], behind + opening
        whole = above.lstrip()
        if whole.startswith("//"):
            first = behind + len(above) - len(whole)
            if behind or self._inside:
                return text[first:line_start], first
        position, first = line_start, line_start
        while position > behind:
            line = text.rfind("\n", behind, position - 1) + 1 or behind
            marked = text[line:position].lstrip().startswith("//")
            if not text[line:position].strip() or (first < line_start and not marked):
                break
            first = line if marked else first
            position = line
        return text[first:line_start], first if first < line_start else start


def _parameters(reader: TypeReader, doc: DocComment | None) -> Schema:
    """The schema of the parameters of a function: of its one object of parameters, or of each of them.

    Raises
    ------
    LiteralError
        If they are no typed parameters.
    """
    reader.expect("(")
    properties: Schema = {}
    required: list[str] = []
    only: Schema | None = None
    while not reader.take(")"):
        reader.skip()
        destructured = reader.text.startswith("{", reader.position)
        if destructured:
            _step_over_pattern(reader)
            name, optional = "_", False
        else:
            match = _PARAMETER.match(reader.text, reader.position, reader.limit)
            if not match:
                reader.fail("a parameter")
            reader.position = match.end()
            name, optional = match["name"], match["optional"] is not None
        reader.expect(":")
        schema = reader.type()
        has_default, default = _default(reader)
        if not properties and name in _OF_PARAMETERS and _is_object(schema):
            only = schema
        spec = dict(schema)
        if doc and doc.parameters.get(name):
            spec["description"] = doc.parameters[name]
        if default is not MISSING:
            spec["default"] = default
        properties[name] = spec
        if not optional and not has_default:
            required.append(name)
        if not reader.take(","):
            reader.expect(")")
            break
    if only is not None and len(properties) == 1:
        return _described(only, doc)
    return {"type": "object", "properties": properties, "required": required}


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "$ref" in schema or "allOf" in schema


def _described(schema: Schema, doc: DocComment | None) -> Schema:
    """The schema with the descriptions that a doc comment gives its keys."""
    properties = schema.get("properties")
    if not doc or not isinstance(properties, dict):
        return schema
    named = {key: doc.parameters.get(key) for key in properties}
    return schema | {
        "properties": {
            key: spec if not named[key] or spec.get("description") else spec | {"description": named[key]}
            for key, spec in properties.items()
        }
    }


def _step_over_pattern(reader: TypeReader) -> None:
    """Step over ``{ a, b = 1 }``."""
    end = reader.text.find("}", reader.position, reader.limit)
    if end < 0:
        reader.fail("'}'")
    reader.position = end + 1


def _default(reader: TypeReader) -> tuple[bool, Any]:
    """Whether a parameter has a default, and the default if it is a literal; ``MISSING`` for any other."""
    if not reader.take("="):
        return False, MISSING
    reader.skip()
    if name := _REFERENCE.match(reader.text, reader.position, reader.limit):
        reader.position = name.end()
        return True, {"true": True, "false": False, "null": None}.get(name[0], MISSING)
    value, reader.position = read_literal(reader.text, reader.position)
    return True, value


def _enum(text: str, position: int, limit: int, reader: TypeReader) -> Schema:
    """The values of an ``enum`` declaration."""
    members: list[Any] = []
    while match := _MEMBER.match(text, position, limit):
        written = match["value"]
        if written is None:
            members.append(len(members))
        else:
            members.append(written[1:-1] if written[0] in "\"'" else int(written))
        position = match.end()
    closing = re.compile(r"[\s,]*\}").match(text, position, limit)
    reader.position = closing.end() if closing else position
    if not closing or not members:
        reader.fail("members of an enum")
    return {"type": "string" if isinstance(members[0], str) else "integer", "enum": members}


def _tool(declaration: _Declaration, definitions: Mapping[str, Schema]) -> ToolSpec | None:
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


def _found(declarations: list[_Declaration], definitions: Mapping[str, Schema]) -> Iterator[TextTool]:
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
        inside = _Text(text[start:end], inside=True)
        functions = [d for d in inside.declarations if d.is_function and d.kind != "method"]
        for found in _found(functions, inside.definitions()):
            yield TextTool(found.tool, start + found.start, start + found.end)


def find_declarations(text: str) -> Iterator[TextTool]:
    """The functions that a text declares; where there are none, its object types that no other refers to."""
    if not _DECLARATION.search(text):
        return
    found = _Text(text)
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


def _documents(declaration: _Declaration) -> bool:
    """Whether a function is documentation rather than code."""
    return declaration.kind in ("type", "method") or declaration.documented


def _is_data(declaration: _Declaration) -> bool:
    schema = declaration.schema or {}
    return not declaration.is_function and schema.get("type") == "object" and bool(schema.get("properties"))


NAMESPACE_FORM: Final = TextForm("TypeScript namespaces (type name = (_: {key: type}) => any)", find_namespaces)
FORM: Final = TextForm("TypeScript types, interfaces and functions", find_declarations, fallback=True)
