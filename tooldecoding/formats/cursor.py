"""What the readers of call formats share: limits, and a place in a text with the steps of a reader."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.errors import LiteralError, ToolDecodingError
from lookup.literals.literal_reader import read_literal
from lookup.literals.syntaxes import JSON, LiteralSyntax

MAX_LENGTH: Final = 100_000
"""Characters of a text."""

ReadCall = tuple[str, list[tuple[str, Any]]]
"""A name, and its keys with their values in the sequence of the text. A repeated key is there twice."""

Reader = Callable[[str], list[ReadCall]]
"""Reads a text of calls and nothing else in linear time; UnreadableCallError for anything else."""


class UnreadableCallError(ToolDecodingError):
    """A text that a format's reader does not read as calls."""


def demand_short(text: str) -> None:
    """UnreadableCallError for a text longer than ``MAX_LENGTH``."""
    if len(text) > MAX_LENGTH:
        raise UnreadableCallError(f"expected at most {MAX_LENGTH} characters, found {len(text)}")


NO_PAIRS: Final[Mapping[str, Any]] = {}
"""No inner objects of which the pairs are wanted."""


class Cursor:
    """Reads a text from left to right.

    Attributes
    ----------
    text : str
        At most ``MAX_LENGTH`` characters; UnreadableCallError for more.
    position : int
        Offset of the next character.
    """

    def __init__(self, text: str) -> None:
        demand_short(text)
        self.text = text
        self.position = 0

    def take(self, piece: str) -> bool:
        """Step over the piece if it stands here, and return whether it did."""
        found = self.text.startswith(piece, self.position)
        if found:
            self.position += len(piece)
        return found

    def expect(self, piece: str) -> None:
        """Step over the piece; UnreadableCallError if it does not stand here."""
        if not self.take(piece):
            raise self.error(f"expected {piece!r}")

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Step over what the pattern matches here; UnreadableCallError if it matches nothing."""
        found = pattern.match(self.text, self.position)
        if found is None:
            raise self.error(f"expected {what}")
        self.position = found.end()
        return found

    def until(self, mark: str) -> str:
        """Return the text before the next mark and step over both; UnreadableCallError if there is no mark."""
        stop = self.text.find(mark, self.position)
        if stop < 0:
            raise self.error(f"expected {mark!r} further on")
        found = self.text[self.position : stop]
        self.position = stop + len(mark)
        return found

    def literal(self, syntax: LiteralSyntax = JSON) -> Any:
        """Read the value that stands here, nested to a limit, no key twice; UnreadableCallError if none does."""
        try:
            value, self.position = read_literal(self.text, self.position, syntax)
        except LiteralError as error:
            raise UnreadableCallError(str(error)) from None
        return value

    def pairs(self, syntax: LiteralSyntax = JSON, inner: Mapping[str, Any] = NO_PAIRS) -> list[tuple[str, Any]]:
        """Read the object that stands here; a repeated key is there twice.

        ``inner``: keys of objects of which the pairs are wanted, too -> such keys in these objects.
        """
        found = list[tuple[str, Any]]()
        self.expect("{")
        self.match(syntax.space, "")
        while not self.take("}"):
            if found:
                self.expect(",")
                self.match(syntax.space, "")
            key = self.literal(syntax) if syntax.key is None else self.match(syntax.key, "a bare key and a colon")[1]
            if not isinstance(key, str):
                raise self.error("expected a text as key")
            if syntax.key is None:
                self.match(syntax.space, "")
                self.expect(":")
                self.match(syntax.space, "")
            wanted = key in inner and self.text.startswith("{", self.position)
            found.append((key, self.pairs(syntax, inner[key]) if wanted else self.literal(syntax)))
            self.match(syntax.space, "")
        return found

    def expect_end(self) -> None:
        """UnreadableCallError if text is left."""
        if self.position != len(self.text):
            raise self.error("expected the end")

    def error(self, message: str) -> UnreadableCallError:
        """Return the error to raise, with the offset of the next character."""
        return UnreadableCallError(f"{message} at offset {self.position}")
