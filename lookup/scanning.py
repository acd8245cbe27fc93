"""Helpers for scanning a text: patterns, lines and indentation."""

import re
import sys
from collections.abc import Callable, Iterator


def skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The offset behind a match of the pattern at ``position``; ``position`` if there is none."""
    match = pattern.match(text, position)
    return match.end() if match else position


def bounded(
    pattern: re.Pattern[str], text: str, start: int = 0, end: int = sys.maxsize
) -> Iterator[tuple[re.Match[str], int]]:
    """The matches of a pattern, each with the offset where the next one starts, or the end of the text."""
    following = iter(pattern.finditer(text, start, end))
    match = next(following, None)
    while match:
        after = next(following, None)
        yield match, after.start() if after else min(end, len(text))
        match = after


def indented_end(text: str, position: int, indent: str, stops: Callable[[int], bool] = lambda start: False) -> int:
    """The end of the block of lines at ``position`` that are indented deeper than ``indent``.

    The block also ends before a line if ``stops(offset of the line)``. If it is empty, the result is the end of the
    previous line.
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
    """The width of white space with tabs expanded."""
    return len(indent.expandtabs())


def end_of_line(text: str, position: int) -> int:
    """The offset of the next line end at or after ``position``, or of the end of the text."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end
