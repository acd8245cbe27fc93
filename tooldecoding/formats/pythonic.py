"""The format of BFCL's prompt mode: calls in one Python list, values as Python literals.

``[get_weather(city='New York', days=3), get_time(zone=None)]``
"""

import ast

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.reading import ReadCall, UnreadableCallError, constant, parse_expression


def read_pythonic(text: str) -> list[ReadCall]:
    """Read the calls of ``[name(key=value), …]`` with Python's own parser.

    Names may be dotted. Values are constants, lists, tuples and dicts.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    body = parse_expression(text)
    if not isinstance(body, ast.List):
        raise UnreadableCallError("expected a Python list of calls")
    return [_call(node) for node in body.elts]


def _call(node: ast.expr) -> ReadCall:
    if not isinstance(node, ast.Call) or node.args:
        raise UnreadableCallError("expected calls that name all their arguments")
    pairs = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise UnreadableCallError("expected key=value, found **")
        pairs.append((keyword.arg, constant(keyword.value)))
    return _dotted(node.func), pairs


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise UnreadableCallError("expected a name, or names with dots between them")
    return ".".join([node.id, *reversed(parts)])


PYTHONIC = CallFormat("pythonic", "python", parallel=True, reader=read_pythonic)
