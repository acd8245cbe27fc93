"""ToolAlpaca's tools: a line with the name, and an object with one text for each key.

Its ``NLDocumentation``, which may have the doubled braces of a prompt template::

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

The first two mark required keys only, so a key without a marker is optional. ``Functions`` marks every key (all of
``eval_simulated``), so a key without a marker is unknown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.corpora.prose_keys import is_prose, opens_with_type, read_keys, read_object
from lookup.forms.form import ObjectForm, TextForm, TextTool
from lookup.messages import found_at
from lookup.scanning import end_of_line

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
# Words before a colon in logs and descriptions. They are not names of tools.
_NO_NAMES: Final = frozenset(
    {"action", "actions", "answer", "api", "args", "arguments", "assistant", "call", "default", "error", "example"}
    | {"examples", "final", "format", "function", "functions", "human", "note", "notes", "observation", "query"}
    | {"question", "request", "required", "response", "result", "returns", "step", "structure", "system", "thought"}
    | {"tip", "tool", "tools", "type", "user", "warning"}
)
_OBJECT_BELOW = re.compile(r"[ \t\r\n]{0,40}\{")
_KEYS_IN_VALUE = re.compile(r"(?:\A|\n)[ \t]*+Parameters[ \t]*+:[ \t]*+(?=\{)")
# The beginning of a malformed object of prose.
_FIRST_KEY = re.compile(r'\{{1,2}\s*+"[^"\n]{1,200}+"\s*+:\s*+"([^"\n]{1,200}+)')


@dataclass
class _Head:
    """The lines above the keys of a tool: its name and possibly its description.

    Attributes
    ----------
    numbered : bool
        Whether the name is behind ``Name:``, as in ``Functions``.
    sure : bool
        Whether the line follows the last line of another tool, so that no later line is the name.
    """

    name: str
    start: int
    lines: list[str]
    numbered: bool
    sure: bool = False
    described: bool = False


@dataclass
class _Found:
    """A tool whose output may follow. Until it is ``confirmed``, it may be a call."""

    tool: ToolSpec | MisreadError
    start: int
    end: int
    confirmed: bool
    in_output: bool = False


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text. An object whose values are not prose is a call or a JSON Schema, not a tool."""
    if "Parameters" not in text and "Input" not in text:
        return
    reader = _LineReader(text)
    position = 0
    while position < len(text):
        read_to = reader.read(position, end_of_line(text, position))
        position = end_of_line(text, read_to) + 1
        yield from reader.complete()
    reader.close()
    yield from reader.complete()


class _LineReader:
    """Reads tools line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._head: _Head | None = None
        self._found: _Found | None = None
        self._complete: list[TextTool] = []
        self._after_last = False  # whether the previous line is the last one of a tool

    def complete(self) -> list[TextTool]:
        """The tools that were completed since the last call."""
        complete, self._complete = self._complete, []
        return complete

    def close(self) -> None:
        """Complete the current tool."""
        if self._found and self._found.confirmed:
            self._complete.append(TextTool(self._found.tool, self._found.start, self._found.end))
        self._found = None

    def read(self, start: int, end: int) -> int:
        """Read one line, or more if it contains an object. Return the offset behind what was read."""
        line = self._text[start:end]
        match = _LINE.match(line)
        after_last, self._after_last = self._after_last, False
        if match is None or (match["titled"] or "").lower() in _NO_NAMES:
            self._read_text(line, end)
        elif match["output"] or match["detail"]:
            self._read_output(match["detail"], end)
        elif match["keys"]:
            return self._read_keys(match, start, end)
        elif match["description"] is not None:
            if self._head:
                self._head.lines.append(match["description"])
                self._head.described = True
        elif match["named"]:
            self._begin(_Head(match["named"], start, [], numbered=True))
        elif self._head and self._head.sure:
            self._head.lines.append(line)
        else:
            self._begin(_Head(match["titled"], start, [match["title"] or ""], numbered=False, sure=after_last))
        return end

    def _read_keys(self, match: re.Match[str], start: int, end: int) -> int:
        """Read the object behind ``Parameters:`` or ``Input:``, in this line or below."""
        self.close()
        head, self._head = self._head, None
        below = None if match["object"] or match["none"] else _OBJECT_BELOW.match(self._text, end)
        if head and (match["object"] or below):
            position = below.end() - 1 if below else start + match.end()
            self._found = _read_tool(self._text, position, head)
        elif head and match["none"]:
            self._found = _without_keys(head, end)
        return max(end, self._found.end) if self._found else end

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
        # A logged call also has an output, but without its structure.
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
    """The tool whose keys are at ``position``; ``None`` if the object is not prose."""
    try:
        values, end = read_object(text, position)
    except LiteralError as error:
        first = _FIRST_KEY.match(text, position)
        if not first or not opens_with_type(first[1]):
            return None
        message = f"tool {head.name!r}: expected {error.expected}, found {found_at(text, error.position)}"
        return _Found(MisreadError(message, error.position), head.start, error.position, confirmed=True)
    if not is_prose(values):
        return None
    if not values:
        return _without_keys(head, end)
    habit = None if head.numbered else False
    parameters = read_keys(values, habit)
    confirmed = head.described or any(map(opens_with_type, values.values()))
    return _Found(ToolSpec(head.name, _description(head), parameters), head.start, end, confirmed)


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object maps names of tools to their documentation."""
    names = [name for name in data if name != _COMPONENTS]
    if not names or not all(isinstance(key, str) and isinstance(text, str) for key, text in data.items()):
        return False
    # A text with several tools is not the documentation of one.
    return all(len(_KEYS_IN_VALUE.findall(data[name])) == 1 for name in names)


def read(data: Mapping[str, Any]) -> Iterator[tuple[ToolSpec, Mapping[str, Any]]]:
    """The tools of a ``Function_Description``. Its ``components`` describe outputs.

    Raises
    ------
    DocumentationError
        If an object of keys is malformed or contains anything but texts.
    """
    for name, text in data.items():
        keys = _KEYS_IN_VALUE.search(text)
        if name == _COMPONENTS or keys is None:
            continue
        try:
            values, _ = read_object(text, keys.end())
        except LiteralError as error:
            found = found_at(text, error.position)
            raise DocumentationError(f"tool {name!r}, Parameters: expected {error.expected}, found {found}") from None
        if not is_prose(values):
            raise DocumentationError(f"tool {name!r}, Parameters: expected an object of texts")
        parameters = read_keys(values, habit=False)
        yield ToolSpec(name, text[: keys.start()].strip(), parameters), data


FORM: Final = TextForm("tools with keys in prose, 'Parameters: {key: \"Required. string. ...\"}' (ToolAlpaca)", find)
OBJECT_FORM: Final = ObjectForm('objects of tools {name: "...\\nParameters: {...}"} (ToolAlpaca)', claims, read)
