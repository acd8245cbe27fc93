"""The characters of a bounded stretch of TypeScript: white space, comments and signs."""

import re
from typing import NoReturn

from lookup.errors import LiteralError

SPACE = re.compile(r"\s*")
IN_LINE = re.compile(r"[ \t]*")
COMMENT = re.compile(r"//([^\n]*)")


class TypeScriptError(LiteralError):
    """Text that is no type of the part of TypeScript that is read."""


class Scanner:
    """Steps over a text from a position to ``limit``.

    Attributes
    ----------
    comments : list of str
        The comments that were kept on the way.
    """

    def __init__(self, text: str, position: int, limit: int) -> None:
        self.text = text
        self.position = position
        self.limit = limit
        self.comments: list[str] = []

    def skip(self, collect: bool = False) -> None:
        """Step over white space and comments."""
        self.position = self.skipped(SPACE)
        while comment := COMMENT.match(self.text, self.position, self.limit):
            if collect:
                self.comments.append(comment[1])
            self.position = comment.end()
            self.position = self.skipped(SPACE)

    def take(self, sign: str) -> bool:
        """Whether a sign follows, which is stepped over."""
        start = self.position
        self.skip()
        if self.text.startswith(sign, self.position) and self.position + len(sign) <= self.limit:
            self.position += len(sign)
            return True
        self.position = start
        return False

    def expect(self, sign: str) -> None:
        """Step over a sign that must follow."""
        if not self.take(sign):
            self.fail(repr(sign))

    def fail(self, expected: str) -> NoReturn:
        """Raise the error that something else was expected at the position."""
        raise TypeScriptError(expected, min(self.position, self.limit))

    def skipped(self, blank: re.Pattern[str]) -> int:
        """The offset behind what is blank at the position."""
        match = blank.match(self.text, self.position, self.limit)
        return match.end() if match else self.position

    def take_comment(self) -> None:
        """Keep a comment in the rest of the line."""
        comment = COMMENT.match(self.text, self.skipped(IN_LINE), self.limit)
        if comment:
            self.comments.append(comment[1])
            self.position = comment.end()
