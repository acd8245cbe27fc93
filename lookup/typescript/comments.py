"""What the comments of a TypeScript declaration say: a description, and the default of a key."""

import re
from typing import Any

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal

_DEFAULT = re.compile(r"default:[ \t]*", re.IGNORECASE)
# What encoders print of a schema below the description: ``maximum: 10, minimum: 1``.
_CONSTRAINTS = re.compile(
    r"(?:m(?:ax|in)Length|m(?:ax|in)imum|m(?:ax|in)Items|m(?:ax|in)Properties|exclusiveM(?:ax|in)imum|pattern|format"
    r"|multipleOf|uniqueItems): "
)


def line_comments(region: str) -> str:
    r"""The text of a block of ``//`` lines.

    Some encoders write ``//`` in front of each line, others only once in front of a text of several lines. The line end
    behind the block and the indentation of the next line do not belong to it.
    """
    head, _, indentation = region.rpartition("\n")
    lines = (head if not indentation.strip() else region).lstrip().split("\n")
    everywhere = all(not line.strip() or line.lstrip().startswith("//") for line in lines)
    return "\n".join(_uncommented(line) if everywhere or number == 0 else line for number, line in enumerate(lines))


def _uncommented(line: str) -> str:
    return line.lstrip().removeprefix("//").removeprefix(" ")


def without_constraints(description: str) -> str:
    """The description without the lines at its end that repeat the bounds of the schema."""
    lines = description.split("\n")
    while lines and _CONSTRAINTS.match(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def read_default(comment: str, enum: list[Any] | None) -> Any:
    """The default that a comment ``default: 10`` gives; ``MISSING`` if it says something else.

    Some templates write a comma behind the comment, which then belongs to it.
    """
    match = _DEFAULT.match(comment.strip())
    if not match:
        return MISSING
    written = comment.strip()[match.end() :]
    texts = (written, written.removesuffix(",").rstrip())
    for text in texts:
        if enum and text in enum:
            return text
    for text in texts:
        try:
            return parse_literal(text)
        except LiteralError:
            continue
    return written.removesuffix(",")
