"""Tools as objects of JavaScript: keys without quotes, quotes of any kind, trailing commas, comments.

::

    const tools = [{
      type: 'function',
      function: { name: 'search', description: "Searches.", parameters: { type: 'object', properties: {...} } },
    }];

Values that are no literals (functions, calls, names) are stepped over.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from lookup.errors import DocumentationError, LiteralError
from lookup.forms.form import TextForm, TextTool, has_name
from lookup.forms.json_schema import SCHEMA_KEYS, read_tool
from lookup.literals.literal_reader import parse_literal

MAX_DEPTH: Final = 32
_TIMES_THE_TEXT: Final = 4
"""How often objects that turn out to be no tools may be read, in lengths of the text."""

_START = re.compile(r"\{\s*+(?:name|type|function|description|parameters)\s*+:")
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_KEY = re.compile(r"[A-Za-z_$][\w$]{0,199}|\d{1,20}")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]{0,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?")
_WORDS: Final = {"true": True, "false": False, "null": None, "undefined": None}
_STRINGS: Final = {
    '"': re.compile(r'"(?:[^"\\\n]|\\.)*+"', re.DOTALL),
    "'": re.compile(r"'(?:[^'\\\n]|\\.)*+'", re.DOTALL),
    "`": re.compile(r"`(?:[^`\\]|\\.)*+`", re.DOTALL),
}
_OTHER = re.compile(r"""[^\s,{}()\[\]"'`]+""")
_CLOSERS: Final = {"{": "}", "[": "]", "(": ")"}


class _Opaque:
    """Stands for a value that is no literal."""


_OPAQUE: Final = _Opaque()


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text, each the object that names it; an object around it that only wraps it belongs to it."""
    if not _START.search(text):
        return
    tried: set[int] = set()
    position = 0
    left = _TIMES_THE_TEXT * len(text)
    while left > 0 and (match := _START.search(text, position)):
        start, position = match.start(), match.start() + 1
        if start in tried:
            continue
        reader = _Reader(text, start)
        try:
            value = reader.value(0)
        except LiteralError:
            tried |= reader.open
            left -= reader.position - start
            continue
        left -= reader.position - start
        tool = _tool(value)
        if tool:
            position = reader.position
            yield TextTool(tool, start, position)


def _tool(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return None
    wrapped = value.get("function")
    data = wrapped if isinstance(wrapped, Mapping) else value
    key = next((key for key in SCHEMA_KEYS if isinstance(data.get(key), Mapping)), None)
    if key is None or not has_name(data) or not isinstance(data[key].get("properties"), Mapping):
        return None
    try:
        return read_tool(_without_opaque(data))
    except DocumentationError:
        return None


def _without_opaque(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_opaque(member) for key, member in value.items() if member is not _OPAQUE}
    return [_without_opaque(m) for m in value if m is not _OPAQUE] if isinstance(value, list) else value


class _Reader:
    """Reads values from a position on; ``open`` holds where the brackets that are open began."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position
        self.open: set[int] = set()

    def value(self, depth: int) -> Any:
        """The value at the position.

        Raises
        ------
        LiteralError
            If a bracket or string is not closed, or a key is none.
        """
        if depth > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} levels of nesting")
        char = self._peek()
        if char == "{":
            found: Any = self._object(depth)
        elif char == "[":
            found = self._list(depth)
        elif char in _STRINGS:
            found = self._string()
        elif number := _NUMBER.match(self._text, self.position):
            self.position = number.end()
            found = self._number(number[0])
        else:
            name = _KEY.match(self._text, self.position)
            self.position = name.end() if name else self.position
            found = _WORDS.get(name[0], _OPAQUE) if name else _OPAQUE
        return found if self._ended(found) else _OPAQUE

    def _ended(self, found: Any) -> bool:
        """Step over what goes on behind a value, such as ``as const``; whether it is nothing but that."""
        plain = True
        while (char := self._peek()) not in (",", "}", "]", ")", ""):
            if char in _CLOSERS:
                self._skip_brackets(char)
            elif char in _STRINGS:
                self._string()
            elif other := _OTHER.match(self._text, self.position):
                self.position = other.end()
                if other[0] in ("as", "const", ";"):
                    continue
                if other[0] == "=>" and self._peek() == "{":
                    self._skip_brackets("{")
            plain = False
        return plain

    def _object(self, depth: int) -> dict[str, Any]:
        start = self._enter()
        members: dict[str, Any] = {}
        while self._peek() != "}":
            char = self._peek()
            if char in ('"', "'"):
                key = self._string()
            elif name := _KEY.match(self._text, self.position):
                key, self.position = name[0], name.end()
            elif self._text.startswith("...", self.position):
                self.position += 3
                self.value(depth + 1)
                self._comma("}")
                continue
            else:
                self._fail("a key")
            if self._peek() == ":":
                self.position += 1
                members.setdefault(str(key), self.value(depth + 1))
            else:
                self._ended(None)  # a method, or a name that stands for itself
            self._comma("}")
        self._leave(start)
        return members

    def _list(self, depth: int) -> list[Any]:
        start = self._enter()
        members = []
        while self._peek() != "]":
            members.append(self.value(depth + 1))
            self._comma("]")
        self._leave(start)
        return members

    def _comma(self, closer: str) -> None:
        if self._peek() == ",":
            self.position += 1
        elif self._peek() != closer:
            self._fail(f"',' or {closer!r}")

    def _enter(self) -> int:
        self.open.add(self.position)
        self.position += 1
        return self.position - 1

    def _leave(self, start: int) -> None:
        self.position += 1
        self.open.discard(start)

    def _skip_brackets(self, bracket: str) -> None:
        """Step over brackets and what is in them."""
        closers = [_CLOSERS[bracket]]
        self.position += 1
        while closers:
            char = self._peek()
            if not char:
                self._fail(repr(closers[-1]))
            if char in _STRINGS:
                self._string()
                continue
            if char in _CLOSERS:
                closers.append(_CLOSERS[char])
            elif char == closers[-1]:
                closers.pop()
            elif char in "}])":
                self._fail(repr(closers[-1]))
            other = _OTHER.match(self._text, self.position)
            self.position = other.end() if other else self.position + 1

    def _string(self) -> Any:
        match = _STRINGS[self._text[self.position]].match(self._text, self.position)
        if not match:
            self._fail("a closing quote")
        self.position = match.end()
        inside = match[0][1:-1]
        if match[0][0] == "`":
            inside = inside.replace("\\`", "`")
            quoted = '"' + inside.replace('"', '\\"').replace("\n", "\\n") + '"'
        else:
            quoted = match[0]
        try:
            found = parse_literal(quoted)
        except LiteralError:
            found = inside
        if match[0][0] == "`" and "${" in inside:
            found = _OPAQUE
        if self._peek() == "+":
            self.position += 1
            if self._peek() in _STRINGS:
                behind = self._string()
                return found + behind if isinstance(found, str) and isinstance(behind, str) else _OPAQUE
            return _OPAQUE
        return found

    def _number(self, written: str) -> Any:
        try:
            return parse_literal(written.replace("_", ""))
        except LiteralError:
            return _OPAQUE

    def _peek(self) -> str:
        """The character that follows white space and comments."""
        blank = _BLANK.match(self._text, self.position)
        self.position = blank.end() if blank else self.position
        return self._text[self.position : self.position + 1]

    def _fail(self, expected: str) -> NoReturn:
        raise LiteralError(expected, self.position)


FORM: Final = TextForm("objects of JavaScript {name: 'f', description, parameters: {properties}}", find)
