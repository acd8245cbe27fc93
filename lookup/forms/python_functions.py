"""Python functions as documentation: ``def name(...)`` with its docstring, in source, stubs, prompts and fences.

A method has its own name only. Names with a leading ``_``, nested functions, properties and overloads are not tools.
Enum classes and type aliases are not resolved: such a type is ``any``.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lookup.errors import LiteralError, MisreadError
from lookup.forms.form import TextForm, TextTool
from lookup.messages import found_at
from lookup.python.docstring import document
from lookup.python.signature import read_signature
from lookup.python.tokens import read_list, read_string, string_end, tokens
from lookup.scanning import end_of_line, indented_end, skip, width

# The beginning of a function or a decorator. Prompts may put a bullet or backticks before it.
_LINE = re.compile(
    r"""^(?P<indent>[ \t]*)(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?`{0,3}(?:
        @[ \t]*(?P<decorator>[\w.]+)
      | (?:async[ \t]+)?def[ \t]+(?P<name>[^\W\d]\w*(?:\.\w+)*)[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?P<list>\()
    )""",
    re.VERBOSE | re.MULTILINE,
)
_UNCALLABLE = re.compile(
    r"(?:typing\.)?overload|(?:functools\.)?(?:cached_)?property|.+\.(?:setter|getter|deleter)"
    r"|(?:pydantic\.)?(?:(?:(?:field|model|root)_)?(?:validator|serializer)|computed_field)"
)
_ANNOTATED = re.compile(r"\(\s*[^\W\d]\w*\s*:")
BLANK = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*+[ \t]*")
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
_OPENS_STRING = re.compile(r"""[rRuU]?(?:\"""|'''|["'])""")
# ``def f(x): Adds one.`` in a prompt: code does not begin with a capitalised word and a second word, or with Chinese.
_PROSE = re.compile(r"(?!None|True|False)[^\W\d_a-z][\w'-]*[ ,]+\w|[^\x00-\x7f]")


@dataclass(frozen=True)
class _Decorators:
    """Consecutive decorators: the start of the first, the end of the last, and whether one makes it uncallable."""

    start: int
    end: int
    uncallable: bool


def find(text: str) -> Iterator[TextTool]:
    """The public functions of a text, each with its decorators and its body."""
    if "def" not in text:
        return
    above: _Decorators | None = None
    following = _LINE.search(text)
    while match := following:
        following = _LINE.search(text, match.end())
        limit = following.start() if following else len(text)
        if above and skip(BLANK, text, above.end) != match.end("indent"):
            above = None
        if match["decorator"]:
            above = _decorators(text, match, limit, above)
            continue
        found = _read(text, match, limit)
        if found and not (above and above.uncallable) and not match["name"].startswith("_"):
            yield TextTool(found.tool, above.start if above else found.start, found.end)
        above = None
        if found and following and following.start() < found.end:
            following = _LINE.search(text, found.end)


def _decorators(text: str, match: re.Match[str], limit: int, above: _Decorators | None) -> _Decorators | None:
    end = match.end()
    if text.startswith("(", end):
        try:
            _, end = read_list(text, end, limit)
        except LiteralError:
            return None
    rest = _REST_OF_LINE.match(text, end)
    if not rest:
        return None
    uncallable = _UNCALLABLE.fullmatch(match["decorator"]) is not None
    if above:
        return _Decorators(above.start, rest.end(), above.uncallable or uncallable)
    return _Decorators(match.end("indent"), rest.end(), uncallable)


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
    notes = signature.notes
    position = signature.end
    if arrow := _ARROW.match(text, position):
        position = _type_end(text, arrow.end(), limit)
    colon = _COLON.match(text, position)
    if not colon and not _REST_OF_LINE.match(text, position):
        return None
    line_end = end_of_line(text, position)
    indent = match["indent"]
    inline = text[colon.end() : line_end].strip() if colon else ""
    end = _body_end(text, colon.end(), indent) if colon else indented_end(text, line_end + 1, indent)
    docstring = ""
    opening = _docstring_start(text, indent, colon, inline, line_end)
    if opening:
        try:
            docstring, closed = read_string(text, opening.start())
            if _REST_OF_LINE.match(text, closed):
                end = max(end, _body_end(text, closed, indent))
            else:
                docstring = ""  # a string in an expression
        except LiteralError:
            notes = (*notes, "the docstring is not closed")
    elif _PROSE.match(inline) or not colon:
        docstring = f"{inline}\n{text[line_end + 1 : end]}"
    return TextTool(document(name, signature.parameters, notes, docstring), start, end)


def _type_end(text: str, position: int, limit: int) -> int:
    """The end of the type behind ``->``: a colon, a comment or the end of the line outside brackets."""
    try:
        for token, start, _, depth in tokens(text, position, limit):
            if depth == 0 and (token in (":", "\n") or token.startswith("#")):
                return start
    except LiteralError:
        return position
    return limit


def _docstring_start(
    text: str, indent: str, colon: re.Match[str] | None, inline: str, line_end: int
) -> re.Match[str] | None:
    """The opening quotes of a docstring: behind the colon, or on a line below, even if not indented."""
    if colon and (opening := _OPENS_STRING.match(text, colon.end())):
        return opening
    opening = _OPENS_STRING.match(text, skip(BLANK, text, line_end + 1))
    if not opening:
        return None
    line_start = text.rfind("\n", 0, opening.start()) + 1
    found, own = width(text[line_start : opening.start()]), width(indent)
    if found > own:
        return opening
    # Quotes alone below "def f(x)" close the text around it.
    alone = _REST_OF_LINE.match(text, opening.end()) is not None
    return opening if found == own and not inline and (colon or not alone) else None


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
