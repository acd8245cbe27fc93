"""Find tokens, strings, bracketed lists and types of Python source in any text, in linear time."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from lookup.errors import LiteralError
from lookup.literals.literal_reader import MAX_DEPTH, read_literal

MAX_LENGTH: Final = 50_000
"""The longest bracketed list, in characters."""
_TOKEN = re.compile(r"""["']|\#[^\n]*|\\\r?\n|[=!<>:]=|\blambda\b|[()\[\]{},:=\n]""")
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_STRING_STOP: Final = {
    "'": re.compile(r"['\n]|\\.", re.DOTALL),
    '"': re.compile(r'["\n]|\\.', re.DOTALL),
    "'''": re.compile(r"'''|\\.", re.DOTALL),
    '"""': re.compile(r'"""|\\.', re.DOTALL),
}
_QUOTE = re.compile(r"""([rRuU]?)(\"""|'''|["'])""")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ANGLES = re.compile(r"<[\w ,.<>\[\]|]*>")
_BAR = re.compile(r"[ \t]*\|[ \t]*")


class Member(NamedTuple):
    """One member of a bracketed list without comments: the whole text, and its parts split at ``:`` and ``=``."""

    text: str
    key: str
    annotation: str | None
    value: str | None
    start: int


def read_string(text: str, position: int, limit: int | None = None) -> tuple[str, int]:
    """The value of the (raw) Python string at ``position``, and the offset behind it.

    A string with an invalid escape is returned as written.

    Raises
    ------
    LiteralError
        If no string starts there, or it is not closed before ``limit``.
    """
    opening = _QUOTE.match(text, position)
    if not opening:
        raise LiteralError("a string", position)
    end = string_end(text, opening.start(2), len(text) if limit is None else limit)
    written = text[opening.end() : end - len(opening[2])]
    if opening[1] not in ("r", "R"):
        try:
            return read_literal(text, opening.start(2))[0], end
        except LiteralError:
            pass
    return written, end


def string_end(text: str, position: int, limit: int) -> int:
    """The offset behind the string that starts at ``position``.

    Raises
    ------
    LiteralError
        If it is not closed before ``limit``, or before the end of the line if it has a single quote.
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


def read_list(text: str, position: int, limit: int | None = None) -> tuple[list[Member], int]:
    """The members of the bracketed list that opens at ``position``, and the offset behind its closing bracket.

    Raises
    ------
    LiteralError
        If it is not closed before ``limit`` and within ``MAX_LENGTH``, is nested deeper than 64, its brackets do not
        match, or a member before the last one is empty.
    """
    limit = min(len(text) if limit is None else limit, position + MAX_LENGTH)
    members: list[Member] = []
    draft = _Draft(position + 1)
    for token, start, end, depth in tokens(text, position, limit):
        if token.startswith(("#", "\\")):
            draft.comments.append((start, end))
        elif depth == 0 and start > position:
            last = draft.member(text, start)
            return (members if not last.text else [*members, last]), end
        elif depth != 1:
            continue
        elif token == "," and not draft.in_lambda:
            members.append(draft.member(text, start))
            if not members[-1].text:
                raise LiteralError("a member of the list", start)
            draft = _Draft(end)
        else:
            draft.cut(token, start)
    raise LiteralError(f"a closing {_CLOSER[text[position]]!r}", limit)


class _Draft:
    """A member of a list that is being read."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.colon: int | None = None
        self.equals: int | None = None
        self.in_lambda = False  # between ``lambda`` and its colon, commas do not separate members
        self.comments: list[tuple[int, int]] = []

    def cut(self, token: str, start: int) -> None:
        if token == "lambda" and self.equals is not None:
            self.in_lambda = True
        elif token == ":" and self.in_lambda:
            self.in_lambda = False
        elif token == ":" and self.colon is None and self.equals is None:
            self.colon = start
        elif token == "=" and self.equals is None:
            self.equals = start

    def member(self, text: str, end: int) -> Member:
        def between(start: int, stop: int) -> str:
            parts = []
            for first, last in self.comments:
                if start <= first < stop:
                    parts.append(text[start:first])
                    start = last
            return "".join([*parts, text[start:stop]]).strip()

        type_end = end if self.equals is None else self.equals
        return Member(
            text=between(self.start, end),
            key=between(self.start, type_end if self.colon is None else self.colon),
            annotation=None if self.colon is None else between(self.colon + 1, type_end),
            value=None if self.equals is None else between(self.equals + 1, end),
            start=self.start,
        )


def tokens(text: str, position: int, limit: int) -> Iterator[tuple[str, int, int, int]]:
    """Structural tokens of Python source from ``position`` on: token, start, end, and number of open brackets.

    Raises
    ------
    LiteralError
        At an unclosed string, an unmatched closing bracket, or more than 64 open brackets.
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


def type_end(text: str, position: int, limit: int) -> int:
    """The offset behind what looks like a type: ``str``, ``a.B[c, d] | None``, ``'Later'``, ``List<int>``.

    Returns ``position`` if nothing does.
    """
    start = position
    while True:
        try:
            if text[position : position + 1] in ("'", '"'):
                position = string_end(text, position, limit)
            elif name := _NAME.match(text, position, limit):
                position = name.end()
                if angles := _ANGLES.match(text, position, limit):
                    position = angles.end()
                while position < limit and text[position] == "[":
                    _, position = read_list(text, position, limit)
            else:
                return start
        except LiteralError:
            return start
        bar = _BAR.match(text, position, limit)
        if not bar:
            return position
        position = bar.end()


def is_type(text: str) -> bool:
    """Whether the whole text looks like a type."""
    return bool(text) and type_end(text, 0, len(text)) == len(text)
