"""Read values with bare keys and marked texts, as Gemma writes them: ``{k:<|"|>v<|"|>,n:[1,true]}``."""

import re
from typing import Any

from lookup.errors import LiteralError
from lookup.literals.literal_reader import MAX_DEPTH
from lookup.values.raw_reader import strict_json

_KEY = re.compile(r'([^\s:,{}\[\]<>"|]+):')
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")


def read_bare(text: str, mark: str) -> Any:
    """Return the value of a whole literal.

    Raises
    ------
    LiteralError
        If it is malformed, nested deeper than 64 levels, or repeats a key.
    """
    value, end = _read(text, 0, mark, 0)
    if end != len(text):
        raise LiteralError("the end of the literal", end)
    return value


def bare_end(text: str, position: int, mark: str) -> int:
    """Return the end of the literal that starts at ``position``; LiteralError as ``read_bare``."""
    return _read(text, position, mark, 0)[1]


def _read(text: str, position: int, mark: str, depth: int) -> tuple[Any, int]:
    if text.startswith(mark, position):
        end = text.find(mark, position + len(mark))
        if end < 0:
            raise LiteralError(repr(mark), len(text))
        return text[position + len(mark) : end], end + len(mark)
    bracket = text[position : position + 1]
    if bracket in ("[", "{") and bracket:
        if depth == MAX_DEPTH:
            raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", position)
        return _list(text, position, mark, depth) if bracket == "[" else _object(text, position, mark, depth)
    found = _SCALAR.match(text, position)
    if found is None:
        raise LiteralError("a value", position)
    try:
        return strict_json(found[0]), found.end()
    except ValueError:
        raise LiteralError("a number", position) from None


def _list(text: str, position: int, mark: str, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    position += 1
    while not text.startswith("]", position):
        position = _comma(text, position, bool(items))
        item, position = _read(text, position, mark, depth + 1)
        items.append(item)
    return items, position + 1


def _object(text: str, position: int, mark: str, depth: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    position += 1
    while not text.startswith("}", position):
        position = _comma(text, position, bool(members))
        key = _KEY.match(text, position)
        if key is None or key[1] in members:
            raise LiteralError("a key that is not there yet", position)
        members[key[1]], position = _read(text, key.end(), mark, depth + 1)
    return members, position + 1


def _comma(text: str, position: int, needed: bool) -> int:
    if not needed:
        return position
    if not text.startswith(",", position):
        raise LiteralError("a comma", position)
    return position + 1
