"""Declarations of tools as the chat templates of Gemma 4 and FunctionGemma print them.

``<|tool>declaration:f{description:<|"|>D<|"|>,parameters:{properties:{city:{type:<|"|>STRING<|"|>}},required:[…],…}}<tool|>``;
FunctionGemma writes ``<escape>`` for the marks around texts, and its own marks around a declaration. Keys have no
quotes, texts no escapes, types are in upper case.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.json_tools import read_schema_tool
from lookup.literals.literal_reader import parse_literal
from lookup.messages import found_at

MAX_DEPTH: Final = 32

_START = re.compile(
    r"""(?:<\|tool>|<start_function_declaration>)\s*declaration:(?P<name>[^{}<>\n]{1,200}?)\s*\{|
        (?P<bare>(?<![\w:])declaration:(?P<other>[\w.-]{1,200})\{(?=description:(?:<escape>|<\|"\|>)))""",
    re.VERBOSE,
)
_END = re.compile(r"\s*(?:<tool\|>|<end_function_declaration>)?")
_MARKS: Final = ('<|"|>', "<escape>")
_BLANK = re.compile(r"[\s,]*")
# The name of a key of a tool reaches to the brace of its schema.
_PROPERTY = re.compile(r"(?P<key>[^\n]{1,200}?):\{")
_WORD = re.compile(r"(?P<key>[^:{}\[\],<>\n]{1,200}):")
_PLAIN = re.compile(r"[^,{}\[\]<>\n]{1,100}")
_MAPS_OF_NAMES: Final = ("properties", "$defs", "definitions", "patternProperties")
_WORDS_OF_SCHEMAS: Final = frozenset(
    {"additionalProperties", "anyOf", "oneOf", "allOf", "default", "enum", "examples", "title", "items", "$ref"}
    | {"minProperties", "maxProperties", "patternProperties", "propertyNames"}
)
_TYPES_LIST = re.compile(r"\[[\w', ]{0,200}\]")


def find(text: str) -> Iterator[TextTool]:
    """The declarations of a text."""
    if "declaration:" not in text:
        return
    matches = list(_START.finditer(text))
    limits = [match.start() for match in matches[1:]] + [len(text)]
    for match, limit in zip(matches, limits, strict=False):
        name = match["name"] or match["other"]
        reader = _Reader(text, match.end() - 1, limit)
        tool: ToolSpec | MisreadError
        try:
            declared = reader.object(names=False, depth=0)
            tool = _tool(name, declared)
        except LiteralError as error:
            message = f"tool {name!r}: expected {error.expected}, found {found_at(text, error.position)}"
            tool = MisreadError(message, error.position)
        except DocumentationError as error:
            tool = MisreadError(str(error), match.start())
        ending = _END.match(text, reader.position)
        yield TextTool(tool, match.start(), ending.end() if ending else reader.position)


def _tool(name: str, declared: dict[str, Any]) -> ToolSpec:
    schema = _plain(declared.get("parameters") or {})
    return read_schema_tool({"name": name, "description": declared.get("description", ""), "parameters": schema})


def _plain(schema: Any, names: bool = False) -> Any:
    """The schema with types in lower case."""
    if isinstance(schema, list):
        return [_plain(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _type(value) if key == "type" and not names else _kept(key, value, names) for key, value in schema.items()
    }
    keys = plain.get("properties")
    if not names and isinstance(keys, dict) and keys and _WORDS_OF_SCHEMAS.issuperset(keys):
        # Of an object without keys, the templates print the other words of its schema as if they were keys.
        del plain["properties"]
        extra = keys.get("additionalProperties")
        if isinstance(extra, dict) and extra.get("type"):
            plain["additionalProperties"] = extra
    return plain


def _kept(key: str, value: Any, names: bool) -> Any:
    if key in ("enum", "default", "const", "required") and not names:
        return value
    return _plain(value, names=not names and key in _MAPS_OF_NAMES)


def _type(written: Any) -> Any:
    """A type, or a list of types, which some templates print as Python does."""
    if isinstance(written, list):
        return [_type(member) for member in written]
    if not isinstance(written, str):
        return _plain(written)
    if _TYPES_LIST.fullmatch(written):
        try:
            return _type(parse_literal(written))
        except LiteralError:
            return written
    return written.lower()


class _Reader:
    """Reads the values of one declaration."""

    def __init__(self, text: str, position: int, limit: int) -> None:
        self._text = text
        self.position = position
        self._limit = limit

    def object(self, names: bool, depth: int) -> dict[str, Any]:
        """The object whose brace is at the position; ``names`` says that its keys are the names of keys of a tool."""
        self._enter(depth)
        members: dict[str, Any] = {}
        while not self._closed("}"):
            key = self._key(names)
            if key in members:
                self._fail("a new key")
            members[key] = self._value(not names and key in _MAPS_OF_NAMES, depth + 1)
        return members

    def _list(self, depth: int) -> list[Any]:
        self._enter(depth)
        members = []
        while not self._closed("]"):
            members.append(self._value(False, depth + 1))
        return members

    def _enter(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} levels of nesting")
        self.position += 1

    def _closed(self, bracket: str) -> bool:
        """Whether the closing bracket follows; steps over it, and over commas, which some templates write twice."""
        blank = _BLANK.match(self._text, self.position, self._limit)
        self.position = blank.end() if blank else self.position
        if self.position >= self._limit:
            self._fail(repr(bracket))
        if self._text[self.position] != bracket:
            return False
        self.position += 1
        return True

    def _key(self, names: bool) -> str:
        for mark in _MARKS:
            if self._text.startswith(mark, self.position):
                key = self._string(mark)
                if not self._text.startswith(":", self.position):
                    self._fail("':'")
                self.position += 1
                return key
        match = (_PROPERTY if names else _WORD).match(self._text, self.position, self._limit)
        if not match:
            self._fail("a key")
        self.position = match.end("key") + 1
        return match["key"]

    def _value(self, names: bool, depth: int) -> Any:
        char = self._text[self.position : self.position + 1]
        if char == "{":
            return self.object(names, depth)
        if char == "[":
            return self._list(depth)
        for mark in _MARKS:
            if self._text.startswith(mark, self.position):
                return self._string(mark)
        plain = _PLAIN.match(self._text, self.position, self._limit)
        if not plain:
            self._fail("a value")
        try:
            value = parse_literal(plain[0])
        except LiteralError:
            self._fail("a value")
        self.position = plain.end()
        return value

    def _string(self, mark: str) -> str:
        start = self.position + len(mark)
        end = self._text.find(mark, start, self._limit)
        if end < 0:
            self._fail(f"a closing {mark}")
        self.position = end + len(mark)
        return self._text[start:end]

    def _fail(self, expected: str) -> NoReturn:
        raise LiteralError(expected, min(self.position, len(self._text)))


FORM: Final = TextForm("declarations declaration:name{description, parameters} (Gemma 4, FunctionGemma)", find)
