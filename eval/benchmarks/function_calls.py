"""Calls as BFCL's handler for OpenAI's chat completions keeps them: ``[{"name": "{\\"key\\": 1}"}]``.

A JSON list of calls, with their arguments as JSON texts (package bfcl-eval 2026.3.23, ``openai_completion.py``). Any
other text is an answer without calls.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from eval.benchmarks.python_calls import CallDecodeError, demand_length
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS


class OddCallsError(CallDecodeError):
    """JSON that the official handler takes, but not for calls."""


class ScoredFormat(Protocol):
    """How the calls of a prediction are written when it is scored."""

    @property
    def name(self) -> str:
        """Its name, a benchmark's ``call_format``."""

    def render(self, calls: Sequence[Call]) -> str:
        """Return the text of calls."""


class FunctionCalls:
    """The format of this module."""

    name: Final = "function-calling"

    def render(self, calls: Sequence[Call]) -> str:
        """Return the text of calls."""
        return _json([{call.name: _json(dict(call.arguments))} for call in calls])


FUNCTION_CALLS: Final = FunctionCalls()

SCORED_FORMATS: Final[Mapping[str, ScoredFormat]] = {**CALL_FORMATS, FUNCTION_CALLS.name: FUNCTION_CALLS}
"""Name -> format, of every benchmark."""


def read_function_calls(text: str) -> list[Call]:
    """Return the calls of a prediction; none for an empty list and an empty text.

    Raises
    ------
    OddCallsError
        If a call has no object of arguments.
    CallDecodeError
        If the text is no list of calls.
    """
    demand_length(text)
    if not text:
        return []
    rows = _parsed(text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) and row for row in rows):
        raise CallDecodeError("expected a JSON list of calls")
    calls = []
    for row in rows:
        name, arguments = next(iter(row.items()))
        if not isinstance(arguments, str):
            raise CallDecodeError(f"expected the arguments as a JSON text, found {type(arguments).__name__}")
        values = _parsed(arguments)
        if not isinstance(values, dict):
            raise OddCallsError(f"expected an object of arguments, found {type(values).__name__}")
        calls.append(Call(name, values))
    return calls


def official_result(text: str) -> str | list[Any]:
    """Return a prediction as the handler's result: a list of calls, or a text."""
    try:
        rows = _parsed(text)
    except CallDecodeError:
        return text
    return rows if isinstance(rows, list) else text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise CallDecodeError("expected JSON") from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=list)
