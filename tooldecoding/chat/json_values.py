"""Arguments of calls: JSON objects from untrusted text or data, checked."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from lookup.literals.literal_reader import MAX_DEPTH

_MAX_BITS: Final = 8192
"""Python writes no longer numbers as decimals."""


def read_object(given: Any) -> dict[str, Any]:
    """Return the JSON object in a text, or given as data.

    Raises
    ------
    ValueError
        If it is anything else, has a key twice, a number that is no JSON number, or more than ``MAX_DEPTH`` levels.
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


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name}, which is no JSON value")
