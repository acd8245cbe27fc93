'''BFCL's tools as Python docstrings.

The benchmark prints this for ``python`` in its test of prompt formats::

    # Function: uber.ride
        """
        Finds a ride.

        Args:
            loc (dict): Where to start.
                lat (float): Latitude.
            type (str, default='plus'): The ride. Enum values: ['plus', 'comfort'].
        """

A default makes a key optional; otherwise the form does not say what is required. Nothing is escaped: a line that does
not look like a key with the right indentation belongs to the description above it.
'''

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lookup.dictionary import MISSING, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.corpora.bfcl_keys import split_enum, with_keys
from lookup.forms.form import TextForm, TextTool
from lookup.literals.literal_reader import read_literal
from lookup.messages import found_at
from lookup.parameters.plain_values import plain_value
from lookup.parameters.requiredness import decide
from lookup.types.type_names import value_type

_MAX_NESTING: Final = 16
_MAX_BRACKETS: Final = 8
_STEP: Final = 4
_MAX_TYPE_LENGTH: Final = 1000

_HEADING = re.compile(r'^[ \t]*+#[ \t]*+Function:[ \t]*+(?P<name>\S[^\n]*)\n\s*+(?P<quotes>""")', re.MULTILINE)
_CLOSING = re.compile(r'^[ \t]*+"""[ \t]*+\r?$', re.MULTILINE)
_SECTION = re.compile(r"(?:Returns?|Yields?|Raises|Examples?|Notes?):")
_DEFAULT: Final = ", default="


@dataclass
class _Key:
    """A key and the lines of its description read so far."""

    name: str
    raw_type: str
    default: Any
    lines: list[str]
    keys: "dict[str, _Key]" = field(default_factory=dict)

    def spec(self) -> ParameterSpec:
        description, enum = split_enum("\n".join(self.lines).rstrip())
        required, rule = decide(description=description, has_default=self.default is not MISSING)
        nested = tuple(key.spec() for key in self.keys.values()) or None
        kind = with_keys(value_type(self.raw_type), nested)
        return ParameterSpec(self.name, kind, self.raw_type, required, description, enum, self.default, rule)


class _Default(NamedTuple):
    value: Any
    end: int
    readable: bool


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text. A heading without a docstring is not a tool."""
    if "# Function:" not in text and "#Function:" not in text:
        return
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=False):
        name, opening, start = heading["name"].strip(), heading.start("quotes"), heading.end()
        closing = _CLOSING.search(text, start, end)
        body_end = closing.start() if closing else text.find('"""', start, end)
        if body_end >= 0:
            indent = opening - (text.rfind("\n", 0, opening) + 1)
            tool = _read(name, text[start:body_end], indent)
            yield TextTool(tool, heading.start(), closing.end() if closing else body_end + 3)
        elif text[start:end].strip():
            message = f'tool {name!r}: expected a closing """, found {found_at(text, end)}'
            yield TextTool(MisreadError(message, opening), heading.start(), end)


def _read(name: str, body: str, indent: int) -> ToolSpec:
    """The tool of a docstring whose quotes are indented by ``indent`` characters."""
    lines = [line.removesuffix("\r") for line in body.split("\n")]
    section = _arguments(lines, indent)
    description = "\n".join(lines[:section]).strip()
    reader = _KeyReader(f"tool {name!r}", indent + _STEP)
    for number in range(section + 1, len(lines)):
        if _indent(lines[number]) == indent and _SECTION.match(lines[number], indent):
            break
        reader.read(lines[number])
    return ToolSpec(name, description, tuple(key.spec() for key in reader.keys.values()), notes=tuple(reader.notes))


def _arguments(lines: list[str], indent: int) -> int:
    """The number of the last line ``Args:``. A description may contain earlier ones."""
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].rstrip() == f"{lines[number][:indent]}Args:" and _indent(lines[number]) == indent:
            return number
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


class _KeyReader:
    """Reads the lines under ``Args:``. The outermost keys are indented by ``margin`` characters."""

    def __init__(self, owner: str, margin: int) -> None:
        self.keys: dict[str, _Key] = {}
        self.notes: list[str] = []
        self._owner = owner
        self._margin = margin
        self._path: list[_Key] = []
        self._text: list[str] | None = None  # the description that a line without a key continues

    def read(self, line: str) -> None:
        level, beside = divmod(_indent(line) - self._margin, _STEP)
        key = None
        if not beside and 0 <= level <= len(self._path) and level < _MAX_NESTING:
            key = self._key(line.lstrip(" \t"))
        if key is None:
            if self._text is not None:
                self._text.append(line)
            elif line.strip():
                self.notes.append(f"{self._owner}: no key in the line under 'Args:': {line.strip()[:80]!r}")
            return
        siblings = self._path[level - 1].keys if level else self.keys
        if key.name in siblings:
            self.notes.append(f"{self._owner}, parameter {key.name!r}: documented twice; the first one is taken")
        siblings.setdefault(key.name, key)
        self._path[level:] = [key]
        self._text = key.lines

    def _key(self, line: str) -> _Key | None:
        """The key of a line ``key (type, default=...): text``. Any part may contain brackets."""
        bracket = 0
        for _ in range(_MAX_BRACKETS):
            bracket = line.find(" (", bracket + 1)
            if bracket < 0:
                return None
            if key := self._key_before(line, bracket):
                return key
        return None

    def _key_before(self, line: str, bracket: int) -> _Key | None:
        start = bracket + 2
        end = line.find("):", start)
        if end < 0:
            return None
        named = line.find(_DEFAULT, start, end)
        raw_type = line[start : named if named >= 0 else end]
        if len(raw_type) > _MAX_TYPE_LENGTH or not _is_balanced(raw_type):
            return None
        name = line[:bracket]
        default: Any = MISSING
        if named >= 0:
            found = _default(line, named + len(_DEFAULT), end)
            default, end = found.value, found.end
            if not found.readable:
                self.notes.append(f"{self._owner}, parameter {name!r}: the default is no literal: {default!r}")
        return _Key(name, raw_type, default, [line[end + 2 :].strip()])


def _default(line: str, start: int, end: int) -> _Default:
    """The literal at ``start`` if ``):`` follows it; otherwise the text up to ``end``."""
    try:
        value, behind = read_literal(line, start)
        if line.startswith("):", behind):
            return _Default(plain_value(value, "default", ""), behind, True)
    except (LiteralError, DocumentationError):
        pass
    return _Default(line[start:end], end, False)


def _is_balanced(written: str) -> bool:
    depth = 0
    for char in written:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


FORM: Final = TextForm("Python docstrings under '# Function: name' (BFCL)", find)
