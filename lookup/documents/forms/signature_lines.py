"""Signatures in plain lines, as in lists of tools in prompts: ``add(a: int, b: int = 1) -> int - Adds two.``

A line is a signature only if every key has something that looks like a type, or if it has no keys but a return type.
Calls (``f(x=1)``), prose and code are not signatures.
"""

import keyword
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from lookup.dictionary import ANY
from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.python.docstring import document
from lookup.documents.python.signature import Signature, read_signature
from lookup.documents.python.syntax import is_type, list_end
from lookup.errors import LiteralError
from lookup.scanning import bounded, end_of_line, indented_end, skip

_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?(?P<marks>[`*]{0,3})(?P<name>[^\W\d][\w.-]*)"
    r"(?:(?P=marks))?(?P<list>\()",
    re.MULTILINE,
)
_ARROW = re.compile(r"[ \t]*(?:->|\u2192)[ \t]*")
_MARKS = re.compile(r"[`*]{1,3}")
_SEPARATOR = re.compile(r"[:\uff1a]|--?(?=\s)|[\u2013\u2014]|#")
_RETURN_END = re.compile(r":(?=\s)|\uff1a|[ \t](?:--?|[\u2013\u2014]|#)[ \t]|[`*]{1,3}(?=[ \t\r:\uff1a]|\Z)")
_BRACKET = re.compile(r"[\[(]")
_CODE_ENDS: Final = ("{", ";", "=>")


class _Head(NamedTuple):
    """The signature and description in a line, and the end of the line."""

    signature: Signature
    description: str
    end: int


def find(text: str) -> Iterator[TextTool]:
    """The signature lines of a text, each with the docstring below it."""
    heads = [(match, head) for match, limit in bounded(_LINE, text) if (head := _read_head(text, match, limit))]
    starts = {match.start() for match, _ in heads}
    behind = 0
    for match, head in heads:
        if match.start() < behind:
            continue
        behind = indented_end(text, head.end + 1, match["indent"], starts.__contains__)
        docstring = f"{head.description}\n{text[head.end + 1 : behind]}"
        tool = document(match["name"], head.signature.parameters, head.signature.notes, docstring)
        yield TextTool(tool, match.end("indent"), behind)


def _read_head(text: str, match: re.Match[str], limit: int) -> _Head | None:
    """The signature in the line of ``match``. Its parameter list must end before ``limit``."""
    if keyword.iskeyword(match["name"]):
        return None
    try:
        signature = read_signature(text, match.start("list"), limit)
    except LiteralError:
        return None
    line_end = end_of_line(text, signature.end)
    position = skip(_MARKS, text, signature.end)
    closed = position > signature.end or text[match.start("list") - 1] in "`*"  # whether the marks are closed by now
    returns = None
    if arrow := _ARROW.match(text, position):
        return_end = _return_end(text, arrow.end(), line_end)
        returns = text[arrow.end() : return_end].strip()
        position = skip(_MARKS, text, return_end)
        closed = closed or position > return_end
    if not _documents(signature, returns) or (returns or "").endswith(_CODE_ENDS):
        return None
    rest = text[position:line_end].strip()
    description = ""
    if rest:
        separator = _SEPARATOR.match(rest)
        if not separator or (separator[0] == ":" and rest.endswith(_CODE_ENDS)):
            return None
        description = rest[separator.end() :].strip()
        if match["marks"] and not closed:
            description = description.removesuffix(match["marks"]).rstrip()
    return _Head(signature, description, line_end)


def _return_end(text: str, position: int, line_end: int) -> int:
    """The end of the return type, which may be prose: ``-> list of names - Searches.`` It ends outside brackets."""
    bracket = _BRACKET.search(text, position, line_end)
    found = _RETURN_END.search(text, position, bracket.start() if bracket else line_end)
    while bracket and not found:
        try:
            position = list_end(text, bracket.start(), line_end)
        except LiteralError:
            position, bracket = bracket.end(), None
        else:
            bracket = _BRACKET.search(text, position, line_end)
        found = _RETURN_END.search(text, position, bracket.start() if bracket else line_end)
    return found.start() if found else line_end


def _documents(signature: Signature, returns: str | None) -> bool:
    """Whether the line contains types, so that it cannot be a call."""
    if signature.parameters:
        typed = [parameter for parameter in signature.parameters if parameter.raw_type]
        known = [p for p in typed if p.type != ANY or p.enum or p.raw_type.lower().endswith("any")]
        complete = len(typed) == len(signature.parameters) or returns is not None
        # Without a known type, the words behind the colons may be values: ``search(city: Paris)``.
        return complete and bool(known) and all(is_type(parameter.raw_type) for parameter in typed)
    # A quoted type is probably the output of an example.
    return returns is not None and is_type(returns) and returns[0] not in "'\""


FORM: Final = TextForm("signature lines (name(key: type, ...) -> type: description)", find)
