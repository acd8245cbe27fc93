"""Python functions as documentation: ``def name(...)`` with its docstring, in source, stubs, prompts and fences.

Methods count by their own name. What starts with ``_``, stands inside another function, or cannot be called under its
name (properties, overloads) is no tool. Enum classes and type aliases are not looked up: such a type is ``any``.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from lookup.errors import LiteralError
from lookup.forms.form import MisreadError, TextForm, TextTool, found_at
from lookup.python.docstring import document
from lookup.python.signature import read_signature
from lookup.python.tokens import read_list, read_string, string_end, tokens

# The beginning of a function or of a decorator; a prompt may have put a bullet or backticks before it.
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
_BLANK = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*+[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t`*]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_ARROW = re.compile(r"(?:[ \t]|\\\r?\n)*->")
_COLON = re.compile(r"[ \t]*:[ \t]*")
# What ends a line of code or hides one. Quotes behind a word close the text that the code stands in.
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
# ``def f(x): Adds one.`` in a prompt: no code begins with a capital word and a second word, or with Chinese.
_PROSE = re.compile(r"(?!None|True|False)[^\W\d_a-z][\w'-]*[ ,]+\w|[^\x00-\x7f]")


@dataclass(frozen=True)
class _Decorators:
    """Decorators that stand below one another: where the first begins, where the last ends, and whether one of them
    makes what follows uncallable."""

    start: int
    end: int
    uncallable: bool


def find(text: str) -> Iterator[TextTool]:
    """The public functions of a text, each from its decorators to the end of its body."""
    if "def" not in text:
        return
    above: _Decorators | None = None
    following = _LINE.search(text)
    while match := following:
        following = _LINE.search(text, match.end())
        limit = following.start() if following else len(text)
        if above and skip_blank(text, above.end) != match.end("indent"):
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
    """The function whose parameter list must end before ``limit``; ``None`` if it is none."""
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
                docstring = ""  # a string that the body goes on with
        except LiteralError:
            notes = (*notes, "the docstring is not closed")
    elif _PROSE.match(inline) or not colon:
        docstring = f"{inline}\n{text[line_end + 1 : end]}"
    return TextTool(document(name, signature.parameters, notes, docstring), start, end)


def _type_end(text: str, position: int, limit: int) -> int:
    """Where the type behind ``->`` ends: at a colon, a comment or the end of the line outside brackets."""
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
    """The quotes of what can only be a docstring: behind the colon, or alone below, maybe not indented."""
    if colon and (opening := _OPENS_STRING.match(text, colon.end())):
        return opening
    opening = _OPENS_STRING.match(text, skip_blank(text, line_end + 1))
    if not opening:
        return None
    line_start = text.rfind("\n", 0, opening.start()) + 1
    found, own = width(text[line_start : opening.start()]), width(indent)
    if found > own:
        return opening
    # Quotes alone below "def f(x)" rather close the text that it stands in.
    alone = _REST_OF_LINE.match(text, opening.end()) is not None
    return opening if found == own and not inline and (colon or not alone) else None


def skip_blank(text: str, position: int) -> int:
    """The offset behind blank lines, comments and the indentation of the line after them."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _body_end(text: str, position: int, indent: str) -> int:
    """The end of the code behind ``position`` by indentation, where the lines of a string need none."""
    while match := _CODE.search(text, position):
        token, position = match[0], match.end()
        if token[0] == "\n" and (position == len(text) or width(match["indent"]) <= width(indent)):
            return match.start()
        if match["quotes"]:
            # Quotes that are not closed are the last of their kind: any later ones would close them.
            with contextlib.suppress(LiteralError):
                position = string_end(text, match.start("quotes"), len(text))
    return len(text)


def indented_end(text: str, position: int, indent: str, stops: Callable[[int], bool] = lambda start: False) -> int:
    """The end of the block of lines indented deeper than ``indent`` that begins at ``position``.

    The block also ends before a line whose offset ``stops`` it. Without one it is the end of the line above.
    """
    end = position - 1
    while position < len(text):
        line_end = end_of_line(text, position)
        line = text[position:line_end]
        if line.strip():
            if width(line[: len(line) - len(line.lstrip())]) <= width(indent) or stops(position):
                break
            end = line_end
        position = line_end + 1
    return end


def width(indent: str) -> int:
    """How far white space indents."""
    return len(indent.expandtabs())


def end_of_line(text: str, position: int) -> int:
    """The offset of the line end at or behind ``position``, or of the end of the text."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end


FORM: Final = TextForm("Python functions (def name(...): ...)", find)
