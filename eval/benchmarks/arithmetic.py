"""Arithmetic in a prediction, within bounds. The official decoder runs ``eval`` on it."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.errors import ToolDecodingError

MAX_DEPTH: Final = 200
"""Nesting of values; Python's own tokenizer allows 200 open brackets."""

MAX_SIZE: Final = 100_000
"""Characters and elements that all arithmetic of one prediction may make together."""

MAX_BITS: Final = 14_284
"""Bits of a whole number; it has about 4300 digits then, Python's limit for writing one."""

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


class CallDecodeError(ToolDecodingError):
    """A prediction that the official decoder cannot read, or that goes beyond the bounds of ours."""


class Arithmetic:
    """Evaluates operators on literals as Python does, for one prediction.

    What is made may be at most ``MAX_SIZE`` large altogether. Names, calls, indexing, comparisons, sets, dicts,
    f-strings and ``%``-formatting are not evaluated: the official decoder would run them.
    """

    def __init__(self) -> None:
        self._left = MAX_SIZE

    def evaluate(self, node: ast.expr, depth: int) -> Any:
        """The value of an expression.

        Raises
        ------
        CallDecodeError
            If Python refuses it (``1 / 0``, ``'a' - 1``), it is not arithmetic, or it goes beyond the bounds.
        """
        if depth > MAX_DEPTH:
            raise CallDecodeError(f"arithmetic is nested deeper than {MAX_DEPTH} levels")
        match node:
            case ast.Constant(value):
                return bounded(value)
            case ast.UnaryOp(sign, operand):
                value = self.evaluate(operand, depth + 1)
                return _apply(lambda: _UNARY[type(sign)](value))
            case ast.BinOp(left, operation, right) if type(operation) in _BINARY:
                return self._binary(operation, self.evaluate(left, depth + 1), self.evaluate(right, depth + 1))
            case ast.List(elements):
                return [self.evaluate(e, depth + 1) for e in elements]
            case ast.Tuple(elements):
                return tuple(self.evaluate(e, depth + 1) for e in elements)
            case _:
                raise CallDecodeError(f"{type(node).__name__} inside arithmetic is not evaluated")

    def _binary(self, operation: ast.operator, left: Any, right: Any) -> Any:
        self._demand_room(operation, left, right)
        result = _apply(lambda: _BINARY[type(operation)](left, right))
        self._left -= _size(result)
        return bounded(result)

    def _demand_room(self, operation: ast.operator, left: Any, right: Any) -> None:
        """Refuse what would be too large before it is made."""
        match operation, left, right:
            case ast.Mod(), str() | bytes(), _:
                raise CallDecodeError("%-formatting is not evaluated")
            case ast.Pow(), int(), int() if right > 0 and abs(left) > 1:
                bits = left.bit_length() * right
            case ast.LShift(), int(), int() if right > 0 and left:
                bits = left.bit_length() + right
            case ast.Mult(), int(), int():
                bits = left.bit_length() + right.bit_length() - 1
            case ast.Mult(), int(), _:
                bits = 0
                self._demand_size(_size(right) * left)
            case ast.Mult(), _, int():
                bits = 0
                self._demand_size(_size(left) * right)
            case ast.Add(), _, _:
                bits = 0
                self._demand_size(_size(left) + _size(right))
            case _:
                bits = 0
        if bits > 2 * MAX_BITS:  # the estimate is at most twice too large; ``bounded`` is exact
            raise _too_large()

    def _demand_size(self, size: int) -> None:
        if size > self._left:
            raise _too_large()


def bounded(value: Any) -> Any:
    """The value of a constant or an operation; CallDecodeError for a whole number of more than ``MAX_BITS`` bits."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise _too_large()
    return value


def _apply(operation: Callable[[], Any]) -> Any:
    try:
        return operation()
    except (TypeError, ValueError, ArithmeticError) as error:
        raise CallDecodeError(f"arithmetic that Python refuses: {error}") from None


def _size(value: Any) -> int:
    """Characters and elements of a value, each as often as it is reached."""
    match value:
        case str() | bytes():
            return len(value)
        case list() | tuple():
            return len(value) + sum(map(_size, value))
        case int():
            return value.bit_length() // 64
        case _:
            return 0


def _too_large() -> CallDecodeError:
    return CallDecodeError(f"arithmetic makes more than {MAX_SIZE} elements or a number of more than {MAX_BITS} bits")
