"""JSON lines: reading rows, with the place of each error, and writing rows."""

import json
from collections.abc import Iterator
from typing import Any

from lookup.errors import ToolDecodingError


def read_row(line: str, number: int, origin: str, error: type[ToolDecodingError]) -> dict[str, Any]:
    """Return the JSON object in a line.

    Raises
    ------
    ToolDecodingError
        Of the type ``error``, with ``origin:line:column`` and what was expected.
    """
    try:
        row = json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as cause:
        raise error(
            f"{origin}:{number}:{cause.colno}: malformed JSON: {cause.msg[:1].lower()}{cause.msg[1:]}"
        ) from None
    except ValueError as cause:  # a number of thousands of digits, or NaN
        raise error(f"{origin}:{number}: malformed JSON: {cause}") from None
    except RecursionError:
        raise error(f"{origin}:{number}: malformed JSON: nested too deeply") from None
    if not isinstance(row, dict):
        raise error(f"{origin}:{number}: expected a JSON object, found {type(row).__name__}")
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    # split at newlines only: JSON strings may hold other line separators
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def json_line(value: Any) -> str:
    """Return ``value`` as JSON on one line; characters are escaped only if UTF-8 cannot write them."""
    line = json.dumps(value, ensure_ascii=False, default=_plain)
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
