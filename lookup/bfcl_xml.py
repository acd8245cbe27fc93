"""BFCL's tools as XML.

What the benchmark prints for ``xml`` in its test of prompt formats::

    <function name="uber.ride">
      <desc>Finds a ride.</desc>
      <params>
        <param name="loc" type="dict" required="true" default="{'lat': 1.5 'long': 2}">
          <desc>Where to start.</desc>
          <params>
            <param name="lat" type="float" required="true">
              <desc>Latitude.</desc>
            </param>
          </params>
        </param>
      </params>
    </function>

It is no XML: nothing is escaped, a default stands as Python's ``repr`` between the quotes, whatever quotes it holds itself,
and the commas of the opening tag are deleted, those inside texts for good. ``required`` is taken as printed; where some
keys of a tool have it, a key without it is optional.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lookup.errors import DocumentationError, LiteralError
from lookup.forms import MisreadError, TextForm, TextTool, found_at
from lookup.literals import MAX_DEPTH, read_literal
from lookup.prose_type import split_enum, with_keys
from lookup.property_reader import plain_value
from lookup.requiredness import decide, own_flag
from lookup.schema import MISSING, ParameterSpec, ToolSpec
from lookup.type_names import value_type

_MAX_NESTING: Final = 16

_TAG = re.compile(
    r"<(?P<close>/?)(?:(?P<tool>function|tool|api)|(?P<keys>params|parameters)|(?P<key>param|parameter)"
    r"|(?P<text>desc|description))(?=[\s/>])"
)
_ATTRIBUTE = re.compile(
    r"""\s*+,?\s*+(?P<name>[\w:.-]++)(?:\s*+=\s*+(?:(?P<quote>["'])|(?P<bare>[^\s"'<>/]++)))?"""
)
_TAG_END = re.compile(r"\s*+(?P<empty>/?)>")
# A quote closes a value if another attribute or the end of the tag follows it.
_CLOSING: Final = {
    quote: re.compile(rf"{quote}(?=\s*+/?>|,?\s++[\w:.-]++\s*+(?:=|/?>))") for quote in ("'", '"')
}
_BETWEEN = re.compile(r"[\s,]*+")
_TAKEN: Final = frozenset({"name", "type", "required", "optional", "default", "description", "desc"})
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}


class _Open(NamedTuple):
    """An opening tag: its attributes, the offset behind it, and whether it closes itself."""

    attributes: dict[str, Any]
    end: int
    empty: bool


@dataclass
class _Element:
    """A tool or a key as far as it has been read; ``start`` is the offset of its tag, ``content`` the one behind it."""

    name: str
    attributes: dict[str, Any]
    start: int
    content: int
    description: str | None = None
    keys: "list[_Element] | None" = None
    inside: bool = False  # whether its <params> is open
    empty: bool = False
    plain: bool = True  # whether no element has been found inside

    @property
    def documents(self) -> bool:
        """Whether it is more than a name with a value, as in a call."""
        if self.description is not None or self.keys or self.empty:
            return True
        return not {"required", "optional", "default", "type"}.isdisjoint(self.attributes)


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text; an element of a tool with nothing in it, or with values, documents none."""
    if not any(opener in text for opener in ("<function", "<tool", "<api")):
        return
    tags = list(_TAG.finditer(text))
    index = 0
    while index < len(tags):
        tool = _tool(text, tags, index)
        index += 1
        if tool is not None:
            reader = _ToolReader(text, tags, index, tool)
            index = reader.read()
            if found := reader.found():
                yield found


def _tool(text: str, tags: list[re.Match[str]], index: int) -> _Element | None:
    if not tags[index]["tool"] or tags[index]["close"]:
        return None
    opened = _open(text, tags, index)
    if opened is None or opened.empty or not str(opened.attributes.get("name", "")).strip():
        return None
    return _element(tags[index].start(), opened)


def _element(start: int, opened: _Open) -> _Element:
    attributes = opened.attributes
    description = attributes.get("description", attributes.get("desc"))
    return _Element(attributes["name"], attributes, start, opened.end, description, empty=opened.empty)


class _ToolReader:
    """Reads the elements of one tool, from the tag behind its opening one."""

    def __init__(self, text: str, tags: list[re.Match[str]], index: int, tool: _Element) -> None:
        self._text = text
        self._tags = tags
        self._index = index
        self._tool = tool
        self._stack = [tool]
        self._text_start: int | None = None  # behind the <desc> that is open
        self._end: int | None = None
        self._error: MisreadError | None = None

    def read(self) -> int:
        """Read up to the closing tag, or to the next tool; returns the index of the tag behind that."""
        while self._index < len(self._tags) and self._end is None:
            tag = self._tags[self._index]
            if tag["tool"] and not tag["close"] and _tool(self._text, self._tags, self._index):
                break
            self._index += 1
            if self._text_start is not None:
                if not self._ends_text(tag):
                    continue
                self._end_text(tag.start())
                if tag["text"] and tag["close"]:
                    continue
            self._read_tag(tag)
        if self._end is None:
            self._stop_short()
        return self._index

    def found(self) -> TextTool | None:
        """The tool, what is wrong with it, or ``None`` where it documents nothing."""
        tool = self._tool
        documented = tool.description is not None or any(key.documents for key in tool.keys or ())
        if not documented and tool.keys != []:
            return None
        end = self._end if self._end is not None else tool.content
        if self._error:
            return TextTool(self._error, tool.start, end)
        return TextTool(_Specs(tool).tool(), tool.start, end)

    def _ends_text(self, tag: re.Match[str]) -> bool:
        """Whether a tag ends the description that is open; ``<params>`` in it is prose."""
        if tag["text"]:
            return True
        return bool(tag["close"]) if not tag["key"] else bool(tag["close"] or self._key(self._index - 1))

    def _end_text(self, end: int) -> None:
        top = self._stack[-1]
        if top.description is None:
            top.description = self._text[self._text_start : end].strip()
        self._text_start = None

    def _read_tag(self, tag: re.Match[str]) -> None:
        top = self._stack[-1]
        if tag["text"]:
            if not tag["close"] and (opened := _open(self._text, self._tags, self._index - 1)):
                top.plain = False
                self._text_start = opened.end
                if opened.empty:
                    self._end_text(opened.end)
        elif tag["tool"]:
            if tag["close"]:
                self._close_tool(tag)
        elif tag["keys"]:
            self._read_keys(tag, top)
        elif tag["close"]:
            if len(self._stack) > 1:
                self._close_key(tag, top)
        else:
            self._open_key(tag, top)

    def _read_keys(self, tag: re.Match[str], top: _Element) -> None:
        if not tag["close"]:
            top.plain = False
            top.keys = top.keys or []
            opened = _open(self._text, self._tags, self._index - 1)
            top.inside = opened is None or not opened.empty
        elif top.inside:
            top.inside = False
        elif len(self._stack) > 1:
            self._fail(f"parameter {top.name!r}: expected '</param>'", tag.start())

    def _key(self, index: int) -> _Open | None:
        opened = _open(self._text, self._tags, index)
        return opened if opened and opened.attributes.get("name") else None

    def _open_key(self, tag: re.Match[str], top: _Element) -> None:
        opened = self._key(self._index - 1)
        if opened is None:
            self._fail("expected '<param name=\"...\">'", tag.start())
            return
        if len(self._stack) > _MAX_NESTING:
            self._fail(f"expected at most {_MAX_NESTING} levels of parameters", tag.start())
            return
        key = _element(tag.start(), opened)
        top.plain = False
        top.keys = [*(top.keys or ()), key] if not top.keys else top.keys
        if top.keys[-1] is not key:
            top.keys.append(key)
        if not opened.empty:
            self._stack.append(key)

    def _close_key(self, tag: re.Match[str], key: _Element) -> None:
        self._stack.pop()
        value = self._text[key.content : tag.start()].strip() if key.plain else ""
        if value and key.description is None and "required" in key.attributes:
            key.description = value
        elif value:
            key.attributes.pop("type", None)

    def _close_tool(self, tag: re.Match[str]) -> None:
        end = _TAG_END.match(self._text, tag.end())
        self._end = end.end() if end else tag.end()
        if len(self._stack) > 1:
            self._fail(f"parameter {self._stack[-1].name!r}: expected '</param>'", tag.start())

    def _stop_short(self) -> None:
        """The closing tag is missing: all keys are there if every element inside is closed."""
        end = self._tags[self._index].start() if self._index < len(self._tags) else len(self._text)
        if self._text_start is not None or len(self._stack) > 1 or self._tool.inside:
            self._end_text(end) if self._text_start is not None else None
            self._fail("expected '</function>'", end)
        self._end = end

    def _fail(self, expected: str, position: int) -> None:
        if self._error is None:
            message = f"tool {self._tool.name!r}: {expected}, found {found_at(self._text, position)}"
            self._error = MisreadError(message, position)
