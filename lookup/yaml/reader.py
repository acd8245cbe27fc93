"""Read YAML from untrusted text: strictly, bounded, and as plain data only.

PyYAML's safe loader, behind a check of the parser's events, which bounds depth and aliases. A plain scalar is a number,
a boolean or null if YAML 1.1 and YAML 1.2 agree (``12``, ``-0.5``, ``0x1F``, ``true``, ``~``); otherwise it is a text
(``yes``, ``on``, ``2020-01-01``, ``12:30``, ``010``, ``1_000``, ``1e3``, ``.nan``). Keys are texts, as in JSON:
``200:`` is "200". Tags of YAML's own types are applied; other tags are ignored.

Rejected: duplicate keys, keys that are not scalars, nesting deeper than 64, an anchor that contains itself, and
aliases that expand the text more than fourfold.
"""

import math
import re
from typing import Any, Final, NoReturn

import yaml

from lookup.errors import MisreadError
from lookup.literals.literal_reader import MAX_DEPTH
from lookup.literals.scalars import MAX_NUMBER_LENGTH
from lookup.messages import found_at

_BASE: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# How many nodes aliases may expand to, nested nodes included: a constant, and some for each character of the text.
_FREE_COPIES: Final = 10_000
_COPIES_PER_CHARACTER: Final = 4

_TAG: Final = "tag:yaml.org,2002:"
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_yaml(text: str, offset: int = 0) -> list[Any]:
    """The values of all documents of a YAML stream.

    Parameters
    ----------
    offset : int
        Added to the offsets of errors: where the text begins in a longer one.

    Raises
    ------
    MisreadError
        If the text is not YAML, or contains what this module rejects.
    """
    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1
    if unreadable := _UNREADABLE.search(text):
        _fail("a character that YAML allows", text, offset, unreadable.start())
    try:
        _Bounds(len(text)).check(text)
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.index >= len(text):  # an unclosed quote or bracket: point to where it opens
            mark = error.context_mark or mark
        position = mark.index if mark else 0
        expected = str(error.problem) if isinstance(error, _Refused) else f"YAML ({error.problem})"
        _fail(expected, text, offset, position)


class _Refused(yaml.MarkedYAMLError):
    """YAML that this module rejects; ``problem`` is what was expected."""

    def __init__(self, expected: str, mark: Any) -> None:
        super().__init__(problem=expected, problem_mark=mark)


class _Bounds:
    """Depth and aliases of the documents of one text of some length."""

    def __init__(self, length: int) -> None:
        self._copies_left = _FREE_COPIES + _COPIES_PER_CHARACTER * length
        self._open: list[tuple[str | None, list[int]]] = []  # anchor, and the size and height so far
        self._anchors: dict[str, list[int] | None] = {}  # None while the node is open

    def check(self, text: str) -> None:
        """Raise _Refused, or yaml's own errors, for a text that must not be loaded."""
        for event in yaml.parse(text, Loader=_BASE):
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.ScalarEvent):
                self._add(event.anchor, [1, 0])
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(self._open) == MAX_DEPTH:
                    raise _Refused(f"at most {MAX_DEPTH} levels of nesting", event.start_mark)
                self._open.append((event.anchor, [1, 0]))
                if event.anchor:
                    self._anchors[event.anchor] = None
            elif isinstance(event, yaml.CollectionEndEvent):
                self._add(*self._open.pop())

    def _alias(self, event: Any) -> None:
        node = self._anchors.get(event.anchor)
        if node is None:
            raise _Refused("the name of an anchor further up, and not around it", event.start_mark)
        self._copies_left -= node[0]
        if self._copies_left < 0:
            raise _Refused("aliases that stand for less than four times the text", event.start_mark)
        if len(self._open) + node[1] > MAX_DEPTH:
            raise _Refused(f"at most {MAX_DEPTH} levels of nesting", event.start_mark)
        self._add(None, node)

    def _add(self, anchor: str | None, node: list[int]) -> None:
        """Count a finished node, of some size and height, in its container."""
        if anchor:
            self._anchors[anchor] = node
        if self._open:
            around = self._open[-1][1]
            around[0] += node[0]
            around[1] = max(around[1], node[1] + 1)


class _Loader(_BASE):  # type: ignore[misc, valid-type]
    """The safe loader with fewer words and numbers, and with texts as keys, each of which stands once."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own name for it
    yaml_constructors: dict[Any, Any] = {}  # noqa: RUF012 - PyYAML's own name for it

    def flatten_mapping(self, node: Any) -> None:
        """Make the keys texts, refuse a repeated one, then merge what ``<<`` names; once for a node that is shared."""
        if getattr(node, "is_flat", False):
            return
        node.is_flat = True
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _Refused("a text as key", key.start_mark)
            if key.tag == f"{_TAG}merge":
                continue
            if key.value in seen:
                raise _Refused("a key that is not there yet", key.start_mark)
            seen.add(key.value)
            key.tag = f"{_TAG}str"
        super().flatten_mapping(node)

    def plain(self, node: Any) -> Any:
        """A text, or a list or mapping whatever its tag says."""
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return self.construct_sequence(node, deep=True)
        return self.construct_mapping(node, deep=True)

    def number(self, node: Any) -> Any:
        """The number that a scalar is; a text, list or mapping that is none stays what it is."""
        if not isinstance(node, yaml.ScalarNode):
            return self.plain(node)
        written = node.value
        whole = _INTEGER.fullmatch(written) or _HEXADECIMAL.fullmatch(written)
        if not whole and not _FLOAT.fullmatch(written):
            return written
        if len(written) <= MAX_NUMBER_LENGTH:
            value = int(written, 16 if "x" in written else 10) if whole else float(written)
            if math.isfinite(value):
                return value
        raise _Refused(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", node.start_mark)

    def word(self, node: Any) -> Any:
        """The boolean or null that a scalar is; a text, list or mapping that is none stays what it is."""
        return _WORDS.get(node.value, node.value) if isinstance(node, yaml.ScalarNode) else self.plain(node)


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_WORDS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_NUMBERS: Final = re.compile(rf"(?:{_INTEGER.pattern}|{_HEXADECIMAL.pattern}|{_FLOAT.pattern})\Z")
_Loader.add_implicit_resolver(f"{_TAG}float", _NUMBERS, list("-+.0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(rf"(?:{'|'.join(_WORDS)})\Z"), None)
_Loader.add_implicit_resolver(f"{_TAG}merge", re.compile(r"<<\Z"), ["<"])
for _name in ("int", "float"):
    _Loader.add_constructor(f"{_TAG}{_name}", _Loader.number)
for _name in ("bool", "null"):
    _Loader.add_constructor(f"{_TAG}{_name}", _Loader.word)
_Loader.add_constructor(None, _Loader.plain)


def _fail(expected: str, text: str, offset: int, position: int) -> NoReturn:
    raise MisreadError(f"expected {expected}, found {found_at(text, position)}", position + offset)
