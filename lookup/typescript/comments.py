"""What the comments of a TypeScript declaration say: a description, and the default of a key."""

import re
from typing import Any, Final

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal

_DEFAULT = re.compile(r"default:[ \t]*", re.IGNORECASE)
# What encoders print of a schema below the description: ``maximum: 10, minimum: 1``.
_CONSTRAINTS = re.compile(
    r"(?:m(?:ax|in)Length|m(?:ax|in)imum|m(?:ax|in)Items|m(?:ax|in)Properties|exclusiveM(?:ax|in)imum|pattern|format"
    r"|multipleOf|uniqueItems): "
)
_TAG = re.compile(r"@(\w+)[ \t]*(.*)", re.DOTALL)
_PARAMETER = re.compile(r"(?:\{[^{}\n]{0,200}\}[ \t]*)?\[?([\w$.]+)(?:=[^\]\n]{0,200})?\]?[ \t]*(?:[-:\u2013][ \t]*)?")
_DEFAULT_TAGS: Final = ("default", "defaultValue")


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
    for text in (written, written.removesuffix(",").rstrip()):
        if enum and text in enum:
            return text
    for text in (written, written.removesuffix(",").rstrip()):
        try:
            return parse_literal(text)
        except LiteralError:
            continue
    return written.removesuffix(",")


class DocComment:
    """A ``/** ... */`` comment: its description, what it says of each parameter, and a default."""

    def __init__(self, comment: str) -> None:
        lines = comment.removeprefix("/").lstrip("*").removesuffix("/").rstrip("*").split("\n")
        text = "\n".join(line.strip().removeprefix("*").removeprefix(" ").rstrip() for line in lines).strip()
        parts = re.split(r"^[ \t]*(?=@\w)", text, flags=re.MULTILINE)
        self.description = parts[0].strip()
        self.parameters: dict[str, str] = {}
        self.default: Any = MISSING
        for part in parts[1:]:
            tag = _TAG.match(part)
            if tag and tag[1] in ("param", "arg", "argument") and (named := _PARAMETER.match(tag[2])):
                key = named[1].rsplit(".", 1)[-1]
                self.parameters.setdefault(key, tag[2][named.end() :].strip())
            elif tag and tag[1] in _DEFAULT_TAGS:
                self.default = read_default(f"default: {tag[2].strip()}", None)
