"""Tools as Markdown: a heading or a bold name, a description, and the parameters in a list or a table.

::

    ### `get_weather`
    Gets the weather.

    **Parameters:**
    - `city` (string, required): The city.
    - `days` (integer, optional): How many days.

    ## search
    | name | type | required | description |
    |------|------|----------|-------------|
    | query | string | yes | The query. |

Lists may be nested. Of a key of which nothing is said it is unknown whether it is required.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, LiteralError
from lookup.forms.flat_keys import read_tool
from lookup.forms.form import TextForm, TextTool
from lookup.literals.literal_reader import parse_literal
from lookup.types.type_names import value_type

MAX_NESTING: Final = 8

_HEADING = re.compile(
    r"""[ \t]{0,3}(?:
        (?P<marks>\#{1,6})[ \t]+(?:\d{1,3}(?:\.\d{1,3})*[.)][ \t]+)?
            (?:(?P<kind>Tool|Function|API|Command|Name)(?:[ ][Nn]ame)?[ \t]*:[ \t]*)?
            (?P<ticks>[`*_"]{0,3})(?P<titled>[^\W\d][\w.\-/]{0,199})(?P<list>\([^\n]{0,300}\))?[`*_"]{0,3}[ \t]*:?
      | (?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?
            (?P<plain>[*_]{0,2}(?:Tool|Function|API)?[ ]?[Nn]ame[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*)
            [`"']?(?P<named>[^\W\d][\w.\-/]{0,199})[`"']?
      | (?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?
            (?:\*\*`?(?P<bold>[^\W\d][\w.\-/]{0,199})`?(?:\([^\n]{0,300}\))?\*\*|`(?P<code>[^\W\d][\w.\-/]{0,199})`)
            (?:[ \t]*[:\u2013\u2014-][ \t]*(?P<text>[^\n]*))?
    )[ \t]*\r?""",
    re.VERBOSE,
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]")
_LABEL = re.compile(
    r"""[ \t]*(?:[-*+][ \t]+|\#{1,6}[ \t]+)?[*_`]{0,3}(?:Input[ ])?(?:Required[ ]|Optional[ ])?
        (?:Parameters?|Arguments?|Args|Inputs?|Params?|Fields|Properties)(?:[ ]\([^()\n]{1,40}\))?
        [*_`]{0,3}[ \t]*:?[*_`]{0,3}
        [ \t]*(?P<none>\(?[*_]?(?:[Nn]one|N/A|n/a|[Nn]o[ ]parameters)[*_]?\)?\.?)?[ \t]*\r?""",
    re.VERBOSE,
)
_NO_PARAMETERS = re.compile(
    r"[ \t]*[*_(]{0,2}(?:This (?:tool|function) takes )?[Nn]o (?:parameters|arguments|input)[*_)]{0,2}\.?[ \t]*\r?"
)
_END_LABEL = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+)?[*_`]{0,3}(?:Returns?|Outputs?|Responses?|Examples?|Usage|Errors?|Raises|Notes?)[*_`]{0,3}"
    r"[ \t]*(?::[^\n]*|\(s\)[^\n]*)?\r?"
)
_DESCRIPTION = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}Description[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*")
_BULLET = re.compile(
    r"""(?P<indent>[ \t]*)(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+
        (?P<mark>[*_`"']{0,3})(?P<key>[^\s:`*"'()|,]{1,200})(?P<optional>\?)?[*_`"']{0,3}
        (?P<rest>(?:[ \t:(\u2013\u2014-][^\n]*)?)""",
    re.VERBOSE,
)
_TYPED = re.compile(
    r"[ \t]*[*_`]{0,2}[(\[<{](?P<inside>[^\n]{1,300}?)[)\]>}][*_`]{0,2}[ \t]*(?=[:\u2013\u2014.,-]|\Z|[A-Z ])"
)
_AFTER_COLON = re.compile(
    r"[ \t]*:[ \t]*[`*_]{0,2}(?P<type>[\w\[\]<>|]{1,60})[`*_]{0,2}[ \t]*(?:\((?P<inside>[^()\n]{1,200})\))?"
    r"[ \t]*(?=[:,.\u2013\u2014-]|\Z)"
)
_SEPARATOR = re.compile(r"[ \t]*[:\u2013\u2014,.-]?[ \t]*")
_ROW = re.compile(r"[ \t]*\|(?P<cells>[^\n]*)\|[ \t]*\r?")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?")
_DEFAULT = re.compile(r"default(?:s to)?[ \t]*[:=]?[ \t]*(?P<value>.+)", re.IGNORECASE)
_ENUM = re.compile(r"(?:enum|one of|(?:allowed |possible )?values|options)[ \t]*:?[ \t]*(?P<members>.+)", re.IGNORECASE)
_COLUMNS: Final[dict[str, str]] = {
    "name": "name", "parameter": "name", "parameter name": "name", "param": "name", "argument": "name", "arg": "name",
    "field": "name", "key": "name", "property": "name", "input": "name", "type": "type", "data type": "type",
    "datatype": "type", "required": "required", "required?": "required", "mandatory": "required",
    "optional": "optional", "optional?": "optional", "description": "description", "desc": "description",
    "details": "description", "meaning": "description", "notes": "description", "default": "default",
    "default value": "default", "enum": "enum", "allowed values": "enum", "values": "enum", "options": "enum",
}  # fmt: skip
_YES: Final = frozenset({"yes", "y", "true", "required", "x", "\u2713", "\u2714", "\u2705", "\u2714\ufe0f", "\u2611"})
_NO: Final = frozenset({"no", "n", "false", "optional", "", "-", "\u2013", "\u2014", "\u2717", "\u2718", "\u274c"})
_TITLES: Final = frozenset(
    {"parameters", "parameter", "arguments", "args", "inputs", "input", "returns", "name", "description"}
)


@dataclass
class _Tool:
    """A tool as far as its lines have been read."""

    name: str
    start: int
    sure: bool  # whether the heading says that it is the name of a tool, or its text looks like one
    level: int
    lines: list[str]
    end: int = 0
    item: int = -1  # how far the list is indented whose item the heading is
    keys: dict[str, Any] = field(default_factory=dict)
    labelled: bool = False
    closed: bool = False
    without_keys: bool = False
    path: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def tool(self) -> ToolSpec | None:
        """The tool, if its keys are documented."""
        if not self.keys and not (self.without_keys and self.sure):
            return None
        description = "\n".join(self.lines).strip()
        description = description[lead.end() :] if (lead := _DESCRIPTION.match(description)) else description
        try:
            return read_tool({"name": self.name, "description": description, "parameters": self.keys})
        except DocumentationError:
            return None


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text."""
    reader = _Lines()
    position = 0
    while position < len(text):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        finished = reader.read(text[position:line_end], position, line_end)
        if finished and (tool := finished.tool()):
            yield TextTool(tool, finished.start, finished.end)
        position = line_end + 1
    if reader.current and (tool := reader.current.tool()):
        yield TextTool(tool, reader.current.start, reader.current.end)


class _Lines:
    """Puts tools together line by line."""

    def __init__(self) -> None:
        self.current: _Tool | None = None
        self._columns: list[str] | None = None
        self._label: re.Match[str] | None = None
        self._fenced = False

    def read(self, line: str, start: int, end: int) -> _Tool | None:
        """Read a line; returns the tool that it ends, if it ends one."""
        if line.lstrip().startswith("```"):
            self._fenced = not self._fenced
            self._columns = None
            return None
        if self._fenced or len(line) > 5000:
            return None
        if self._take(line, end):
            return None
        heading = _HEADING.fullmatch(line)
        if heading and not _LABEL.fullmatch(line):
            tool = _begin(heading, start, end)
            if tool and self._begins(tool, heading):
                finished, self.current, self._columns = self.current, tool, None
                return finished
        tool = self.current
        if tool and not tool.closed and line.strip():
            if tool.keys or tool.labelled:
                # Any other text ends the parameters.
                tool.closed = not line.startswith((" ", "\t"))
            else:
                tool.lines.append(line.rstrip("\r"))
        elif tool and not tool.keys and not tool.labelled and tool.lines:
            tool.lines.append("")
        return None

    def _begins(self, tool: _Tool, heading: re.Match[str]) -> bool:
        """Whether a heading begins another tool rather than a section of the current one."""
        current = self.current
        if current is None or current.closed or tool.sure:
            return True
        return heading["marks"] is not None and tool.level <= current.level

    def _take(self, line: str, end: int) -> bool:
        """Whether the line belongs to the parameters of the current tool."""
        tool = self.current
        if tool is None or tool.closed:
            return False
        if not line.strip():
            self._columns = None
            return False
        if label := _LABEL.fullmatch(line):
            tool.labelled, tool.end, tool.path = True, end, []
            tool.without_keys = tool.without_keys or bool(label["none"])
            return True
        if _NO_PARAMETERS.fullmatch(line):
            tool.without_keys, tool.end = True, end
            return True
        if _END_LABEL.fullmatch(line) and (tool.keys or tool.labelled or line.lstrip().startswith("#")):
            tool.closed = True
            return True
        if row := _ROW.fullmatch(line):
            return self._row(tool, line, row, end)
        self._columns = None
        return _take_bullet(tool, line, end)

    def _row(self, tool: _Tool, line: str, row: re.Match[str], end: int) -> bool:
        if _RULE.fullmatch(line):
            return self._columns is not None
        cells = [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", row["cells"])]
        if self._columns is None:
            columns = [_COLUMNS.get(cell.strip("*_` ").lower(), "") for cell in cells]
            own = {"type", "required", "optional"} & set(columns) and (tool.sure or tool.labelled)
            if "name" not in columns or not (own or (tool.labelled and "description" in columns)):
                return False
            self._columns = columns
            return True
        words = dict(zip(self._columns, cells, strict=False))
        key = words.get("name", "").strip("`*\"' ")
        if not key or len(key) > 200:
            return False
        tool.keys.setdefault(key.removesuffix("?"), _row_spec(words))
        tool.end = end
        return True


def _begin(heading: re.Match[str], start: int, end: int) -> _Tool | None:
    name = heading["titled"] or heading["named"] or heading["bold"] or heading["code"]
    if name.lower() in _TITLES:
        return None
    like_code = not name.isalpha() or (name != name.capitalize() and not name.isupper() and not name.islower())
    said = heading["kind"] or heading["plain"] or heading["list"] or (heading["ticks"] or "").startswith("`")
    sure = bool(said) or like_code or name.islower() or heading["code"] is not None
    level = len(heading["marks"]) if heading["marks"] else 7
    tool = _Tool(name, start, sure, level, [heading["text"]] if heading["text"] else [])
    tool.end = end
    if item := _ITEM.match(heading.string):
        tool.item = len(item["indent"].expandtabs())
    return tool


def _take_bullet(tool: _Tool, line: str, end: int) -> bool:
    """Whether the line documents a key in a list."""
    bullet = _BULLET.fullmatch(line.rstrip("\r"))
    if not bullet:
        return False
    indent = len(bullet["indent"].expandtabs())
    if indent <= tool.item:
        return False
    spec = _bullet_spec(bullet["rest"])
    if spec is None or not (tool.labelled or (tool.sure and "type" in spec)):
        return False
    if bullet["optional"]:
        spec["required"] = False
    while tool.path and tool.path[-1][0] >= indent:
        tool.path.pop()
    if len(tool.path) >= MAX_NESTING:
        return False
    siblings = _inside(tool.path[-1][1]) if tool.path else tool.keys
    siblings.setdefault(bullet["key"].strip("`*"), spec)
    tool.path.append((indent, spec))
    tool.end = end
    return True


def _inside(spec: dict[str, Any]) -> dict[str, Any]:
    """The keys inside a key, of its elements if it is a list."""
    if value_type(str(spec.get("type", ""))).kind == "list":
        spec = spec.setdefault("items", {"type": "object"})
    spec.setdefault("type", "object")
    return spec.setdefault("properties", {})  # type: ignore[no-any-return]


def _bullet_spec(rest: str) -> dict[str, Any] | None:
    """What stands behind the name of a key: ``(string, required): text``, ``: string (required) - text``."""
    spec: dict[str, Any] = {}
    if typed := _TYPED.match(rest):
        _read_words(typed["inside"], spec)
        rest = rest[typed.end() :]
    elif (colon := _AFTER_COLON.match(rest)) and value_type(colon["type"]).kind != "any":
        spec["type"] = colon["type"]
        if colon["inside"]:
            _read_words(colon["inside"], spec)
        rest = rest[colon.end() :]
    separator = _SEPARATOR.match(rest)
    description = rest[separator.end() :].strip() if separator else rest.strip()
    if not spec and rest[:1] not in (":", " ", ""):
        return None
    spec["description"] = description
    return spec


def _read_words(written: str, spec: dict[str, Any]) -> None:
    """The words in brackets: a type, ``required`` or ``optional``, a default, an enum."""
    members: str | None = None
    for part in _split(written):
        word = part.strip().strip("`*_ ")
        if word.lower() in ("required", "mandatory"):
            spec["required"] = True
        elif word.lower() == "optional":
            spec["required"] = False
        elif default := _DEFAULT.match(word):
            spec["default"] = _literal(default["value"].strip("`* "))
            spec.setdefault("required", False)
        elif enum := _ENUM.match(word):
            members = enum["members"]
        elif members is not None:
            members += f", {part.strip()}"
        elif "type" not in spec:
            spec["type"] = word.removeprefix("type:").strip()
    if members and (found := _members(members)):
        spec["enum"] = found


def _split(written: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in enumerate(written):
        depth += (char in "([{<") - (char in ")]}>")
        if char in ",;" and depth <= 0:
            parts.append(written[start:index])
            start = index + 1
    return [*parts, written[start:]]


def _row_spec(words: dict[str, str]) -> dict[str, Any]:
    spec: dict[str, Any] = {"description": words.get("description", "")}
    if kind := words.get("type", "").strip("`* "):
        _read_words(kind, spec)
    for column, meaning in (("required", True), ("optional", False)):
        said = words.get(column, "?").strip("`*_ ").lower()
        if column in words and said in _YES | _NO:
            spec["required"] = (said in _YES) is meaning
    default = words.get("default", "").strip("`* ")
    if default not in ("", "-", "\u2013", "\u2014", "N/A", "n/a", "none", "None"):
        spec["default"] = _literal(default)
        spec.setdefault("required", False)
    if (members := words.get("enum", "")) and (found := _members(members)):
        spec["enum"] = found
    return spec


def _members(written: str) -> list[Any]:
    """The members of an enum in prose: ``a, b``, ``"a" | "b"``, ``[1, 2]``."""
    try:
        found = parse_literal(written)
        if isinstance(found, list):
            return found
    except LiteralError:
        pass
    parts = re.split(r"[ \t]*(?:,|\||/|\bor\b)[ \t]*", written.strip("[]() "))
    return [_literal(part.strip("`* ")) for part in parts if part.strip("`* ")]


def _literal(written: str) -> Any:
    try:
        return parse_literal(written)
    except LiteralError:
        return written


FORM: Final = TextForm("Markdown headings with lists or tables of parameters", find, fallback=True)
