"""Find where a block of YAML begins and ends in a text, from the indentation and the keys of its lines."""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from lookup.scanning import end_of_line

_INDENT = re.compile(r"[ \t]*")
_KEY = re.compile(r"""(["']?)([\w$.-]+)\1[ ]*:(?:[ \t]+(.*))?$""")
_DASH = re.compile(r"-(?:[ ]+|$)")
# What follows the colon if the value begins on a line below: nothing, a comment, an anchor or a tag.
_NO_VALUE = re.compile(r"(?:[&!][^\s]*[ \t]*)?(?:#.*)?$")


@dataclass(frozen=True)
class Line:
    """A line from ``start`` to ``end``: its indentation, and its text without surrounding white space."""

    start: int
    end: int
    indent: int
    body: str

    @property
    def content(self) -> int:
        """The offset behind the indentation."""
        return self.start + self.indent

    @property
    def blank(self) -> bool:
        """Whether it is empty or a comment."""
        return not self.body or self.body.startswith("#")


@dataclass
class Keys:
    """The keys of one mapping, and how their values begin."""

    values: dict[str, str] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    last: str = ""
    _state: str = ""  # what follows the last key: "" for nothing yet, "items" at its own indentation, or "nested"

    def add(self, key: str, value: str, start: int) -> None:
        """Add a key whose line begins at ``start``."""
        self.values[key] = "" if _NO_VALUE.match(value) else value
        self.starts[key] = start
        self.last, self._state = key, ""

    def add_beneath(self, body: str) -> None:
        """Add a line that is indented deeper than the last key."""
        self._state = self._state or "nested"
        if self.last and not self.values[self.last]:
            self.values[self.last] = body

    def continues(self, body: str) -> bool:
        """Whether a line with the indentation of the last key belongs to its value: ``- item``, ``}`` or ``]``."""
        value = self.values.get(self.last, "")
        if body[0] in "}]":
            return value[:1] in ("{", "[")
        if _DASH.match(body) and (self._state == "items" or (not self._state and not value)):
            self.add_beneath(body)
            self._state = "items"
            return True
        return False


@dataclass(frozen=True)
class Block:
    """The range of a mapping or a list of mappings, and the keys of each mapping."""

    start: int
    end: int
    mappings: list[Keys]


def line_at(text: str, start: int, end: int) -> Line:
    """The line from ``start`` to ``end``."""
    match = _INDENT.match(text, start, end)
    content = match.end() if match else start
    return Line(start, end, content - start, text[content:end].rstrip())


def lines_from(text: str, position: int) -> Iterator[Line]:
    """The lines from the one that begins at ``position``."""
    while position < len(text):
        end = end_of_line(text, position)
        yield line_at(text, position, end)
        position = end + 1


def key_of(body: str) -> tuple[str, str] | None:
    """The key that a line begins with, and the text behind its colon; ``None`` for any other line."""
    match = _KEY.match(body)
    return (match[2], match[3] or "") if match else None


def mapping_at(text: str, position: int, known: Container[str]) -> Block:
    """The mapping whose first line begins at ``position``; that line may be blank.

    It ends before a line with less indentation. It also ends before a line with the same indentation that is not a
    key, repeats a key, or is not a ``known`` key and begins like prose (with a capital letter or after an empty line).
    """
    keys, indent, start, end = Keys(), -1, position, position
    gap = False  # whether the previous line is empty
    for line in lines_from(text, position):
        if not line.body or (line.blank and line.indent <= indent):
            gap = gap or not line.body
            continue
        if indent < 0:
            indent, start = line.indent, line.start
        if line.indent < indent:
            break
        if line.indent > indent:
            keys.add_beneath(line.body)
        elif not keys.continues(line.body):
            found = key_of(line.body)
            if not found or found[0] in keys.values or not (found[0] in known or (not gap and _may_be_key(found[0]))):
                break
            keys.add(*found, line.start)
        end, gap = line.end, False
    return Block(start, max(end, start), [keys] if keys.values else [])


def list_at(text: str, position: int, known: Container[str]) -> Block:
    """The list of mappings whose first line, ``- key: value``, begins at ``position``.

    It ends before a line with the same or less indentation that is not such an item, and before an item after an empty
    line that does not begin with a ``known`` key.
    """
    items: list[Keys] = []
    indent, column, end = -1, -1, position
    gap = False
    for line in lines_from(text, position):
        if not line.body or (line.blank and line.indent <= max(indent, 0)):
            gap = gap or not line.body
            continue
        body, at = line.body, line.indent
        if indent < 0:
            indent = at
        if at <= indent:
            dash = _DASH.match(body)
            if at < indent or not dash:
                break
            at, body = at + dash.end(), body[dash.end() :]
            first = key_of(body)
            if items and body and body[0] != "{" and not (first and (not gap or first[0] in known)):
                break
            items.append(Keys())
            column = at
        found = key_of(body) if at == column else None
        if found:
            items[-1].add(*found, line.start)
        elif body and not (at == column and items[-1].continues(body)):
            items[-1].add_beneath(body)
        end, gap = line.end, False
    return Block(position, end, items)


def start_above(text: str, position: int, floor: int, known: Container[str]) -> int:
    """Where the mapping begins that has a key in the line at ``position``: there, or in a line above.

    An empty line between two keys ends the search, because hand-written blocks rarely begin with other keys.

    Parameters
    ----------
    floor : int
        The search does not go above this offset.
    """
    first = next(lines_from(text, position))
    found = key_of(first.body)
    seen = {found[0]} if found else set()
    start, end, below = position, position - 1, first
    while end > floor:
        begin = max(text.rfind("\n", floor, end) + 1, floor)
        line = line_at(text, begin, end)
        if not line.body and below.body and below.indent <= first.indent:
            break
        if not line.blank and line.indent <= first.indent:
            found = key_of(line.body)
            if line.indent < first.indent or not (found or line.body[0] in "-}]"):
                break
            if found:
                if found[0] in seen or not (found[0] in known or _may_be_key(found[0])):
                    break
                seen.add(found[0])
                start = begin if found[0] in known else start
        end, below = begin - 1, line
    return start


def _may_be_key(key: str) -> bool:
    """Whether an unknown key may belong to the mapping if the line above is not empty."""
    return key[0].islower()
