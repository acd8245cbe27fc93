"""Calls in Python text, read without running anything. BFCL's and ACEBench's decoders run ``eval`` on parts of it.

A text, a nesting and the results of arithmetic are bounded; beyond that a prediction counts as one that cannot be
read.
"""

import ast
import warnings
from collections.abc import Sequence
from typing import Any, Final

from eval.benchmarks.arithmetic import MAX_DEPTH, Arithmetic, CallDecodeError, bounded

__all__ = ["MAX_LENGTH", "UNPACKED", "CallDecodeError", "demand_length", "parse_expression", "read_calls"]

MAX_LENGTH: Final = 100_000
"""Characters of a prediction."""

UNPACKED: Final = "**"
"""The key under which ``f(**anything)`` stands: no parameter is called so."""


def demand_length(text: str) -> None:
    """CallDecodeError for a text of more than ``MAX_LENGTH`` characters."""
    if len(text) > MAX_LENGTH:
        raise CallDecodeError(f"expected at most {MAX_LENGTH} characters, found {len(text)}")


def read_calls(nodes: Sequence[ast.expr]) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of calls; all of them stand in one prediction.

    Positional arguments are dropped; of two values for one key the last counts; ``**anything`` is a key of its own
    (``UNPACKED``). Any operator before a number negates it (``+5``, ``~5`` and ``not 5`` are -5). A name is its own
    text; ``...`` is ``'...'``. A call as a value is ``{name: arguments}``, or its source text where it has no key;
    indexing is its source text.

    Raises
    ------
    CallDecodeError
        If a node is no call, or a value is anything else or beyond the bounds.
    """
    reader = _ValueReader()
    try:
        return [reader.call(node, 0) for node in nodes]
    except RecursionError:
        raise CallDecodeError("the text is nested too deeply") from None


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of a Python expression; CallDecodeError for any other text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes and the like: the text is not ours
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise CallDecodeError(f"no Python expression: {error.msg}") from None
    except ValueError as error:  # NUL, a lone surrogate
        raise CallDecodeError(f"no Python expression: {type(error).__name__}") from None
    except (RecursionError, MemoryError):  # Python's parser reports its stack's end as MemoryError
        raise CallDecodeError("no Python expression: nested too deeply") from None


class _ValueReader:
    """Turns syntax trees of one prediction into values."""

    def __init__(self) -> None:
        self._arithmetic = Arithmetic()

    def call(self, node: ast.expr, depth: int) -> tuple[str, dict[str, Any]]:
        if not isinstance(node, ast.Call):
            raise CallDecodeError(f"expected a call, found {type(node).__name__}")
        pairs = ((UNPACKED if k.arg is None else k.arg, self.value(k.value, depth + 1)) for k in node.keywords)
        return _dotted_name(node.func), dict(pairs)

    def value(self, node: ast.expr, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise CallDecodeError(f"values are nested deeper than {MAX_DEPTH} levels")
        match node:
            case ast.Constant(value):
                return "..." if value is ... else bounded(value)
            case ast.UnaryOp(operand=ast.Constant(value)):
                return _negated(bounded(value))
            case ast.Name(name):
                return name
            case ast.List(elements):
                return [self.value(e, depth + 1) for e in elements]
            case ast.Tuple(elements):
                return tuple(self.value(e, depth + 1) for e in elements)
            case ast.Dict(keys, values):
                return self._dict(keys, values, depth)
            case ast.BinOp():
                return self._arithmetic.evaluate(node, depth)
            case ast.Call(keywords=[]):
                return _source(node)
            case ast.Call():
                name, arguments = self.call(node, depth)
                return {name: arguments}
            case ast.Subscript(value, index):
                return f"{_source(value)}[{_source(index)}]"
            case _:
                raise CallDecodeError(f"a value cannot be {type(node).__name__}")

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr], depth: int) -> dict[Any, Any]:
        result = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                raise CallDecodeError("a value cannot be {**…}")
            read = self.value(key, depth + 1), self.value(value, depth + 1)
            try:
                result[read[0]] = read[1]
            except TypeError as error:
                raise CallDecodeError(f"no key of a dict: {error}") from None
        return result


def _dotted_name(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _negated(value: Any) -> Any:
    if not isinstance(value, int | float | complex):
        raise CallDecodeError(f"{type(value).__name__} cannot be negated")
    return -value


def _source(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except ValueError:  # a number of too many digits
        raise CallDecodeError("a value whose source cannot be written") from None
