"""Reads an answer as ACEBench's decoder does (commit e6db74b, ``model_eval/``), without running any of it."""

import ast
from typing import Any

from eval.benchmarks.python_calls import CallDecodeError, demand_length, parse_expression, read_calls


def decode_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls in an answer, in its sequence.

    All white space goes first, inside of strings, too. The rest is a Python list, tuple or set of calls, whose values
    ``read_calls`` describes.

    Raises
    ------
    CallDecodeError
        If it is anything else, or beyond the bounds of ``eval.benchmarks.python_calls``.
    """
    demand_length(text)
    body = parse_expression("".join(text.split()))
    if not isinstance(body, ast.List | ast.Tuple | ast.Set):
        raise CallDecodeError(f"expected a list of calls, found {type(body).__name__}")
    return read_calls(body.elts)
