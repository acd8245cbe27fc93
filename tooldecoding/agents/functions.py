"""Run Python functions with the arguments of calls, and write what they return for the model."""

import json
import math
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from inspect import BoundArguments
from itertools import islice
from typing import Any, Final

from pydantic_core import to_jsonable_python

from tooldecoding.agents.coroutines import collected, settled

_MOST_ITEMS: Final = 20_000
"""Items of an iterator that are waited for."""

_NOT_SHOWN: Final = "The function ran, and its result ({kind}) cannot be shown."
"""Tells of no failure: where one is told of, the model may make the call again."""


def run_function(function: Callable[..., Any], bound: BoundArguments) -> Any:
    """Return the result of a function, awaited if it must be; of an iterator the list of its items.

    Whatever the function raises.
    """
    result = settled(function(*bound.args, **bound.kwargs))
    if isinstance(result, AsyncIterator):
        return collected(result, _MOST_ITEMS)
    return list(islice(result, _MOST_ITEMS)) if isinstance(result, Iterator) else result


def result_text(result: Any) -> str:
    """Return a result as a text: a text as it is, anything else as JSON, or that it cannot be shown.

    Dates, sets, dataclasses, pydantic models and the like are written as pydantic writes them; what it does not know as
    ``str`` has it; bytes that are no text in base64; numbers that JSON lacks as texts.
    """
    try:
        plain = _plain(result)
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    except Exception:  # noqa: BLE001 - it runs the code of foreign classes
        return _NOT_SHOWN.format(kind=type(result).__name__)


def _plain(result: Any) -> Any:
    """The result as JSON has it."""
    try:
        encoded = to_jsonable_python(result, fallback=_written)
    except UnicodeDecodeError:  # bytes that are no text
        encoded = to_jsonable_python(result, fallback=_written, bytes_mode="base64")
    return _finite(encoded)


def _written(value: Any) -> Any:
    return b64encode(value).decode() if isinstance(value, memoryview) else str(value)


def _finite(value: Any) -> Any:
    """JSON with texts in the places of infinite numbers and of those that are none."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [*map(_finite, value)]
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
