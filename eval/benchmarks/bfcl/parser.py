"""Reads a prediction as the official ``default_decode_ast_prompting`` does (package bfcl-eval 2026.3.23), safely.

Differences: a text, a nesting and arithmetic are bounded (``eval.benchmarks.python_calls``); beyond that a prediction
counts as one that cannot be read. The official decoder runs ``eval`` there, so ``9**9**9`` hangs it and a call such as
``len('a') + 1`` is executed.
"""

import ast
from typing import Any

from eval.benchmarks.python_calls import read_calls
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.python_calls import syntax_tree
from tooldecoding.formats.reading import UnreadableCallError


def decode_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls in a prediction, in its sequence; empty for ``[]`` and for an empty text.

    As the official decoder has it: back quotes, spaces and newlines around the text are dropped and missing brackets
    added; what remains must be one Python list of calls, whose values ``read_calls`` describes.

    Raises
    ------
    UnreadableCallError
        If it is anything else, or beyond the bounds. No other exception, whatever the text.
    """
    body = syntax_tree(_bracketed(text))
    if isinstance(body, ast.Call):  # ``[f](a=1) # ]``
        return read_calls([body])
    if isinstance(body, ast.List | ast.Tuple):
        return read_calls(body.elts)
    raise UnreadableCallError(f"expected a list of calls, found {type(body).__name__}")


def pythonic_calls(text: str) -> tuple[Call, ...]:
    """Return what ``decode_calls`` reads as calls."""
    return tuple(Call(name, arguments) for name, arguments in decode_calls(text))


def _bracketed(text: str) -> str:
    text = text.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"
