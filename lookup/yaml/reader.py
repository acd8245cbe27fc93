"""Read YAML from untrusted text: strictly, without recursion, and as plain data only.

The events of PyYAML's parser become dicts, lists, texts, numbers, booleans and nulls. A plain scalar is a number, a
boolean or null if YAML 1.1 and YAML 1.2 agree (``12``, ``-0.5``, ``0x1F``, ``true``, ``~``); otherwise it is a text
(``yes``, ``on``, ``2020-01-01``, ``12:30``, ``010``, ``1_000``, ``1e3``, ``.nan``). Keys are texts, as in JSON:
``200:`` is "200". Tags of YAML's own types are applied; other tags are ignored.

Rejected: duplicate keys, keys that are not scalars, nesting deeper than 64, an anchor that contains itself, and
aliases that expand the text more than fourfold.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from lookup.errors import MisreadError
from lookup.literals.literal_reader import MAX_DEPTH
from lookup.literals.scalars import MAX_NUMBER_LENGTH
from lookup.messages import found_at

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# How many nodes aliases may expand to, nested nodes included: a constant, and some for each character of the text.
_FREE_COPIES: Final = 10_000
_COPIES_PER_CHARACTER: Final = 4

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_WORDS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_TAG: Final = "tag:yaml.org,2002:"
_RESOLVED_TAGS: Final = frozenset({f"{_TAG}{name}" for name in ("int", "float", "bool", "null")})

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Document(NamedTuple):
    """The value of a YAML document, its range, and ``id`` of each mapping inside -> its start and end."""

    value: Any
    start: int
    end: int
    spans: Mapping[int, tuple[int, int]]


def read_yaml(text: str, offset: int = 0) -> tuple[Any, Mapping[int, tuple[int, int]]]:
    """The value and the spans of a text that is one YAML document.

    Parameters
    ----------
    offset : int
        Added to all offsets: where the text begins in a longer one.

    Raises
    ------
    MisreadError
        As for ``read_documents``, or if there is not exactly one document.
    """
    documents = read_documents(text, offset)
    if len(documents) == 1:
        return documents[0].value, documents[0].spans
    position = documents[1].start if documents else offset
    raise MisreadError(f"expected one YAML document, found {len(documents)}", position)


def read_documents(text: str, offset: int = 0) -> list[Document]:
    """All documents of a YAML stream.

    Raises
    ------
    MisreadError
        If the text is not YAML, or contains what this module rejects.
    """
    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1
    if unreadable := _UNREADABLE.search(text):
        _fail("a character that YAML allows", text, offset, unreadable.start())
    return list(_Builder(text, offset).documents())


@dataclass
class _Node:
    """A mapping or list that is still open, or a node with an anchor.

    ``size`` is its number of nodes with itself and expanded aliases; ``height`` is its number of levels.
    """

    value: Any
    start: int = 0
    anchor: str | None = None
    key: str | None = None  # a key whose value has not been read yet
    size: int = 1
    height: int = 0
    merged: list[dict[str, Any]] = field(default_factory=list)
    merging: bool = False  # whether that key is YAML's merge key


class _Builder:
    """Builds the documents of one text from its events."""

    def __init__(self, text: str, offset: int) -> None:
        self._text = text
        self._offset = offset
        self._copies_left = _FREE_COPIES + _COPIES_PER_CHARACTER * len(text)
        self._open: list[_Node] = []
        self._anchors: dict[str, _Node | None] = {}  # None while the node is open
        self._spans: dict[int, tuple[int, int]] = {}
        self._root: Any = None
        self._end = 0  # of the last node

    def documents(self) -> Iterator[Document]:
        """The documents of the text. Raises MisreadError as ``read_documents`` does."""
        try:
            for event in yaml.parse(self._text, Loader=_LOADER):
                if isinstance(event, yaml.DocumentStartEvent):
                    self._anchors, self._spans, self._root = {}, {}, None
                    start = _start(event)
                elif isinstance(event, yaml.DocumentEndEvent):
                    end = max(self._end, start)
                    yield Document(self._root, start + self._offset, end + self._offset, self._spans)
                elif isinstance(event, yaml.NodeEvent):
                    self._node(event)
                elif isinstance(event, yaml.CollectionEndEvent):
                    self._close(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if mark and mark.index >= len(self._text):  # an unclosed quote or bracket: point to where it opens
                mark = error.context_mark or mark
            _fail(f"YAML ({error.problem})", self._text, self._offset, mark.index if mark else 0)

    def _node(self, event: yaml.NodeEvent) -> None:
        position = _start(event)
        if isinstance(event, yaml.ScalarEvent):
            self._end = _end(event)
            top = self._open[-1] if self._open else None
            if top and isinstance(top.value, dict) and top.key is None:
                self._key(top, event)
            else:
                self._add(_Node(self._scalar(event), position, event.anchor))
        elif isinstance(event, yaml.AliasEvent):
            self._end = _end(event)
            self._alias(event)
        else:
            if len(self._open) == MAX_DEPTH:
                self._fail(f"at most {MAX_DEPTH} levels of nesting", position)
            self._end = max(self._end, position)
            self._open.append(_Node({} if isinstance(event, yaml.MappingStartEvent) else [], position, event.anchor))
            if event.anchor:
                self._anchors[event.anchor] = None

    def _alias(self, event: yaml.AliasEvent) -> None:
        position = _start(event)
        node = self._anchors.get(event.anchor or "")
        if node is None:
            self._fail("the name of an anchor further up, and not around it", position)
        self._copies_left -= node.size
        if self._copies_left < 0:
            self._fail("aliases that stand for less than four times the text", position)
        if len(self._open) + node.height > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} levels of nesting", position)
        self._add(_Node(node.value, position, size=node.size, height=node.height))

    def _close(self, event: yaml.CollectionEndEvent) -> None:
        node = self._open.pop()
        if _start(event) < _end(event):  # a closing bracket
            self._end = _end(event)
        if isinstance(node.value, dict):
            if node.merged:
                own = dict(node.value)
                node.value.clear()
                for part in node.merged:
                    node.value.update({key: value for key, value in part.items() if key not in node.value})
                node.value.update(own)
            self._spans[id(node.value)] = (node.start + self._offset, self._end + self._offset)
        self._add(node)

    def _add(self, node: _Node) -> None:
        """Add a finished node to its container."""
        if node.anchor:
            self._anchors[node.anchor] = node
        if not self._open:
            self._root = node.value
            return
        top = self._open[-1]
        top.size += node.size
        top.height = max(top.height, node.height + (not top.merging))
        if isinstance(top.value, list):
            top.value.append(node.value)
        elif top.merging:
            parts = node.value if isinstance(node.value, list) else [node.value]
            if not all(isinstance(part, dict) for part in parts):
                self._fail("a mapping, or a list of mappings, to merge", node.start)
            top.merged += parts
            top.key, top.merging = None, False
        elif top.key is None:
            self._fail("a text as key", node.start)
        else:
            top.value[top.key] = node.value
            top.key = None

    def _key(self, top: _Node, event: yaml.ScalarEvent) -> None:
        key = event.value
        if key == "<<" and not event.style:
            top.merging = True
        elif key in top.value:
            self._fail("a key that is not there yet", _start(event))
        top.key = key
        top.size += 1
        if event.anchor:
            self._anchors[event.anchor] = _Node(key, _start(event))

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        if event.tag in _RESOLVED_TAGS or (not event.tag and not event.style):
            try:
                return _resolved(event.value)
            except ValueError:
                self._fail(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", _start(event))
        return event.value

    def _fail(self, expected: str, position: int) -> NoReturn:
        _fail(expected, self._text, self._offset, position)


def _resolved(plain: str) -> Any:
    """The value of a plain scalar. Raises ValueError if a number is too long or not finite."""
    if plain in _WORDS:
        return _WORDS[plain]
    integer = _INTEGER.fullmatch(plain)
    hexadecimal = None if integer else _HEXADECIMAL.fullmatch(plain)
    real = None if integer or hexadecimal else _FLOAT.fullmatch(plain)
    if not (integer or hexadecimal or real):
        return plain
    if len(plain) > MAX_NUMBER_LENGTH:
        raise ValueError(plain)
    if not real:
        return int(plain, 10 if integer else 16)
    if not math.isfinite(number := float(plain)):
        raise ValueError(plain)
    return number


def _start(event: Any) -> int:
    index: int = event.start_mark.index
    return index


def _end(event: Any) -> int:
    index: int = event.end_mark.index
    return index


def _fail(expected: str, text: str, offset: int, position: int) -> NoReturn:
    raise MisreadError(f"expected {expected}, found {found_at(text, position)}", position + offset)
