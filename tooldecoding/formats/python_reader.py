"""Calls in Python's own syntax, read by Python's own parser."""

import ast
import math
import re
import warnings
from typing import Any, Final, Literal

from lookup.literals.literal_reader import MAX_DEPTH
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import ReadCall, UnreadableCallError, demand_short

_LINE_END: Final = re.compile(r"\r\n?|\n")

JsonWords = Literal["nowhere", "in dicts", "anywhere"]
"""Where ``true``, ``false`` and ``null`` may stand beside Python's own words."""

_JSON_WORDS: Final = {"true": True, "false": False, "null": None}


def read_python(form: CallFormat, text: str) -> list[ReadCall]:
    """Read calls with Python's own parser: a list of one or more between the format's marks, or one a line.

    Names may be dotted. Values are constants, lists, tuples and dicts.

    UnreadableCallError if the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    demand_short(text)
    opener, closer, lines = form.opener.removesuffix("["), form.closer.removeprefix("]"), form.next_call == "\n"
    inside = text.removeprefix(opener).removesuffix(closer)
    if len(inside) != len(text) - len(opener) - len(closer):
        raise UnreadableCallError(f"expected {opener!r} in front and {closer!r} behind")
    if lines:  # only Olmo 3 writes lines, and the words of JSON in them
        return [_call(parse_expression(line), "anywhere") for line in inside.split("\n")]
    body = parse_expression(inside)
    if not isinstance(body, ast.List) or not body.elts:
        raise UnreadableCallError("expected a Python list of calls")
    return [_call(node, "in dicts" if form.notation == "python-json" else "nowhere") for node in body.elts]


def _call(node: ast.expr, json_words: JsonWords) -> ReadCall:
    if not isinstance(node, ast.Call) or node.args:
        raise UnreadableCallError("expected calls that name all their arguments")
    pairs = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise UnreadableCallError("expected key=value, found **")
        pairs.append((keyword.arg, constant(keyword.value, json_words=json_words)))
    return _dotted(node.func), pairs


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise UnreadableCallError("expected a name, or names with dots between them")
    return ".".join([node.id, *reversed(parts)])


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of a Python expression with nothing around it; UnreadableCallError for anything else."""
    body, lines = syntax_tree(text), _LINE_END.split(text)
    place = (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset)
    if place != (1, 0, len(lines), len(lines[-1].encode())):  # ast.get_source_segment takes more than linear time
        raise UnreadableCallError("expected no spaces, brackets or comments around a Python expression")
    return body


def syntax_tree(text: str) -> ast.expr:
    """Return the syntax tree of a Python expression, whatever stands around it; UnreadableCallError for other texts."""
    demand_short(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in a foreign text
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UnreadableCallError(f"no Python: {getattr(error, 'msg', error)}") from None
    except (RecursionError, MemoryError):  # the parser reports a full stack as MemoryError
        raise UnreadableCallError("no Python: nested too deeply") from None


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
