"""What the readers of call formats share: limits, and Python constants read from text without running it.

A reader is what a program that knows nothing of this one would use. It shares no code with what writes calls, and
decides which texts are valid.
"""

import ast
import math
import re
import warnings
from collections.abc import Callable
from typing import Any, Final, Literal

from lookup.errors import ToolDecodingError

MAX_LENGTH: Final = 100_000
"""Characters of a text."""

MAX_DEPTH: Final = 64
"""Levels of lists, tuples and dicts."""

_LINE_END: Final = re.compile(r"\r\n?|\n")

ReadCall = tuple[str, list[tuple[str, Any]]]
"""A name, and its keys with their values in the sequence of the text. A repeated key is there twice."""

Reader = Callable[[str], list[ReadCall]]
"""Reads a text of calls and nothing else in linear time; UnreadableCallError for anything else."""


class UnreadableCallError(ToolDecodingError):
    """A text that a format's reader does not read as calls."""


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of a Python expression with nothing around it; UnreadableCallError for anything else."""
    demand_short(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in a foreign text
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UnreadableCallError(f"no Python: {getattr(error, 'msg', error)}") from None
    except (RecursionError, MemoryError):  # the parser reports a full stack as MemoryError
        raise UnreadableCallError("no Python: nested too deeply") from None
    if not _is_all_of(text, body):
        raise UnreadableCallError("expected no spaces, brackets or comments around a Python expression")
    return body


def _is_all_of(text: str, node: ast.expr) -> bool:
    """Whether the node is the whole text. (``ast.get_source_segment`` takes more than linear time.)"""
    lines = _LINE_END.split(text)
    place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return place == (1, 0, len(lines), len(lines[-1].encode()))


def demand_short(text: str) -> None:
    """UnreadableCallError for a text longer than ``MAX_LENGTH``."""
    if len(text) > MAX_LENGTH:
        raise UnreadableCallError(f"expected at most {MAX_LENGTH} characters, found {len(text)}")


JsonWords = Literal["nowhere", "in dicts", "anywhere"]
"""Where ``true``, ``false`` and ``null`` may stand beside Python's own words."""

_JSON_WORDS: Final = {"true": True, "false": False, "null": None}


def constant(node: ast.expr | None, depth: int = 0, json_words: JsonWords = "nowhere") -> Any:
    """Return the value of a tree of constants, lists, tuples and dicts; UnreadableCallError for anything else.

    A number that overflows to infinity, and a key twice in a dict, are refused.
    """
    if depth > MAX_DEPTH:
        raise UnreadableCallError(f"values are nested deeper than {MAX_DEPTH} levels")
    match node:
        case ast.Constant(float() as value) if math.isinf(value):
            raise UnreadableCallError("a number is too large")
        case ast.Constant(str() | int() | float() | None as value):  # bool is an int
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float()) as number) if not isinstance(number.value, bool):
            return -constant(number)
        case ast.Name(word) if json_words == "anywhere" and word in _JSON_WORDS:
            return _JSON_WORDS[word]
        case ast.List(elements):
            return [constant(element, depth + 1, json_words) for element in elements]
        case ast.Tuple(elements):
            return tuple(constant(element, depth + 1, json_words) for element in elements)
        case ast.Dict(keys, values):
            return _dict(keys, values, depth, "nowhere" if json_words == "nowhere" else "anywhere")
    raise UnreadableCallError("expected constants, lists, tuples and dicts as values")


def _dict(keys: list[ast.expr | None], values: list[ast.expr], depth: int, json_words: JsonWords) -> dict[Any, Any]:
    found = {}
    for key, value in zip(keys, values, strict=True):
        name = constant(key, depth + 1)
        if not isinstance(name, str | int | float | None):
            raise UnreadableCallError("expected constants as the keys of a dict")
        found[name] = constant(value, depth + 1, json_words)
    if len(found) != len(keys):
        raise UnreadableCallError("a dict has a key twice")
    return found
