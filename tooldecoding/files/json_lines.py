"""JSON: rows of files, with the place of each error; objects of untrusted text or data, checked; and writing lines."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

from lookup.errors import ToolDecodingError
from lookup.literals.literal_reader import MAX_DEPTH

MAX_LINE_BYTES: Final = 64 << 20
"""Longer lines are not read."""
_MOST_ENCODINGS: Final = 4
"""So often an object may be encoded as JSON in JSON."""
_MAX_BITS: Final = 8192
"""Python writes no longer numbers as decimals."""


def read_json(text: str) -> Any:
    """Return the JSON value in a text; ValueError or RecursionError if there is none, and for NaN and infinity."""
    return _DECODER.decode(text)


def read_row(line: str, number: int, origin: str, error: type[ToolDecodingError]) -> dict[str, Any]:
    """Return the JSON object in a line; errors as ``read_value``, and if it is no object."""
    row = read_value(line, number, origin, error)
    if not isinstance(row, dict):
        raise error(f"{origin}:{number}: expected a JSON object, found {type(row).__name__}")
    return row


def read_value(text: str, number: int, origin: str, error: type[ToolDecodingError]) -> Any:
    """Return the JSON value in a text that begins in a line.

    ToolDecodingError: of the type ``error``, with ``origin:line:column`` and what was expected.
    """
    try:
        return read_json(text)
    except json.JSONDecodeError as cause:
        place = f"{origin}:{number + cause.lineno - 1}:{cause.colno}"
        raise error(f"{place}: malformed JSON: {cause.msg[:1].lower()}{cause.msg[1:]}") from None
    except ValueError as cause:  # a number of thousands of digits, or NaN
        raise error(f"{origin}:{number}: malformed JSON: {cause}") from None
    except RecursionError:
        raise error(f"{origin}:{number}: malformed JSON: nested too deeply") from None


def read_object(given: Any) -> dict[str, Any]:
    """Return the JSON object in a text, or given as data.

    ValueError if it is anything else, has a key twice, a number that is no JSON number, or more than ``MAX_DEPTH``
    levels.
    """
    if isinstance(given, str):
        try:
            given = json.loads(given, parse_constant=_refuse_constant, object_pairs_hook=_without_doubles)
        except json.JSONDecodeError as error:
            raise ValueError(f"malformed JSON at character {error.pos}: {error.msg}") from None
        except RecursionError:
            raise ValueError(f"more than {MAX_DEPTH} levels of nesting") from None
    if not isinstance(given, Mapping):
        raise ValueError(f"expected a JSON object, found a value of type {type(given).__name__}")
    return {_key(key): _checked(value, 1) for key, value in given.items()}


def read_arguments(given: Any) -> dict[str, Any]:
    """Return the arguments of a call: none for null and a blank text, which many write; else as ``read_object``."""
    blank = given is None or (isinstance(given, str) and given.strip() in ("", "null"))
    return {} if blank else read_object(given)


def read_made_arguments(given: Any) -> dict[str, Any] | str:
    """Return the arguments of a call that some model made: an object, also where it is encoded as JSON more than once.

    A text that holds no object, such as one that was cut, is returned as it is, and a list, a number or a truth value
    as JSON: a conversation with such a call goes on. ValueError for data that JSON does not have.
    """
    if given is None or isinstance(given, Mapping):
        return read_arguments(given)
    if not isinstance(given, str):
        return json_line(_checked(given, 1))
    inner: Any = given
    for _ in range(_MOST_ENCODINGS):
        try:
            return read_arguments(inner)
        except ValueError:
            inner = _text_inside(inner)
        if inner is None:
            break
    return given


def _text_inside(text: str) -> str | None:
    """Return the text that a text encodes as JSON."""
    try:
        inner = read_json(text)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, str) else None


def _checked(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
    if isinstance(value, Mapping):
        return {_key(key): _checked(inside, depth + 1) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(inside, depth + 1) for inside in value]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError(f"a number of more than {_MAX_BITS} bits")
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"a value that JSON does not have: {value!r:.40}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {key!r:.40}, which is no text")
    return key


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r:.40} twice")
    return found


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    # split at newlines only: JSON strings may hold other line separators
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def bounded_lines(file: BinaryIO, origin: str, error: type[ToolDecodingError]) -> Iterator[tuple[int, bytes]]:
    """Yield all lines with their numbers and newlines; an error of the type ``error`` for one of more than 64 MiB."""
    lines = iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            raise error(f"{origin}:{number}: expected a line of at most {MAX_LINE_BYTES} bytes")
        yield number, line


def json_line(value: Any) -> str:
    """Return ``value`` as JSON on one line; characters are escaped only if UTF-8 cannot write them."""
    line = _ENCODER.encode(value)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain)
    return line


def short_repr(value: Any) -> str:
    """Return a value for a message, in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(value: object) -> Any:
    """Write sets, which Python documentation may hold, as sorted lists."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name}, which is no JSON value")


# json.loads and json.dumps make new ones for each value
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=_plain)
