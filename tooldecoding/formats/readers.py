"""Independent readers of calls: what a program that knows nothing of this one reads in a decoded text.

They share no code with what writes calls. ``pythonic`` is read by Python's own parser. ``api-bank`` is read as
API-Bank's evaluator finds names and keys (``\\w+``), with values that are Python texts between single quotes; its
evaluator is coarser there and ends a value at the first quote inside it, escaped or not.
"""

import ast
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from lookup.errors import ToolDecodingError

MAX_LENGTH: Final = 100_000
"""Characters of a text."""

MAX_DEPTH: Final = 64
"""Levels of lists, tuples and dicts."""

ReadCall = tuple[str, list[tuple[str, Any]]]
"""A name, and its keys with their values, in the sequence of the text; a key that stands twice is there twice."""

Reader = Callable[[str], list[ReadCall]]
"""Reads a text that holds calls and nothing else, in linear time; UnreadableCallError if it does not."""

_NAME: Final = re.compile(r"\[(\w++)\(")
_PAIR: Final = re.compile(r"(\w++)=('(?:[^'\\\n]|\\.)*+')")


class UnreadableCallError(ToolDecodingError):
    """A text that a format's reader does not take as calls."""


def read_pythonic(text: str) -> list[ReadCall]:
    """The calls of ``[name(key=value), …]``: names may be dotted, values are constants, lists, tuples and dicts.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    body = _parsed(text)
    if not isinstance(body, ast.List):
        raise UnreadableCallError("expected a Python list of calls")
    return [_call(node) for node in body.elts]


def read_api_bank(text: str) -> list[ReadCall]:
    """The call of ``[Name(key='value', …)]``; every value is a text.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, or longer than ``MAX_LENGTH``.
    """
    _demand_short(text)
    name = _NAME.match(text)
    if name is None:
        raise UnreadableCallError("expected [ and a name of letters, digits and underscores, and (")
    position, pairs = name.end(), list[tuple[str, Any]]()
    while not text.startswith(")]", position):
        if pairs:
            if not text.startswith(", ", position):
                raise UnreadableCallError(f"expected ', ' at offset {position}")
            position += len(", ")
        pair = _PAIR.match(text, position)
        if pair is None:
            raise UnreadableCallError(
                f"expected a key of letters, digits and underscores, = and a quoted value at offset {position}"
            )
        pairs.append((pair[1], _value(_parsed(pair[2]), 0)))
        position = pair.end()
    if position + len(")]") != len(text):
        raise UnreadableCallError(f"expected the end behind offset {position}")
    return [(name[1], pairs)]


def _parsed(text: str) -> ast.expr:
    _demand_short(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes: the text is not ours
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UnreadableCallError(f"no Python: {getattr(error, 'msg', error)}") from None
    except (RecursionError, MemoryError):  # Python's parser reports the end of its stack as MemoryError
        raise UnreadableCallError("no Python: nested too deeply") from None


def _demand_short(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise UnreadableCallError(f"expected at most {MAX_LENGTH} characters, found {len(text)}")


def _call(node: ast.expr) -> ReadCall:
    if not isinstance(node, ast.Call) or node.args:
        raise UnreadableCallError("expected calls that name all their arguments")
    pairs = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise UnreadableCallError("expected key=value, found **")
        pairs.append((keyword.arg, _value(keyword.value, 0)))
    return _dotted(node.func), pairs


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise UnreadableCallError("expected a name, or names with dots between them")
    return ".".join([node.id, *reversed(parts)])


def _value(node: ast.expr | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnreadableCallError(f"values are nested deeper than {MAX_DEPTH} levels")
    match node:
        case ast.Constant(str() | int() | float() | None as value):  # bool is an int
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)) if not isinstance(value, bool):
            return -value
        case ast.List(elements):
            return [_value(element, depth + 1) for element in elements]
        case ast.Tuple(elements):
            return tuple(_value(element, depth + 1) for element in elements)
        case ast.Dict(keys, values):
            return _dict(keys, values, depth)
    raise UnreadableCallError("expected constants, lists, tuples and dicts as values")


def _dict(keys: list[ast.expr | None], values: list[ast.expr], depth: int) -> dict[Any, Any]:
    found = {}
    for key, value in zip(keys, values, strict=True):
        name = _value(key, depth + 1)
        if not isinstance(name, str | int | float | None):
            raise UnreadableCallError("expected constants as the keys of a dict")
        found[name] = _value(value, depth + 1)
    return found
