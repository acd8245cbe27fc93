"""ToolAlpaca's tools: a line with the name, and an object whose values say everything of a key in prose.

Its ``NLDocumentation``, also with the doubled braces of a prompt template::

    getRates: Retrieve exchange rates.
    Parameters: {"base": "Required. string. The base currency.", "symbols": "string. One of: [EUR, USD]."}
    Output: Successful response.
     - Format: application/json
     - Structure: Array[Object{symbol, price}]

its ``Function_Description``, ``{"getRates": "Retrieve exchange rates.\\nParameters: {...}\\nOutput: ..."}``, and its
``Functions``::

    1. Name: getRates
       Description: Retrieve exchange rates.
       Input: {"base": "Required. String. The base currency.", "symbols": "Optional. String. The currencies."}
       Output: An array of rates.

In the first two only required keys are marked, so one without marker is optional. ``Functions`` marks every key one
way or the other (all of ``eval_simulated``), so one without marker says nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.corpora.prose_keys import opens_with_type, read_prose
from lookup.forms.form import ObjectForm, TextForm, TextTool
from lookup.messages import found_at
from lookup.values.literal_reader import read_literal

_COMPONENTS: Final = "components"

_BULLET: Final = r"(?:(?:[-*•]|\d{1,4}[.)])[ \t]++)?"
_LINE = re.compile(
    rf"""[ \t]*+(?:
        (?P<keys>Parameters|Input)[ \t]*+:[ \t]*+(?=(?P<object>\{{)|(?P<none>(?i:none|null|n/a|-))?[ \t]*\r?\Z)
      | (?P<output>Output)[ \t]*+:
      | -[ \t]*+(?P<detail>Format|Structure)[ \t]*+:
      | Description[ \t]*+:(?P<description>.*+)
      | {_BULLET}(?:Name|Tool|Function|API)(?:[ ][Nn]ame)?[ \t]*+:[ \t]*+(?P<named>[^\s{{]++)[ \t]*+\r?\Z
      | {_BULLET}(?P<titled>[^\s:"'`,;(){{}}\[\]\#*<>-][^\s:"'`,;()<>]{{0,200}})[ \t]*+:(?:[ \t](?P<title>.*+)|\r?\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
# Words before a colon that begin a line of a log or of a description.
_NO_NAMES: Final = frozenset(
    {"action", "actions", "answer", "api", "args", "arguments", "assistant", "call", "default", "error", "example"}
    | {"examples", "final", "format", "function", "functions", "human", "note", "notes", "observation", "query"}
    | {"question", "request", "required", "response", "result", "returns", "step", "structure", "system", "thought"}
    | {"tip", "tool", "tools", "type", "user", "warning"}
)
_OBJECT_BELOW = re.compile(r"[ \t\r\n]{0,40}\{")
_NEXT = re.compile(r"^[ \t]*+(?:Output|Parameters|Input|(?:\d{1,4}[.)][ \t]++)?Name)[ \t]*+:", re.MULTILINE)
_KEYS_IN_VALUE = re.compile(r"(?:\A|\n)[ \t]*+Parameters[ \t]*+:[ \t]*+(?=\{)")
# The beginning of an object of prose, for one that cannot be read.
_FIRST_KEY = re.compile(r'\{{1,2}\s*+"[^"\n]{1,200}+"\s*+:\s*+"([^"\n]{1,200}+)')


@dataclass
class _Head:
    """The lines above the keys of a tool: its name and what may be its description.

    ``numbered`` says that the name stands behind ``Name:``, as in ``Functions``; ``sure`` that the line follows the
    last one of a tool, so that no later line is the name.
    """

    name: str
    start: int
    lines: list[str]
    numbered: bool
    sure: bool = False
    described: bool = False


@dataclass
class _Found:
    """A tool whose output may still follow; not ``confirmed`` is one that looks like a call so far."""

    tool: ToolSpec | MisreadError
    start: int
    end: int
    confirmed: bool
    in_output: bool = False


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text; where the values are no prose, as in a call or a JSON Schema, there is none."""
    if "Parameters" not in text and "Input" not in text:
        return
    reader = _LineReader(text)
    position = 0
    while position < len(text):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        read_to = reader.read(position, line_end)
        if read_to > line_end:
            line_end = text.find("\n", read_to)
            line_end = len(text) if line_end < 0 else line_end
        position = line_end + 1
        yield from reader.complete()
    reader.close()
    yield from reader.complete()


class _LineReader:
    """Puts tools together line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._head: _Head | None = None
        self._found: _Found | None = None
        self._complete: list[TextTool] = []
        self._after_last = False  # whether the line above is the last one of a tool

    def complete(self) -> list[TextTool]:
        """The tools that no later line belongs to, each given once."""
        complete, self._complete = self._complete, []
        return complete

    def close(self) -> None:
        """No further line belongs to the tool that was found last."""
        if self._found and self._found.confirmed:
            self._complete.append(TextTool(self._found.tool, self._found.start, self._found.end))
        self._found = None

    def read(self, start: int, end: int) -> int:
        """Read one line; returns the offset behind what was read, as an object can go over several lines."""
        line = self._text[start:end]
        match = _LINE.match(line)
        after_last, self._after_last = self._after_last, False
        if match is None:
            self._read_text(line, end)
        elif match["output"] or match["detail"]:
            self._read_output(match["detail"], end)
        elif match["keys"]:
            self.close()
            head, self._head = self._head, None
            below = None if match["object"] or match["none"] else _OBJECT_BELOW.match(self._text, end)
            if head and (match["object"] or below):
                position = below.end() - 1 if below else start + match.end()
                self._found = _read_tool(self._text, position, head)
            elif head and match["none"]:
                self._found = _without_keys(head, end)
            return max(end, self._found.end) if self._found else end
        elif match["description"] is not None:
            if self._head:
                self._head.lines.append(match["description"])
                self._head.described = True
        elif match["named"]:
            self._begin(_Head(match["named"], start, [], numbered=True))
        elif match["titled"].lower() in _NO_NAMES:
            self._read_text(line, end)
        elif self._head and self._head.sure:
            self._head.lines.append(line)
        else:
            self._begin(_Head(match["titled"], start, [match["title"] or ""], numbered=False, sure=after_last))
        return end

    def _begin(self, head: _Head) -> None:
        self.close()
        self._head = head

    def _read_text(self, line: str, end: int) -> None:
        if not line.strip():
            self._head = self._head if self._head and self._head.numbered else None
            self.close()
        elif self._head:
            self._head.lines.append(line)
        elif self._found and self._found.in_output:
            self._found.end = end

    def _read_output(self, detail: str | None, end: int) -> None:
        found = self._found
        if found is None:
            return
        found.end, found.in_output = end, True
        # A logged call has an output, too, but no structure of it.
        without_keys = isinstance(found.tool, ToolSpec) and not found.tool.parameters
        found.confirmed = found.confirmed or detail is not None or without_keys
        self._after_last = detail == "Structure"


def _without_keys(head: _Head, end: int) -> _Found | None:
    if head.numbered and not head.described:
        return None
    return _Found(ToolSpec(head.name, _description(head)), head.start, end, head.described)


def _description(head: _Head) -> str:
    return "\n".join(line.rstrip("\r") for line in head.lines).strip()


def _read_tool(text: str, position: int, head: _Head) -> _Found | None:
    """The tool whose object of keys starts at ``position``; ``None`` if the object is none of prose."""
    try:
        values, end = _read_object(text, position)
    except LiteralError as error:
        first = _FIRST_KEY.match(text, position)
        if not first or not opens_with_type(first[1]):
            return None
        message = f"tool {head.name!r}: expected {error.expected}, found {found_at(text, error.position)}"
        return _Found(MisreadError(message, error.position), head.start, error.position, confirmed=True)
    if not _is_prose(values):
        return None
    if not values:
        return _without_keys(head, end)
    habit = None if head.numbered else False
    parameters = tuple(read_prose(key, prose, habit) for key, prose in values.items())
    confirmed = head.described or any(map(opens_with_type, values.values()))
    return _Found(ToolSpec(head.name, _description(head), parameters), head.start, end, confirmed)


def _read_object(text: str, position: int) -> tuple[Any, int]:
    """The object that starts at ``position``, also with all of its braces doubled, and the offset behind it.

    Raises
    ------
    LiteralError
        As ``read_literal``.
    """
    # Bounded by the next line of a tool, so that no stretch of a text is read twice.
    following = _NEXT.search(text, position)
    stretch = text[position : following.start() if following else len(text)]
    doubled = stretch.startswith("{{")
    try:
        value, end = read_literal(stretch, 1 if doubled else 0)
        if doubled and not stretch.startswith("}", end):
            raise LiteralError("'}'", end)
    except LiteralError as error:
        raise LiteralError(error.expected, position + error.position) from None
    if doubled and isinstance(value, dict):
        value = {_single(key): _single(prose) for key, prose in value.items()}
    return value, position + end + doubled


def _single(value: Any) -> Any:
    return value.replace("{{", "{").replace("}}", "}") if isinstance(value, str) else value


def _is_prose(value: object) -> bool:
    """Whether every key has a text; ``{"type": "object"}`` is a JSON Schema without keys."""
    if not isinstance(value, dict) or value.get("type") == "object":
        return False
    return all(isinstance(key, str) and key and isinstance(prose, str) for key, prose in value.items())


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object maps names of tools to their documentation."""
    names = [name for name in data if name != _COMPONENTS]
    if not names or not all(isinstance(key, str) and isinstance(text, str) for key, text in data.items()):
        return False
    # Several tools in one text are a text, not the documentation of one.
    return all(len(_KEYS_IN_VALUE.findall(data[name])) == 1 for name in names)


def read(data: Mapping[str, Any]) -> Iterator[tuple[ToolSpec, Mapping[str, Any]]]:
    """The tools of a ``Function_Description``; its ``components`` describe outputs.

    Raises
    ------
    DocumentationError
        If an object of keys is malformed or holds anything but texts.
    """
    for name, text in data.items():
        keys = _KEYS_IN_VALUE.search(text)
        if name == _COMPONENTS or keys is None:
            continue
        try:
            values, _ = _read_object(text, keys.end())
        except LiteralError as error:
            found = found_at(text, error.position)
            raise DocumentationError(f"tool {name!r}, Parameters: expected {error.expected}, found {found}") from None
        if not _is_prose(values):
            raise DocumentationError(f"tool {name!r}, Parameters: expected an object of texts")
        parameters = tuple(read_prose(key, prose, habit=False) for key, prose in values.items())
        yield ToolSpec(name, text[: keys.start()].strip(), parameters), data


FORM: Final = TextForm("tools with keys in prose, 'Parameters: {key: \"Required. string. ...\"}' (ToolAlpaca)", find)
OBJECT_FORM: Final = ObjectForm('objects of tools {name: "...\\nParameters: {...}"} (ToolAlpaca)', claims, read)
