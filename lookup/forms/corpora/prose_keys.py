"""Keys that ToolAlpaca documents in one text each: ``Required. string. One of: [a, b]. The size.``"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.errors import DocumentationError, LiteralError
from lookup.literals.literal_reader import parse_literal, read_literal
from lookup.parameters.plain_values import plain_value
from lookup.parameters.requiredness import decide
from lookup.scanning import skip
from lookup.types.type_names import NULL_NAMES, value_type

_MAX_NESTING: Final = 8

_NEXT = re.compile(r"^[ \t]*+(?:Output|Parameters|Input|(?:\d{1,4}[.)][ \t]++)?Name)[ \t]*+:", re.MULTILINE)
_MARKER = re.compile(r"\s*+(?:required|optional)\s*+[.:,;]\s*+", re.IGNORECASE)
_CONTAINER = re.compile(r"(?:array|list)(\[)|(?:object|dict)(\{)", re.IGNORECASE)
# A type is a separate sentence.
_SENTENCE = re.compile(r"([^.\n]{1,80})(?:\.(?=\s)|\.?\Z)")
_SENTENCE_END = re.compile(r"\s*+(?:\.|\Z)")
_ONE_OF = re.compile(r"One of:\s*+\[")
_MEMBER = re.compile(r"\s*+([^\s:,{}\[\]]++)\s*+:\s*+(?:(?:required|optional)\s*+\.\s*+)?(#?[\w-]++)", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]{}]")
_SPLITS = re.compile(r"[\[{,]")
_SPACE = re.compile(r"\s*+")
_OPENER: Final = {"]": "[", "}": "{"}


def read_object(text: str, position: int) -> tuple[Any, int]:
    """The object at ``position`` and the offset behind it. All of its braces may be doubled.

    Raises
    ------
    LiteralError
        As for ``read_literal``.
    """
    # The next line of a tool is the limit, so that no part of a text is read twice.
    following = _NEXT.search(text, position)
    stretch = text[position : following.start() if following else len(text)]
    doubled = stretch.startswith("{{")
    try:
        value, end = read_literal(stretch, 1 if doubled else 0)
        if doubled and not stretch.startswith("}", end):
            raise LiteralError("'}'", end)
    except LiteralError as error:
        raise LiteralError(error.expected, position + error.position) from None
    if doubled and isinstance(value, dict):
        value = {_single(key): _single(prose) for key, prose in value.items()}
    return value, position + end + doubled


def _single(value: Any) -> Any:
    return value.replace("{{", "{").replace("}}", "}") if isinstance(value, str) else value


def is_prose(value: object) -> bool:
    """Whether every value is a text. ``{"type": "object"}`` is a JSON Schema without keys."""
    if not isinstance(value, dict) or value.get("type") == "object":
        return False
    return all(isinstance(key, str) and key and isinstance(prose, str) for key, prose in value.items())


def read_keys(values: Mapping[str, str], habit: bool | None) -> tuple[ParameterSpec, ...]:
    """The keys of an object of prose."""
    return tuple(read_prose(key, prose, habit) for key, prose in values.items())


def read_prose(key: str, prose: str, habit: bool | None) -> ParameterSpec:
    """Read a key whose text begins with a marker and a type, each a sentence.

    If the first sentence is not a known type, it belongs to the description, and the type is ``any``. Members of an
    enum are numbers or booleans if the type says so; otherwise texts.

    Parameters
    ----------
    habit : bool, optional
        Whether a key without a marker is required.
    """
    return _Prose(prose).parameter(key, 0, len(prose), habit)


def opens_with_type(prose: str) -> bool:
    """Whether a text opens with ``Required.``, ``Optional.`` or a type with a full stop, unlike a value of a call."""
    if _MARKER.match(prose):
        return True
    return bool(_Prose(prose).parameter("", 0, len(prose), None).raw_type) and "." in prose


class _Prose:
    """One text with its brackets paired. Every method reads the range ``start`` to ``end`` of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._partner: dict[int, int] = {}
        opened: list[int] = []
        waiting = {"[": 0, "{": 0}
        for match in _BRACKET.finditer(text):
            if (opener := _OPENER.get(match[0])) is None:
                opened.append(match.start())
                waiting[match[0]] += 1
            elif waiting[opener]:
                # Open brackets of the other kind are prose: "range [from, to)".
                while True:
                    start = opened.pop()
                    waiting[text[start]] -= 1
                    if text[start] == opener:
                        break
                self._partner[start] = match.start()

    def parameter(self, key: str, start: int, end: int, habit: bool | None, nesting: int = 0) -> ParameterSpec:
        marker = _MARKER.match(self._text, start, end)
        kind, raw_type, position = self._type(
            skip(_SPACE, self._text, marker.end() if marker else start, end), end, habit, nesting
        )
        enum, position, end_of_text = self._enum(position, end, kind.items if kind.kind == "list" else kind)
        description = self._text[position:end_of_text].strip()
        # The keys inside the type have their own markers.
        required, rule = decide(description=f"{marker[0] if marker else ''}{description}", habit=habit)
        return ParameterSpec(key, kind, raw_type, required, description, enum, MISSING, rule)

    def _close(self, opener: int, end: int) -> int | None:
        close = self._partner.get(opener)
        return close if close is not None and close < end else None

    def _type(self, start: int, end: int, habit: bool | None, nesting: int) -> tuple[ValueType, str, int]:
        """The type, the type as written (empty if there is none), and the offset behind it."""
        text = self._text
        if container := _CONTAINER.match(text, start, end):
            opener = container.end() - 1
            close = self._close(opener, end)
            after = _SENTENCE_END.match(text, close + 1, end) if close is not None else None
            if close is not None and after:
                kind = self._contained(text[opener], opener + 1, close, habit, nesting + 1)
                return kind, text[start : close + 1], after.end()
        sentence = _SENTENCE.match(text, start, end)
        if sentence and _is_type(sentence[1]):
            return value_type(sentence[1]), sentence[1], sentence.end()
        return ANY, "", start

    def _contained(self, bracket: str, start: int, end: int, habit: bool | None, nesting: int) -> ValueType:
        if bracket == "[":
            if nesting > _MAX_NESTING:
                return ValueType("list")
            inner = self.parameter("", start, end, habit, nesting)
            items = replace(inner.type, enum=inner.enum)
            return ValueType("list", None if items == ANY else items)
        return ValueType("dict", properties=None if nesting > _MAX_NESTING else self._keys(start, end, habit, nesting))

    def _keys(self, start: int, end: int, habit: bool | None, nesting: int) -> tuple[ParameterSpec, ...] | None:
        """The members ``key: prose`` of an object. A comma separates two members if a key with a type follows."""
        text = self._text
        bounds = self._commas(start, end)
        pieces = list(zip([start, *(b + 1 for b in bounds)], [*bounds, end], strict=True))
        typed = [_MEMBER.match(text, *piece) for piece in pieces]
        keys: dict[str, ParameterSpec] = {}
        if not any(match and _is_type(match[2]) for match in typed):
            names = [text[a:b].strip() for a, b in pieces]
            if not all(re.fullmatch(r"[^\s:]+", name) for name in names):
                return None
            for name in names:
                keys.setdefault(name, self._untyped(name, habit))
            return tuple(keys.values())
        members = [(match[1], match.start(2)) for match in typed if match and _is_type(match[2])]
        starts = [a for (a, _), match in zip(pieces, typed, strict=True) if match and _is_type(match[2])]
        if first := text[start : max(start, starts[0] - 1)].strip():
            keys[first] = self._untyped(first, habit)
        for (key, _), begin, stop in zip(members, starts, [*(s - 1 for s in starts[1:]), end], strict=True):
            prose = text.index(":", begin) + 1
            keys.setdefault(key, self.parameter(key, prose, stop, habit, nesting))
        return tuple(keys.values())

    @staticmethod
    def _untyped(name: str, habit: bool | None) -> ParameterSpec:
        return ParameterSpec(name, ANY, "", habit)

    def _commas(self, start: int, end: int) -> list[int]:
        """The commas outside brackets."""
        found = []
        position = start
        while match := _SPLITS.search(self._text, position, end):
            position = match.end()
            if match[0] == ",":
                found.append(match.start())
            else:
                position = self._close(match.start(), end) or position
        return found

    def _enum(self, start: int, end: int, kind: ValueType | None) -> tuple[tuple[Any, ...] | None, int, int]:
        """The members of ``One of: [...]`` at either end, and the remaining range."""
        text = self._text
        start = skip(_SPACE, self._text, start, end)
        last = text.rfind("One of:", start, end)
        for position in (start, last):
            match = _ONE_OF.match(text, position, end) if position >= 0 else None
            close = self._close(match.end() - 1, end) if match else None
            if match is None or close is None or not text[match.end() : close].strip():
                continue
            after = _SENTENCE_END.match(text, close + 1, end)
            behind = skip(_SPACE, self._text, after.end() if after else close + 1, end)
            members = _members(text[match.end() : close], kind or ANY)
            if position == start:
                return members, behind, end
            if behind == end:
                return members, start, position
        return None, start, end


def _is_type(word: str) -> bool:
    return value_type(word) != ANY or word.lower() in NULL_NAMES | {"any"} or (word.startswith("#") and " " not in word)


def _members(written: str, kind: ValueType) -> tuple[Any, ...]:
    if written.lstrip()[:1] in ("'", '"'):
        try:
            return tuple(plain_value(member, "enum", "") for member in parse_literal(f"[{written}]"))
        except (LiteralError, DocumentationError):
            pass  # 'a' or 'b'
    separator = ", " if ", " in written else ","
    return tuple(_member(member.strip(), kind) for member in written.split(separator))


def _member(word: str, kind: ValueType) -> Any:
    wanted: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}
    try:
        value = parse_literal(word)
    except LiteralError:
        return word
    return value if type(value) in wanted.get(kind.kind, ()) else word
