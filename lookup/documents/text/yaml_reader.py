"""Read YAML from untrusted text: strictly, bounded, and as plain data only.

PyYAML's C parser reads the events, from which the values are made. A plain scalar is a number,
a boolean or null if YAML 1.1 and YAML 1.2 agree (``12``, ``-0.5``, ``0x1F``, ``true``, ``~``); otherwise it is a text
(``yes``, ``on``, ``2020-01-01``, ``12:30``, ``010``, ``1_000``, ``1e3``, ``.nan``). Keys are texts, as in JSON:
``200:`` is "200". Tags of YAML's own numbers and words are applied; other tags are ignored.

Rejected: duplicate keys, keys that are not scalars, nesting deeper than 64, an anchor that contains itself, and
aliases that expand the text more than fourfold.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from lookup.errors import LiteralError, MisreadError, found_at
from lookup.literals.literal_reader import MAX_DEPTH, MAX_NUMBER_LENGTH

_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# How many nodes aliases may expand to, nested nodes included: a constant, and some for each character of the text.
_FREE_COPIES: Final = 10_000
_COPIES_PER_CHARACTER: Final = 4

_TAG: Final = "tag:yaml.org,2002:"
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_WORDS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


def read_yaml(text: str, offset: int = 0) -> list[Any]:
    """The values of all documents of a YAML stream.

    MisreadError if the text is not YAML, or contains what this module rejects.

    ``offset``: added to the offsets of errors: where the text begins in a longer one.
    """
    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1
    if unreadable := _UNREADABLE.search(text):
        _fail("a character that YAML allows", text, offset, unreadable.start())
    builder = _Builder(len(text))
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            builder.take(event)
    except LiteralError as error:
        _fail(error.expected, text, offset, error.position)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.index >= len(text):  # an unclosed quote or bracket: point to where it opens
            mark = error.context_mark or mark
        _fail(f"YAML ({error.problem})", text, offset, mark.index if mark else 0)
    return builder.documents


@dataclass
class _Node:
    """A value, how many nodes it consists of, its height, and the text of a scalar.

    An open mapping has a key whose value follows; ``merged`` are the mappings behind ``<<``, the weakest first.
    """

    value: Any
    size: int = 1
    height: int = 0
    text: str | None = None
    is_merge: bool = False
    anchor: str | None = None
    waiting: "_Node | None" = None
    merged: list[dict[str, Any]] = field(default_factory=list)


class _Builder:
    """Makes the values of a text of some length from the parser's events."""

    def __init__(self, length: int) -> None:
        self.documents: list[Any] = []
        self._copies_left = _FREE_COPIES + _COPIES_PER_CHARACTER * length
        self._open: list[_Node] = []
        self._anchors: dict[str, _Node | None] = {}  # None while the node is open

    def take(self, event: Any) -> None:
        """Take the next event. LiteralError if it is rejected."""
        position = event.start_mark.index
        if isinstance(event, yaml.ScalarEvent):
            self._add(_scalar(event, position), position)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(self._open) == MAX_DEPTH:
                raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", position)
            if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].waiting is None:
                raise LiteralError("a text as key", position)
            value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._open.append(_Node(value, anchor=event.anchor))
            if event.anchor:
                self._anchors[event.anchor] = None
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            if closed.merged:
                own = dict(closed.value)
                closed.value.clear()
                for mapping in [*closed.merged, own]:
                    closed.value |= mapping
            self._add(closed, position)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._named(event.anchor, position), position)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}

    def _named(self, anchor: str | None, position: int) -> _Node:
        """The node of an anchor, which is counted once more."""
        node = self._anchors.get(anchor or "")
        if node is None:
            raise LiteralError("the name of an anchor further up, and not around it", position)
        self._copies_left -= node.size
        if self._copies_left < 0:
            raise LiteralError("aliases that stand for less than four times the text", position)
        if len(self._open) + node.height > MAX_DEPTH:
            raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", position)
        return node

    def _add(self, node: _Node, position: int) -> None:
        """Add a finished node to its container, or to the documents."""
        if node.anchor:
            self._anchors[node.anchor] = node
        if not self._open:
            self.documents.append(node.value)
            return
        around = self._open[-1]
        around.size += node.size
        around.height = max(around.height, node.height + 1)
        if isinstance(around.value, list):
            around.value.append(node.value)
        elif around.waiting is None:
            if node.text is None:
                raise LiteralError("a text as key", position)
            if node.text in around.value and not node.is_merge:
                raise LiteralError("a key that is not there yet", position)
            around.waiting = node
        else:
            key, around.waiting = around.waiting, None
            if key.is_merge:
                around.merged += _mappings(node.value, position)
            else:
                around.value[key.text] = node.value


def _mappings(value: Any, position: int) -> list[dict[str, Any]]:
    """The mappings that ``<<`` names, one or several, of which the first one wins."""
    found = value[::-1] if isinstance(value, list) else [value]
    if not all(isinstance(mapping, dict) for mapping in found):
        raise LiteralError("YAML (a mapping behind '<<')", position)
    return found


def _scalar(event: yaml.ScalarEvent, position: int) -> _Node:
    """The text, number, boolean or null that a scalar is by its tag, or without quotes by its look."""
    written = event.value
    plain = event.tag in (None, "!") and event.implicit[0]
    is_merge = event.tag == f"{_TAG}merge" or (plain and written == "<<")
    value: Any = written
    if plain or event.tag in (f"{_TAG}bool", f"{_TAG}null"):
        value = _WORDS.get(written, written)
    if value is written and (plain or event.tag in (f"{_TAG}int", f"{_TAG}float")):
        value = _number(written, position)
    return _Node(value, text=written, is_merge=is_merge, anchor=event.anchor)


def _number(written: str, position: int) -> int | float | str:
    """The number that a text is; the text itself if it is none."""
    whole = _INTEGER.fullmatch(written) or _HEXADECIMAL.fullmatch(written)
    if not whole and not _FLOAT.fullmatch(written):
        return written
    if len(written) <= MAX_NUMBER_LENGTH:
        value = int(written, 16 if "x" in written else 10) if whole else float(written)
        if whole or math.isfinite(value):
            return value
    raise LiteralError(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", position)


def _fail(expected: str, text: str, offset: int, position: int) -> NoReturn:
    raise MisreadError(f"expected {expected}, found {found_at(text, position)}", position + offset)
