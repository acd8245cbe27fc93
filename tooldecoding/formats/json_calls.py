"""What the readers of formats with JSON in them share: strict JSON, arguments, and calls that are JSON objects.

Strict means: no NaN, no infinity, no number that overflows to infinity, and no key twice in an object. Only the object
of the arguments may repeat a key: its pairs are returned as they stand.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from tooldecoding.formats.reading import MAX_DEPTH, Cursor, ReadCall, UnreadableCallError

_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")

NAME_AND_ARGUMENTS: Final = ("name", "arguments")
"""The keys of a call in most formats."""


def json_value(cursor: Cursor) -> Any:
    """Read the JSON value that stands here, without space in front.

    Raises
    ------
    UnreadableCallError
        If there is none, or it is not strict, or nested deeper than ``MAX_DEPTH``.
    """
    return _plain(_parse(cursor))


def json_text(text: str) -> Any:
    """Read a text that is one JSON value, without space around it; UnreadableCallError as for ``json_value``."""
    cursor = Cursor(text)
    value = json_value(cursor)
    cursor.expect_end()
    return value


def json_arguments(cursor: Cursor) -> list[tuple[str, Any]]:
    """Read the JSON object that stands here, and return its pairs; UnreadableCallError as for ``json_value``."""
    return _arguments(_parse(cursor))


def json_call(cursor: Cursor, keys: tuple[str, str]) -> ReadCall:
    """Read the call that stands here, an object of a name and arguments under these keys; else UnreadableCallError."""
    name, arguments = _values(_parse(cursor), keys)
    return call_of(name, arguments)


def json_calls(cursor: Cursor) -> list[ReadCall]:
    """Read the list that stands here, of objects with ``name`` and ``arguments``; else UnreadableCallError."""
    return [call_of(*values) for values in json_rows(cursor, NAME_AND_ARGUMENTS)]


def json_rows(cursor: Cursor, *choices: tuple[str, ...]) -> list[list[Any]]:
    """Read the list that stands here, of one object or more, which all have the keys of one choice in its sequence.

    Returns
    -------
    list of list
        For each object its values as ``call_of`` takes them.

    Raises
    ------
    UnreadableCallError
        If anything else stands here.
    """
    rows = _parse(cursor)
    if isinstance(rows, _Object) or not isinstance(rows, list) or not rows:
        raise UnreadableCallError("expected a JSON list of calls")
    keys = next((choice for choice in choices if _keys(rows[0]) == choice), choices[0])
    return [_values(row, keys) for row in rows]


def call_of(name: Any, arguments: Any) -> ReadCall:
    """Return the call of two values of ``json_rows``; UnreadableCallError if they are not a name and an object."""
    if not isinstance(name, str) or not name:
        raise UnreadableCallError("expected a text as the tool's name")
    return name, _arguments(arguments)


def demand_ids(ids: Sequence[Any]) -> None:
    """UnreadableCallError if ids of calls are not those of Mistral, nine letters and digits, or not unique."""
    if not all(isinstance(i, str) and _ID.fullmatch(i) for i in ids):
        raise UnreadableCallError("expected nine letters and digits as the id of a call")
    if len(set(ids)) != len(ids):
        raise UnreadableCallError("two calls have the same id")


class _Object(list[tuple[str, Any]]):
    """The pairs of a JSON object, before repeated keys are looked for."""


def _parse(cursor: Cursor) -> Any:
    try:
        value, cursor.position = _DECODER.raw_decode(cursor.text, cursor.position)
    except json.JSONDecodeError as error:
        raise UnreadableCallError(f"no JSON: {error.msg} at offset {error.pos}") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise cursor.error(f"no JSON: {error}") from None
    except RecursionError:
        raise cursor.error("no JSON: nested too deeply") from None
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnreadableCallError("a number is too large")
    return number


def _no_constant(word: str) -> NoReturn:
    raise UnreadableCallError(f"{word} is no JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_Object, parse_float=_finite, parse_constant=_no_constant)


def _keys(row: Any) -> tuple[str, ...]:
    return tuple(key for key, _ in row) if isinstance(row, _Object) else ()


def _values(row: Any, keys: tuple[str, ...]) -> list[Any]:
    if _keys(row) != keys:
        raise UnreadableCallError(f"expected a JSON object with exactly {', '.join(keys)}, in this sequence")
    return [value for _, value in row]


def _arguments(value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, _Object):
        raise UnreadableCallError("expected a JSON object as the arguments")
    return [(key, _plain(inner)) for key, inner in value]


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value in which objects are dicts."""
    if depth > MAX_DEPTH:
        raise UnreadableCallError(f"values are nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, _Object):
        found = {key: _plain(inner, depth + 1) for key, inner in value}
        if len(found) != len(value):
            raise UnreadableCallError("an object has a key twice")
        return found
    return [_plain(inner, depth + 1) for inner in value] if isinstance(value, list) else value
