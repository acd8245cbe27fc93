"""JSON lines: reading rows with the place of what is wrong, writing a row as one line."""

import json
from collections.abc import Iterator
from typing import Any

from lookup.errors import ToolDecodingError


def read_row(line: str, number: int, origin: str, error: type[ToolDecodingError]) -> dict[str, Any]:
    """One JSON object from one line.

    Raises
    ------
    ToolDecodingError
        Of the type ``error``, with ``origin:line:column`` and what was expected there.
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
    """Lines that are not blank, with their numbers."""
    # split at newlines only: JSON strings may hold other line separators
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def json_line(value: Any) -> str:
    """``value`` as JSON without a newline, characters as they are where UTF-8 can write them."""
    line = json.dumps(value, ensure_ascii=False, default=_plain)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain)
    return line


def _plain(value: object) -> Any:
    """Sets, which Python documentation may hold, as sorted lists."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    raise TypeError(f"{type(value).__name__} is not JSON")
