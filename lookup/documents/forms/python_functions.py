"""Python functions as documentation: ``def name(...)`` with its docstring, in source, stubs, prompts and fences.

A method has its own name only. Names with a leading ``_``, nested functions, properties and overloads are not tools.
Enum classes and type aliases are not resolved: such a type is ``any``.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.python.docstring import document
from lookup.documents.python.signature import read_signature
from lookup.documents.python.syntax import read_value, string_end, tokens
from lookup.errors import LiteralError, MisreadError, found_at
from lookup.scanning import end_of_line, indented_end, skip, width

# Prompts may put a bullet or backticks before a function.
_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?`{0,3}(?:async[ \t]+)?def[ \t]+(?P<name>[^\W\d]\w*(?:\.\w+)*)"
    r"[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?P<list>\()",
    re.MULTILINE,
)
_DECORATOR = re.compile(r"[ \t]*@[ \t]*(?P<name>[\w.]+)")
_UNCALLABLE = re.compile(
    r"(?:typing\.)?overload|(?:functools\.)?(?:cached_)?property|.+\.(?:setter|getter|deleter)"
    r"|(?:pydantic\.)?(?:(?:(?:field|model|root)_)?(?:validator|serializer)|computed_field)"
)
_ANNOTATED = re.compile(r"\(\s*[^\W\d]\w*\s*:")
_BLANK = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*+[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t`*]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_ARROW = re.compile(r"(?:[ \t]|\\\r?\n)*->")
_COLON = re.compile(r"[ \t]*:[ \t]*")
# The end of a line, a comment or a string. Quotes behind a word close the text around the code.
_CODE = re.compile(
    r"""
        \n(?:[ \t\r]*\n)*+(?P<indent>[ \t]*)
      | \#[^\n]*
      | (?<=[\s=(\[{,:+%])[rRuUbBfF]{0,2}(?P<quotes>\"""|''')
      | "(?:[^"\\\n]++|\\.)*+"? | '(?:[^'\\\n]++|\\.)*+'?
    """,
    re.VERBOSE | re.DOTALL,
)
_DOCSTRING = re.compile(r"""[rRuU]?(?P<quotes>\"""|'''|["'])""")


def find(text: str) -> Iterator[TextTool]:
    """The public functions of a text, each with its decorators and its body."""
    if "def" not in text:
        return
    following = _LINE.search(text)
    while match := following:
        following = _LINE.search(text, match.end())
        found = _read(text, match, following.start() if following else len(text))
        if not found:
            continue
        start, callable_ = _decorated(text, match)
        if callable_ and not match["name"].startswith("_"):
            yield TextTool(found.tool, start, found.end)
        if following and following.start() < found.end:
            following = _LINE.search(text, found.end)


def _decorated(text: str, match: re.Match[str]) -> tuple[int, bool]:
    """Where a function begins with the decorators in the lines above it, and whether it can be called with all of them.

    The arguments of a decorator in further lines are not followed.
    """
    start, line_start = match.end("indent"), match.start()
    while line_start > 0:
        above = text.rfind("\n", 0, line_start - 1) + 1
        line = text[above:line_start]
        if decorator := _DECORATOR.match(line):
            start = above + len(line) - len(line.lstrip())
            if _UNCALLABLE.fullmatch(decorator["name"]):
                return start, False
        elif not line.lstrip().startswith("#"):
            break
        line_start = above
    return start, True


def _read(text: str, match: re.Match[str], limit: int) -> TextTool | None:
    """The function at ``match``; ``None`` if it is not one. Its parameter list must end before ``limit``."""
    name, start = match["name"], match.end("indent")
    try:
        signature = read_signature(text, match.start("list"), limit)
    except LiteralError as error:
        if not _ANNOTATED.match(text, match.start("list")):
            return None
        message = f"function {name!r}: expected {error.expected}, found {found_at(text, error.position)}"
        return TextTool(MisreadError(message, error.position), start, match.end())
    position = signature.end
    if arrow := _ARROW.match(text, position):
        position = _type_end(text, arrow.end(), limit)
    colon = _COLON.match(text, position)
    if not colon and not _REST_OF_LINE.match(text, position):
        return None
    indent, line_end = match["indent"], end_of_line(text, position)
    end = _body_end(text, colon.end(), indent) if colon else indented_end(text, line_end + 1, indent)
    docstring, closed = _docstring(text, colon.end() if colon else line_end + 1, indent)
    if closed:
        end = max(end, _body_end(text, closed, indent))
    return TextTool(document(name, signature.parameters, signature.notes, docstring), start, end)


def _type_end(text: str, position: int, limit: int) -> int:
    """The end of the type behind ``->``: a colon, a comment or the end of the line outside brackets."""
    try:
        for token, start, _, depth in tokens(text, position, limit):
            if depth == 0 and (token in (":", "\n") or token.startswith("#")):
                return start
    except LiteralError:
        return position
    return limit


def _docstring(text: str, position: int, indent: str) -> tuple[str, int]:
    """The string that is the first statement of a body, and the offset behind it; ``("", 0)`` if there is none.

    It may stand at the margin of its function, unless its quotes close the text around the code.
    """
    opening = _DOCSTRING.match(text, skip(_BLANK, text, position))
    if not opening:
        return "", 0
    line_start = text.rfind("\n", 0, opening.start()) + 1
    before = text[line_start : opening.start()]
    if line_start > position and (
        width(before) < width(indent) or (width(before) == width(indent) and _REST_OF_LINE.match(text, opening.end()))
    ):
        return "", 0
    try:
        end = string_end(text, opening.start("quotes"), len(text))
    except LiteralError:
        return "", 0
    if not _REST_OF_LINE.match(text, end):
        return "", 0  # a string in an expression
    written = text[opening.start() : end]
    try:
        value = read_value(written)
    except LiteralError:  # escapes that Python does not read
        value = written[opening.end() - opening.start() : -len(opening["quotes"])]
    return str(value), end


def _body_end(text: str, position: int, indent: str) -> int:
    """The end of the code after ``position`` by indentation. The lines of a string need not be indented."""
    while match := _CODE.search(text, position):
        token, position = match[0], match.end()
        if token[0] == "\n" and (position == len(text) or width(match["indent"]) <= width(indent)):
            return match.start()
        if match["quotes"]:
            # Unclosed quotes are the last of their kind, because later ones would close them.
            with contextlib.suppress(LiteralError):
                position = string_end(text, match.start("quotes"), len(text))
    return len(text)


FORM: Final = TextForm("Python functions (def name(...): ...)", find)
