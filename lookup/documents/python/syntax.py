"""Python source inside any text: where brackets and strings end, in linear time, and its syntax tree, bounded."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from lookup.documents.parameters.plain_values import plain_value
from lookup.errors import DocumentationError, LiteralError
from lookup.literals.literal_reader import MAX_DEPTH, parse_literal

MAX_LENGTH: Final = 20_000
"""The longest bracketed list or expression, in characters."""
_FILE: Final = "<documentation>"
_TOKEN = re.compile(r"""["']|\#[^\n]*|[()\[\]{}:\n]""")
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_STRING_STOP: Final = {
    "'": re.compile(r"['\n]|\\.", re.DOTALL),
    '"': re.compile(r'["\n]|\\.', re.DOTALL),
    "'''": re.compile(r"'''|\\.", re.DOTALL),
    '"""': re.compile(r'"""|\\.', re.DOTALL),
}
_TYPES: Final = (ast.Name, ast.Attribute, ast.Subscript)


def tokens(text: str, position: int, limit: int) -> Iterator[tuple[str, int, int, int]]:
    """Brackets, colons, comments and line ends outside strings: token, start, end, and number of open brackets.

    LiteralError at an unclosed string, an unmatched closing bracket, or more than 64 open brackets.
    """
    closers: list[str] = []
    while match := _TOKEN.search(text, position, limit):
        token, start, position = match[0], match.start(), match.end()
        if token in ("'", '"'):
            position = string_end(text, start, limit)
            continue
        if token in (")", "]", "}") and (not closers or closers.pop() != token):
            raise LiteralError("no such bracket", start)
        yield token, start, position, len(closers)
        if token in _CLOSER:
            closers.append(_CLOSER[token])
            if len(closers) > MAX_DEPTH:
                raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", start)


def string_end(text: str, position: int, limit: int) -> int:
    """The offset behind the string whose quotes start at ``position``.

    LiteralError if it is not closed before ``limit``, or before the end of the line if it has a single quote.
    """
    quote = text[position]
    if text.startswith(quote * 3, position):
        quote *= 3
    found = position + len(quote)
    while match := _STRING_STOP[quote].search(text, found, limit):
        found = match.end()
        if match[0] == quote:
            return found
        if match[0] == "\n":
            break
    raise LiteralError(f"a closing {quote}", position)


def list_end(text: str, position: int, limit: int | None = None) -> int:
    """The offset behind the bracket that closes the one at ``position``.

    LiteralError if it is not closed before ``limit`` and within ``MAX_LENGTH``, or as for ``tokens``.
    """
    limit = min(len(text) if limit is None else limit, position + MAX_LENGTH)
    for _, start, end, depth in tokens(text, position, limit):
        if depth == 0 and start > position:
            return end
    raise LiteralError(f"a closing {_CLOSER[text[position]]!r}", limit)


def parse(source: str) -> list[ast.stmt]:
    """The statements of Python source. Nothing is evaluated.

    LiteralError if it is not Python, is longer than ``MAX_LENGTH``, or is nested deeper than 64 brackets.
    """
    if len(source) > MAX_LENGTH:
        raise LiteralError(f"at most {MAX_LENGTH} characters", MAX_LENGTH)
    for _ in tokens(source, 0, len(source)):
        pass  # it checks the depth, because Python's own parser is recursive
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=_FILE)  # escapes that Python does not know
            return ast.parse(source, _FILE).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise LiteralError("Python", 0) from None


def parse_expression(source: str) -> ast.expr:
    """The expression that a text is. LiteralError as for ``parse``, or if it is none."""
    found = parse(f"({source}\n)")
    if len(found) != 1 or not isinstance(found[0], ast.Expr):
        raise LiteralError("an expression", 0)
    return found[0].value


def unparse(node: ast.expr) -> str:
    """The text of an expression on one line. LiteralError if it is nested too deep."""
    try:
        return ast.unparse(node)
    except RecursionError:
        raise LiteralError("fewer levels of nesting", 0) from None


@lru_cache(maxsize=1024)
def is_type(text: str) -> bool:
    """Whether the whole text looks like a type: ``str``, ``a.B[c, d] | None``, ``'Later'``."""
    try:
        return bool(text) and _is_type(parse_expression(text))
    except LiteralError:
        return False


def _is_type(node: ast.expr) -> bool:
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        if not _is_type(node.right):
            return False
        node = node.left
    return isinstance(node, _TYPES) or (isinstance(node, ast.Constant) and isinstance(node.value, str | None))


def read_value(written: str, node: ast.expr | None = None) -> Any:
    """The value of a literal of Python or JSON, including ``1_000``, ``0x10``, ``'two ' 'parts'`` and ``r'\\d'``.

    LiteralError if it is not one literal, or a call cannot contain its value (a set, NaN).

    ``node``: its syntax tree, if it is known.
    """
    try:
        value = parse_literal(written)
    except LiteralError:
        try:
            value = ast.literal_eval(parse_expression(written) if node is None else node)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise LiteralError("a literal", 0) from None
    try:
        return plain_value(value, "default", "a parameter")
    except DocumentationError as error:
        raise LiteralError(str(error), 0) from None


def read_members(written: str) -> tuple[Any, ...] | None:
    """The members of ``{'a', 'b'}``, of a list or of a tuple at the beginning of a text; ``None`` for anything else."""
    try:
        found = parse_expression(written[: list_end(written, 0)])
        if not isinstance(found, ast.Set | ast.List | ast.Tuple):
            return None
        return tuple(read_value(unparse(member), member) for member in found.elts) or None
    except LiteralError:
        return None
