"""BFCL's tools as XML.

The benchmark prints this for ``xml`` in its test of prompt formats::

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

It is not XML: nothing is escaped, a default is Python's ``repr`` between quotes whatever quotes it contains, and the
commas of the opening tag are deleted, even inside texts. ``required`` is read as printed. A key without it is optional
if other keys of the tool have it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lookup.dictionary import MISSING, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError, MisreadError
from lookup.forms.corpora.bfcl_keys import split_enum, with_keys
from lookup.forms.corpora.bfcl_xml_tags import Opening, Tags
from lookup.forms.form import TextForm, TextTool
from lookup.messages import found_at
from lookup.parameters.requiredness import decide, own_flag
from lookup.types.type_names import value_type

_MAX_NESTING: Final = 16
_TAKEN: Final = frozenset({"name", "type", "required", "optional", "default", "description", "desc"})


@dataclass
class _Element:
    """A tool or a key that has been read so far.

    Attributes
    ----------
    start : int
        The offset of its tag.
    inside : bool
        Whether its ``<params>`` is open.
    plain : bool
        Whether it contains no element. ``value`` is then the text inside.
    """

    opening: Opening
    start: int
    description: str | None = None
    keys: "list[_Element] | None" = None
    inside: bool = False
    plain: bool = True
    value: str = ""

    def __post_init__(self) -> None:
        attributes = self.opening.attributes
        self.name: str = attributes["name"]
        self.description = attributes.get("description", attributes.get("desc"))

    def has(self, *attributes: str) -> bool:
        """Whether it has one of some attributes."""
        return any(attribute in self.opening.attributes for attribute in attributes)

    @property
    def documents(self) -> bool:
        """Whether it is more than a name with a value, as in a call."""
        if self.description is not None or self.keys is not None or self.opening.empty:
            return True
        return self.has("required", "optional", "default") or (self.has("type") and not self.value)

    def describe(self, description: str) -> None:
        """Take the text of a ``<desc>``."""
        if self.description is None:
            self.description = description
        else:
            self.opening.notes.append(f"described twice; not taken over: {description[:80]!r}")

    def add_key(self, key: "_Element") -> None:
        """Add a key inside this element."""
        self.plain = False
        self.keys = self.keys or []
        self.keys.append(key)


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text. An element of a tool that is empty, or contains the values of a call, is not one."""
    if not any(opener in text for opener in ("<function", "<tool", "<api")):
        return
    tags = Tags(text)
    index = 0
    while index < len(tags):
        opening = tags.tool_opening(index)
        if opening is None:
            index += 1
            continue
        reader = _ToolReader(tags, index, opening)
        index = reader.read()
        if found := reader.found():
            yield found


class _ToolReader:
    """Reads the elements of the tool that the tag at ``index`` opens."""

    def __init__(self, tags: Tags, index: int, opening: Opening) -> None:
        self._tags = tags
        self._index = index
        self._word = tags[index]["tool"]
        self._stack = [_Element(opening, tags.start(index))]
        self._tool = self._stack[0]
        self._described: int | None = None  # the offset behind an open <desc>
        self._end = opening.end
        self._error: MisreadError | None = None

    def read(self) -> int:
        """Read up to the closing tag or the next tool. Return the index of the tag behind."""
        self._index += 1
        while self._index < len(self._tags):
            tag = self._tags[self._index]
            if self._tags.tool_opening(self._index):
                break
            if self._described is None or self._ends_description(tag):
                self._read_tag(tag)
            self._index += 1
            if tag["tool"] == self._word and tag["close"]:
                return self._index
        self._stop_short()
        return self._index

    def found(self) -> TextTool | None:
        """The tool or its error; ``None`` if it documents nothing."""
        tool = self._tool
        if not (tool.description is not None or tool.keys == [] or any(key.documents for key in tool.keys or ())):
            return None
        return TextTool(self._error or _tool_spec(tool), tool.start, self._end)

    def _ends_description(self, tag: re.Match[str]) -> bool:
        """Whether the open description ends here: at its closing tag, or where a key or the tool opens or closes."""
        if tag["key"]:
            return bool(tag["close"]) or self._key_opening() is not None
        return bool(tag["close"]) and bool(tag["text"] or tag["tool"] == self._word)

    def _read_tag(self, tag: re.Match[str]) -> None:
        top, text = self._stack[-1], self._tags.text
        if self._described is not None:
            top.describe(text[self._described : tag.start()].strip())
            self._described = None
        if tag["text"] and not tag["close"]:
            top.plain = False
            if opening := self._tags.opening(self._index):
                self._described = None if opening.empty else opening.end
        elif tag["keys"]:
            self._read_keys(tag, top)
        elif tag["key"] and not tag["close"]:
            self._open_key(tag, top)
        elif tag["key"] and len(self._stack) > 1:
            self._stack.pop()
            if top.plain:
                top.value = text[top.opening.end : tag.start()].strip()
        elif tag["tool"] == self._word and tag["close"]:
            self._end = self._tags.end(self._index)
            self._demand_closed(tag.start())

    def _read_keys(self, tag: re.Match[str], top: _Element) -> None:
        if tag["close"]:
            if not top.inside:
                self._demand_closed(tag.start())
            top.inside = False
            return
        opening = self._tags.opening(self._index)
        top.plain = False
        top.inside = opening is None or not opening.empty
        top.keys = top.keys or []

    def _key_opening(self) -> Opening | None:
        opening = self._tags.opening(self._index)
        return opening if opening and opening.attributes.get("name") else None

    def _open_key(self, tag: re.Match[str], top: _Element) -> None:
        opening = self._key_opening()
        if opening is None:
            self._fail("expected a complete '<param name=\"...\">'", tag.start())
        elif len(self._stack) > _MAX_NESTING:
            self._fail(f"expected at most {_MAX_NESTING} levels of parameters", tag.start())
        else:
            key = _Element(opening, tag.start())
            top.add_key(key)
            if not opening.empty:
                self._stack.append(key)

    def _demand_closed(self, position: int) -> None:
        if len(self._stack) > 1:
            self._fail(f"parameter {self._stack[-1].name!r}: expected '</param>'", position)

    def _stop_short(self) -> None:
        """Handle a missing closing tag: it is an error unless every element inside is closed."""
        self._end = self._tags.start(self._index)
        if self._described is not None:
            self._stack[-1].describe("")
            self._fail("expected '</desc>'", self._end)
        elif self._tool.inside or len(self._stack) > 1:
            self._fail(f"expected '</{self._word}>'", self._end)

    def _fail(self, expected: str, position: int) -> None:
        message = f"tool {self._tool.name!r}: {expected}, found {found_at(self._tags.text, position)}"
        self._error = self._error or MisreadError(message, position)


def _tool_spec(tool: _Element) -> ToolSpec:
    notes: list[str] = []
    habit = False if _says_required(tool) else None
    keys = _specs(tool, f"tool {tool.name!r}", habit, notes) or ()
    return ToolSpec(tool.name, tool.description or "", keys, notes=tuple(notes))


def _says_required(element: _Element) -> bool:
    """Whether any key has an attribute that says whether it is required."""
    return any(key.has("required", "optional") or _says_required(key) for key in element.keys or ())


def _specs(element: _Element, owner: str, habit: bool | None, notes: list[str]) -> tuple[ParameterSpec, ...] | None:
    """The keys inside an element; ``None`` if it has no ``<params>``. Adds to ``notes``."""
    notes += [f"{owner}: {note}" for note in element.opening.notes]
    if element.keys is None:
        return None
    specs: dict[str, ParameterSpec] = {}
    for key in element.keys:
        where = f"{owner}, parameter {key.name!r}"
        if key.name in specs:
            notes.append(f"{where}: documented twice; the first one is taken")
        else:
            specs[key.name] = _spec(key, where, habit, notes)
    return tuple(specs.values())


def _spec(key: _Element, owner: str, habit: bool | None, notes: list[str]) -> ParameterSpec:
    attributes = key.opening.attributes
    notes += [f"{owner}: attribute {name!r} is not taken over" for name in attributes if name not in _TAKEN]
    description, enum = split_enum(key.value if key.description is None else key.description)
    try:
        flag = own_flag({word: attributes[word] for word in ("required", "optional") if word in attributes}, owner)
    except DocumentationError as error:
        notes.append(str(error))
        flag = None
    required, rule = decide(flag=flag, description=description, has_default="default" in attributes, habit=habit)
    raw_type = attributes.get("type", "")
    kind = with_keys(value_type(raw_type), _specs(key, owner, habit, notes))
    return ParameterSpec(
        key.name, kind, raw_type, required, description, enum, attributes.get("default", MISSING), rule
    )


FORM: Final = TextForm('XML elements <function name="..."> with <params> (BFCL)', find)
