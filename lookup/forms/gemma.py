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
from lookup.scanning import bounded

MAX_DEPTH: Final = 32

_START = re.compile(
    r"""(?:<\|tool>|<start_function_declaration>)\s*declaration:(?P<name>[^{}<>\n]{1,200}?)\s*\{|
        (?<![\w:])declaration:(?P<other>[\w.-]{1,200})\{(?=description:(?:<escape>|<\|"\|>))""",
    re.VERBOSE,
)
_END = re.compile(r"\s*(?:<tool\|>|<end_function_declaration>)?")
_MARK = re.compile(r'<\|"\|>|<escape>')
_BLANK = re.compile(r"[\s,]*")
# The name of a key of a tool reaches to the brace of its schema.
_PROPERTY = re.compile(r"(?P<key>[^\n]{1,200}?):\{")
_WORD = re.compile(r"(?P<key>[^:{}\[\],<>\n]{1,200}):")
_PLAIN = re.compile(r"[^,{}\[\]<>\n]{1,100}")
_MAPS_OF_NAMES: Final = ("properties", "$defs", "definitions", "patternProperties")
_VALUES: Final = ("enum", "default", "const", "required")
_WORDS_OF_SCHEMAS: Final = frozenset(
    {"additionalProperties", "anyOf", "oneOf", "allOf", "default", "enum", "examples", "title", "items", "$ref"}
    | {"minProperties", "maxProperties", "patternProperties", "propertyNames"}
)
_TYPES_LIST = re.compile(r"\[[\w', ]{0,200}\]")


def find(text: str) -> Iterator[TextTool]:
    """The declarations of a text."""
    if "declaration:" not in text:
        return
    for match, limit in bounded(_START, text):
        name = match["name"] or match["other"]
        reader = _Reader(text, match.end() - 1, limit)
        tool: ToolSpec | MisreadError
        try:
            declared = reader.value(names=False, depth=0)
            schema = _plain(declared.get("parameters") or {})
            description = declared.get("description", "")
            tool = read_schema_tool({"name": name, "description": description, "parameters": schema})
        except LiteralError as error:
            message = f"tool {name!r}: expected {error.expected}, found {found_at(text, error.position)}"
            tool = MisreadError(message, error.position)
        except DocumentationError as error:
            tool = MisreadError(str(error), match.start())
        ending = _END.match(text, reader.position)
        yield TextTool(tool, match.start(), ending.end() if ending else reader.position)


def _plain(schema: Any, names: bool = False) -> Any:
    """The schema with types in lower case; ``names`` says that its keys are the names of keys of a tool."""
    if isinstance(schema, list):
        return [_plain(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if names:
            plain[key] = _plain(value)
        elif key == "type":
            plain[key] = _type(value)
        else:
            plain[key] = value if key in _VALUES else _plain(value, names=key in _MAPS_OF_NAMES)
    keys = plain.get("properties")
    if not names and isinstance(keys, dict) and keys and _WORDS_OF_SCHEMAS.issuperset(keys):
        # Of an object without keys, the templates print the other words of its schema as if they were keys.
        del plain["properties"]
        extra = keys.get("additionalProperties")
        if isinstance(extra, dict) and extra.get("type"):
            plain["additionalProperties"] = extra
    return plain


def _type(written: Any) -> Any:
    """A type, or a list of types, which some templates print as Python does."""
    if isinstance(written, list):
        return [_type(member) for member in written]
    if not isinstance(written, str):
        return _plain(written)
    if not _TYPES_LIST.fullmatch(written):
        return written.lower()
    try:
        return _type(parse_literal(written))
    except LiteralError:
        return written


class _Reader:
    """Reads the values of one declaration."""

    def __init__(self, text: str, position: int, limit: int) -> None:
        self._text = text
        self.position = position
        self._limit = limit

    def value(self, names: bool, depth: int) -> Any:
        """The value at the position; ``names`` says that the keys of an object are the names of keys of a tool."""
        char = self._text[self.position : self.position + 1]
        if char in ("{", "["):
            if depth > MAX_DEPTH:
                self._fail(f"at most {MAX_DEPTH} levels of nesting")
            self.position += 1
            return self._object(names, depth) if char == "{" else self._list(depth)
        if mark := _MARK.match(self._text, self.position):
            return self._text_between(mark[0])
        plain = _PLAIN.match(self._text, self.position, self._limit)
        try:
            value = parse_literal(plain[0] if plain else "")
        except LiteralError:
            self._fail("a value")
        self.position += len(plain[0]) if plain else 0
        return value

    def _object(self, names: bool, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closed("}"):
            key = self._key(names)
            if key in members:
                self._fail("a new key")
            members[key] = self.value(not names and key in _MAPS_OF_NAMES, depth + 1)
        return members

    def _list(self, depth: int) -> list[Any]:
        members = []
        while not self._closed("]"):
            members.append(self.value(False, depth + 1))
        return members

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
        if mark := _MARK.match(self._text, self.position):
            key = self._text_between(mark[0])
            if not self._text.startswith(":", self.position):
                self._fail("':'")
            self.position += 1
            return key
        match = (_PROPERTY if names else _WORD).match(self._text, self.position, self._limit)
        if not match:
            self._fail("a key")
        self.position = match.end("key") + 1
        return match["key"]

    def _text_between(self, mark: str) -> str:
        """The text between two marks, of which the first is at the position."""
        start = self.position + len(mark)
        end = self._text.find(mark, start, self._limit)
        if end < 0:
            self._fail(f"a closing {mark}")
        self.position = end + len(mark)
        return self._text[start:end]

    def _fail(self, expected: str) -> NoReturn:
        raise LiteralError(expected, min(self.position, len(self._text)))


FORM: Final = TextForm("declarations declaration:name{description, parameters} (Gemma 4, FunctionGemma)", find)
