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

It is no XML: nothing is escaped, a default stands as Python's ``repr`` between the quotes, whatever quotes it holds
itself, and the commas of the opening tag are deleted, those inside texts for good. ``required`` is taken as printed;
where some keys of a tool have it, a key without it is optional.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from lookup.dictionary import MISSING, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.form import TextForm, TextTool
from lookup.messages import found_at
from lookup.parameters.plain_values import plain_value
from lookup.parameters.prose_type import split_enum, with_keys
from lookup.parameters.requiredness import decide, own_flag
from lookup.parameters.type_names import value_type
from lookup.values.literal_reader import MAX_DEPTH, read_literal

_MAX_NESTING: Final = 16

_TAG = re.compile(
    r"<(?P<close>/?)(?:(?P<tool>function|tool|api)|(?P<keys>params|parameters)|(?P<key>param|parameter)"
    r"|(?P<text>desc|description))(?=[\s/>])"
)
_ATTRIBUTE = re.compile(r"""\s*+,?\s*+(?P<name>[\w:.-]++)(?:\s*+=\s*+(?:(?P<quote>["'])|(?P<bare>[^\s"'<>/]++)))?""")
_TAG_END = re.compile(r"\s*+(?P<empty>/?)>")
# A quote closes a value if the end of the tag, another attribute, or a flag without a value follows it.
_CLOSING: Final = {
    quote: re.compile(rf"{quote}(?=\s*+/?>|,?\s++(?:[\w:.-]++\s*+(?:=|/?>)|(?:required|optional)\s))")
    for quote in ("'", '"')
}
_BETWEEN = re.compile(r"[\s,]*+")
_TAKEN: Final = frozenset({"name", "type", "required", "optional", "default", "description", "desc"})
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}


class _Opening(NamedTuple):
    """An opening tag: its attributes, the offset behind it, whether it closes itself, and what was noticed."""

    attributes: dict[str, Any]
    end: int
    empty: bool
    notes: list[str]


@dataclass
class _Element:
    """A tool or a key as far as it has been read; ``start`` is the offset of its tag, ``content`` the one behind it."""

    opening: _Opening
    start: int
    description: str | None = None
    keys: "list[_Element] | None" = None
    inside: bool = False  # whether its <params> is open
    plain: bool = True  # whether no element has been found inside
    value: str = ""  # the text inside, where there is nothing else

    def __post_init__(self) -> None:
        attributes = self.opening.attributes
        self.name: str = attributes["name"]
        self.description = attributes.get("description", attributes.get("desc"))

    @property
    def documents(self) -> bool:
        """Whether it is more than a name with a value, as in a call."""
        if self.description is not None or self.keys is not None or self.opening.empty:
            return True
        attributes = self.opening.attributes
        return not attributes.keys().isdisjoint(("required", "optional", "default")) or (
            "type" in attributes and not self.value
        )


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text; an element of a tool with nothing in it, or with the values of a call, documents none."""
    if not any(opener in text for opener in ("<function", "<tool", "<api")):
        return
    tags = list(_TAG.finditer(text))
    index = 0
    while index < len(tags):
        opening = _tool_opening(text, tags, index)
        if opening is None:
            index += 1
            continue
        reader = _ToolReader(text, tags, index, opening)
        index = reader.read()
        if found := reader.found():
            yield found


def _tool_opening(text: str, tags: list[re.Match[str]], index: int) -> _Opening | None:
    if not tags[index]["tool"] or tags[index]["close"]:
        return None
    opening = _opening(text, tags, index)
    return opening if opening and opening.attributes.get("name", "").strip() else None


class _ToolReader:
    """Reads the elements of the tool that the tag at ``index`` opens."""

    def __init__(self, text: str, tags: list[re.Match[str]], index: int, opening: _Opening) -> None:
        self._text = text
        self._tags = tags
        self._index = index
        self._word = tags[index]["tool"]
        self._stack = [_Element(opening, tags[index].start())]
        self._tool = self._stack[0]
        self._described: int | None = None  # behind the <desc> that is open
        self._end = opening.end
        self._error: MisreadError | None = None

    def read(self) -> int:
        """Read up to the closing tag, or to the next tool; returns the index of the tag behind that."""
        self._index += 1
        while self._index < len(self._tags):
            tag = self._tags[self._index]
            if _tool_opening(self._text, self._tags, self._index):
                break
            if self._described is None or self._ends_description(tag):
                self._read_tag(tag)
            self._index += 1
            if tag["tool"] == self._word and tag["close"]:
                return self._index
        self._stop_short()
        return self._index

    def found(self) -> TextTool | None:
        """The tool, or what is wrong with it; ``None`` where it documents nothing."""
        tool = self._tool
        if not (tool.description is not None or tool.keys == [] or any(key.documents for key in tool.keys or ())):
            return None
        return TextTool(self._error or _tool_spec(tool), tool.start, self._end)

    def _ends_description(self, tag: re.Match[str]) -> bool:
        """Whether the open description ends here: at its closing tag, else where a key or the tool opens or closes."""
        if tag["key"]:
            return bool(tag["close"]) or self._key_opening() is not None
        return bool(tag["close"]) and bool(tag["text"] or tag["tool"] == self._word)

    def _read_tag(self, tag: re.Match[str]) -> None:
        top = self._stack[-1]
        if self._described is not None:
            self._describe(top, self._text[self._described : tag.start()].strip())
        if tag["text"] and not tag["close"]:
            top.plain = False
            if opening := _opening(self._text, self._tags, self._index):
                self._described = None if opening.empty else opening.end
        elif tag["keys"]:
            self._read_keys(tag, top)
        elif tag["key"] and not tag["close"]:
            self._open_key(tag, top)
        elif tag["key"] and len(self._stack) > 1:
            self._stack.pop()
            if top.plain:
                top.value = self._text[top.opening.end : tag.start()].strip()
        elif tag["tool"] == self._word and tag["close"]:
            end = _TAG_END.match(self._text, tag.end())
            self._end = end.end() if end else tag.end()
            self._demand_closed(tag.start())

    def _describe(self, top: _Element, description: str) -> None:
        self._described = None
        if top.description is None:
            top.description = description
        else:
            top.opening.notes.append(f"described twice; not taken over: {description[:80]!r}")

    def _read_keys(self, tag: re.Match[str], top: _Element) -> None:
        if tag["close"]:
            if not top.inside:
                self._demand_closed(tag.start())
            top.inside = False
            return
        opening = _opening(self._text, self._tags, self._index)
        top.plain = False
        top.inside = opening is None or not opening.empty
        top.keys = top.keys or []

    def _key_opening(self) -> _Opening | None:
        opening = _opening(self._text, self._tags, self._index)
        return opening if opening and opening.attributes.get("name") else None

    def _open_key(self, tag: re.Match[str], top: _Element) -> None:
        opening = self._key_opening()
        if opening is None:
            self._fail("expected a complete '<param name=\"...\">'", tag.start())
        elif len(self._stack) > _MAX_NESTING:
            self._fail(f"expected at most {_MAX_NESTING} levels of parameters", tag.start())
        else:
            key = _Element(opening, tag.start())
            top.plain = False
            top.keys = top.keys or []
            top.keys.append(key)
            if not opening.empty:
                self._stack.append(key)

    def _demand_closed(self, position: int) -> None:
        if len(self._stack) > 1:
            self._fail(f"parameter {self._stack[-1].name!r}: expected '</param>'", position)

    def _stop_short(self) -> None:
        """Without a closing tag all keys are there only if every element inside is closed."""
        self._end = self._tags[self._index].start() if self._index < len(self._tags) else len(self._text)
        if self._described is not None:
            self._describe(self._stack[-1], "")
            self._fail("expected '</desc>'", self._end)
        elif self._tool.inside or len(self._stack) > 1:
            self._fail(f"expected '</{self._word}>'", self._end)

    def _fail(self, expected: str, position: int) -> None:
        message = f"tool {self._tool.name!r}: {expected}, found {found_at(self._text, position)}"
        self._error = self._error or MisreadError(message, position)


def _tool_spec(tool: _Element) -> ToolSpec:
    notes: list[str] = []
    habit = False if _says_required(tool) else None
    keys = _specs(tool, f"tool {tool.name!r}", habit, notes) or ()
    return ToolSpec(tool.name, tool.description or "", keys, notes=tuple(notes))


def _says_required(element: _Element) -> bool:
    """Whether any key says by an attribute whether it is required."""
    return any(
        not key.opening.attributes.keys().isdisjoint(("required", "optional")) or _says_required(key)
        for key in element.keys or ()
    )


def _specs(element: _Element, owner: str, habit: bool | None, notes: list[str]) -> tuple[ParameterSpec, ...] | None:
    """The keys inside of an element, ``None`` if it has no place for any; notes are added to ``notes``."""
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


def _opening(text: str, tags: list[re.Match[str]], index: int) -> _Opening | None:
    """The opening tag at ``index``; ``None`` if it is none. It cannot reach over the next tag."""
    limit = tags[index + 1].start() if index + 1 < len(tags) else len(text)
    position = tags[index].end()
    attributes: dict[str, Any] = {}
    notes: list[str] = []
    while not (end := _TAG_END.match(text, position, limit)):
        match = _ATTRIBUTE.match(text, position, limit)
        if match is None:
            return None
        value: Any = match["bare"] or "true"
        position = match.end()
        if match["quote"]:
            is_default = match["name"] == "default" and "default" not in attributes
            found = _printed_value(text[position:limit], match["quote"]) if is_default else None
            if found is None:
                closing = _CLOSING[match["quote"]].search(text, position, limit)
                if closing is None:
                    return None
                found = text[position : closing.start()], closing.start() - position
                if is_default and found[0][:1] in ("[", "{", "(", "'", '"'):
                    notes.append(f"the default is no literal: {found[0]!r}")
            value = found[0]
            position += found[1] + 1
        attributes.setdefault(match["name"], value)
    return _Opening(attributes, end.end(), bool(end["empty"]), notes)


def _printed_value(written: str, quote: str) -> tuple[Any, int] | None:
    """The literal that ``written`` begins with and its end, if the closing quote of the attribute follows it."""
    is_empty = _CLOSING[quote].match(written) is not None
    for read in (read_literal, _read_without_commas):
        try:
            value, end = read(written, 0)
            # Python's repr takes double quotes only around a single one: ""it's"" is a text, "" type="" is not.
            if _CLOSING[quote].match(written, end) and not (is_empty and "'" not in written[:end]):
                return plain_value(value, "default", ""), end
        except (LiteralError, DocumentationError):
            continue
    return None


def _read_without_commas(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """As ``read_literal``, for a literal that has lost its commas: ``['a' 'b']``, ``{'a': 1 'b': [2 3]}``."""
    opener = text[position : position + 1]
    if opener not in _BRACKETS or not opener:
        return read_literal(text, position)
    if depth == MAX_DEPTH:
        raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", position)
    members: list[Any] = []
    keys: list[Any] = []
    position = _skip_between(text, position + 1)
    while text[position : position + 1] != _BRACKETS[opener]:
        value, position = _read_without_commas(text, position, depth + 1)
        position = _skip_between(text, position)
        if opener == "{" and len(keys) == len(members):
            if not isinstance(value, str) or text[position : position + 1] != ":":
                raise LiteralError("a text as key and ':'", position)
            keys.append(value)
            position = _skip_between(text, position + 1)
        else:
            members.append(value)
    if opener == "{":
        if len(keys) > len(members):
            raise LiteralError("a value", position)
        return dict(zip(keys, members, strict=True)), position + 1
    return members if opener == "[" else tuple(members), position + 1


def _skip_between(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


FORM: Final = TextForm('XML elements <function name="..."> with <params> (BFCL)', find)
