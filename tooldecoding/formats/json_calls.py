"""Strict JSON in texts of calls: no NaN, no infinity, no number that overflows to it, and no key twice in an object.

Only the object of the arguments may repeat a key: its pairs are returned as they stand.
"""

import json
import math
from typing import Any, Final, NoReturn

from tooldecoding.formats.reading import MAX_DEPTH, Cursor, UnreadableCallError


class Pairs(list[tuple[str, Any]]):
    """The pairs of a JSON object, before repeated keys are looked for."""


def json_value(cursor: Cursor) -> Any:
    """Read the JSON value that stands here, without space in front.

    Raises
    ------
    UnreadableCallError
        If there is none, or it is not strict, or nested deeper than ``MAX_DEPTH``.
    """
    return _plain(json_pairs(cursor))


def json_text(text: str) -> Any:
    """Read a text that is one JSON value, without space around it; UnreadableCallError as for ``json_value``."""
    cursor = Cursor(text)
    value = json_value(cursor)
    cursor.expect_end()
    return value


def json_arguments(cursor: Cursor) -> list[tuple[str, Any]]:
    """Read the JSON object that stands here, and return its pairs; UnreadableCallError as for ``json_value``."""
    return arguments_of(json_pairs(cursor))


def json_pairs(cursor: Cursor) -> Any:
    """Read the JSON value that stands here, with ``Pairs`` for objects; UnreadableCallError if there is none."""
    try:
        value, cursor.position = _DECODER.raw_decode(cursor.text, cursor.position)
    except json.JSONDecodeError as error:
        raise UnreadableCallError(f"no JSON: {error.msg} at offset {error.pos}") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise cursor.error(f"no JSON: {error}") from None
    except RecursionError:
        raise cursor.error("no JSON: nested too deeply") from None
    return value


def arguments_of(value: Any) -> list[tuple[str, Any]]:
    """Return the pairs of what ``json_pairs`` read; UnreadableCallError if it is no strict object."""
    if not isinstance(value, Pairs):
        raise UnreadableCallError("expected a JSON object as the arguments")
    return [(key, _plain(inner)) for key, inner in value]


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnreadableCallError("a number is too large")
    return number


def _no_constant(word: str) -> NoReturn:
    raise UnreadableCallError(f"{word} is no JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=Pairs, parse_float=_finite, parse_constant=_no_constant)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value in which objects are dicts."""
    if depth > MAX_DEPTH:
        raise UnreadableCallError(f"values are nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Pairs):
        found = {key: _plain(inner, depth + 1) for key, inner in value}
        if len(found) != len(value):
            raise UnreadableCallError("an object has a key twice")
        return found
    return [_plain(inner, depth + 1) for inner in value] if isinstance(value, list) else value
