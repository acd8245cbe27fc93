"""Calls in Python text, read without running anything. BFCL's and ACEBench's decoders run ``eval`` on parts of it.

A text, a nesting and numbers are bounded, and arithmetic is that of numbers, and ``+`` of texts; beyond that a
prediction counts as one that cannot be read. There, ``9**9**9`` hangs the official decoder, and a call such as
``len('a') + 1`` is executed.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError
from tooldecoding.formats.python_reader import syntax_tree

MAX_DEPTH: Final = 200
"""Nesting of values; Python's own tokenizer allows 200 open brackets."""

MAX_BITS: Final = 14_284
"""Bits of a whole number; it has about 4300 digits then, Python's limit for writing one."""

UNPACKED: Final = "**"
"""The key under which ``f(**anything)`` stands: no parameter is called so."""

_OPERATORS: Final[Mapping[type, Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def decode_calls(text: str) -> list[Call]:
    """Return the calls in a prediction, in its sequence, as BFCL's decoder reads them; none for ``[]`` and no text.

    As ``default_decode_ast_prompting`` of bfcl-eval 2026.3.23 has it: back quotes, spaces and newlines around the text
    are dropped and missing brackets added; what remains must be one Python list of calls, whose values ``read_calls``
    describes.

    UnreadableCallError if it is anything else, or beyond the bounds. No other exception, whatever the text.
    """
    text = text.strip("`\n ")
    opening, closing = "" if text.startswith("[") else "[", "" if text.endswith("]") else "]"
    body = syntax_tree(opening + text + closing)
    if isinstance(body, ast.Call):  # ``[f](a=1) # ]``
        return read_calls([body])
    if isinstance(body, ast.List | ast.Tuple):
        return read_calls(body.elts)
    raise UnreadableCallError(f"expected a list of calls, found {type(body).__name__}")


def read_calls(nodes: Sequence[ast.expr]) -> list[Call]:
    """Return calls; all of them stand in one prediction.

    Positional arguments are dropped; of two values for one key the last counts; ``**anything`` is a key of its own
    (``UNPACKED``). Any operator before a number negates it (``+5``, ``~5`` and ``not 5`` are -5). A name is its own
    text; ``...`` is ``'...'``. A call as a value is ``{name: arguments}``, or its source text where it has no key;
    indexing is its source text.

    UnreadableCallError if a node is no call, or a value is anything else or beyond the bounds.
    """
    try:
        return [_call(node, 0) for node in nodes]
    except RecursionError:
        raise UnreadableCallError("the text is nested too deeply") from None


def evaluate(text: str) -> Any:
    """Return the value of arithmetic on literals; UnreadableCallError for anything else."""
    return _arithmetic(syntax_tree(text), 0)


def _call(node: ast.expr, depth: int) -> Call:
    if not isinstance(node, ast.Call):
        raise UnreadableCallError(f"expected a call, found {type(node).__name__}")
    pairs = ((UNPACKED if k.arg is None else k.arg, _value(k.value, depth + 1)) for k in node.keywords)
    return Call(_dotted_name(node.func), dict(pairs))


def _value(node: ast.expr, depth: int) -> Any:
    _demand_depth(depth)
    match node:
        case ast.Constant(value):
            return "..." if value is ... else _bounded(value)
        case ast.UnaryOp(operand=ast.Constant(int() | float() | complex() as value)):
            return -_bounded(value)
        case ast.Name(name):
            return name
        case ast.List(elements):
            return [_value(e, depth + 1) for e in elements]
        case ast.Tuple(elements):
            return tuple(_value(e, depth + 1) for e in elements)
        case ast.Dict(keys, values):
            return _dict(keys, values, depth)
        case ast.BinOp():
            return _arithmetic(node, depth)
        case ast.Call(keywords=[]):
            return _source(node)
        case ast.Call():
            call = _call(node, depth)
            return {call.name: call.arguments}
        case ast.Subscript(value, index):
            return f"{_source(value)}[{_source(index)}]"
        case _:
            raise UnreadableCallError(f"a value cannot be {type(node).__name__}")


def _dict(keys: list[ast.expr | None], values: list[ast.expr], depth: int) -> dict[Any, Any]:
    result = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            raise UnreadableCallError("a value cannot be {**…}")
        read = _value(key, depth + 1), _value(value, depth + 1)
        try:
            result[read[0]] = read[1]
        except TypeError as error:
            raise UnreadableCallError(f"no key of a dict: {error}") from None
    return result


def _arithmetic(node: ast.expr, depth: int) -> Any:
    """The value of operators on numbers, and of ``+`` between texts, as Python has it.

    The official decoder runs anything else, too.
    """
    _demand_depth(depth)
    match node:
        case ast.Constant(int() | float() | complex() | str() as value):
            return _bounded(value)
        case ast.UnaryOp(operation, operand) if type(operation) in _OPERATORS:
            values = [_arithmetic(operand, depth + 1)]
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATORS:
            values = [_arithmetic(left, depth + 1), _arithmetic(right, depth + 1)]
        case _:
            raise UnreadableCallError(f"{type(node).__name__} inside arithmetic is not evaluated")
    texts = sum(isinstance(value, str) for value in values)
    if texts and not (texts == 2 and isinstance(operation, ast.Add)):
        raise UnreadableCallError("texts inside arithmetic can only be joined by +")
    if isinstance(operation, ast.Pow) and all(isinstance(value, int) for value in values):
        base, exponent = values
        if abs(base) > 1 and base.bit_length() * exponent > 2 * MAX_BITS:  # an estimate, at most twice too many
            raise _too_large()
    try:
        return _bounded(_OPERATORS[type(operation)](*values))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UnreadableCallError(f"arithmetic that Python refuses: {error}") from None


def _demand_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UnreadableCallError(f"values are nested deeper than {MAX_DEPTH} levels")


def _bounded(value: Any) -> Any:
    """A constant or a result; UnreadableCallError for a whole number of more than ``MAX_BITS`` bits."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise _too_large()
    return value


def _too_large() -> UnreadableCallError:
    return UnreadableCallError(f"a number has more than {MAX_BITS} bits")


def _dotted_name(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _source(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except ValueError:  # a number of too many digits
        raise UnreadableCallError("a value whose source cannot be written") from None
