"""Reads a prediction as the official ``default_decode_ast_prompting`` does (package bfcl-eval 2026.3.23), safely.

Differences: a text, a nesting and the results of arithmetic are bounded, and what arithmetic may do is
(``arithmetic``); beyond that a prediction counts as one that cannot be read. The official decoder runs
``eval`` there, so ``9**9**9`` hangs it and a call such as ``len('a') + 1`` is executed.
"""

import ast
from typing import Any

from eval.benchmarks.python_calls import CallDecodeError, demand_length, parse_expression, read_calls


def decode_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls in a prediction, in its sequence; empty for ``[]`` and for an empty text.

    As the official decoder has it: back quotes, spaces and newlines around the text are dropped and missing brackets
    added; what remains must be one Python list of calls, whose values ``read_calls`` describes.

    Raises
    ------
    CallDecodeError
        If it is anything else, or beyond the bounds. No other exception, whatever the text.
    """
    demand_length(text)
    body = parse_expression(_bracketed(text))
    if isinstance(body, ast.Call):  # ``[f](a=1) # ]``
        return read_calls([body])
    if isinstance(body, ast.List | ast.Tuple):
        return read_calls(body.elts)
    raise CallDecodeError(f"expected a list of calls, found {type(body).__name__}")


def _bracketed(text: str) -> str:
    text = text.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"
