"""What a docstring says of one key: its type, enum, default and description."""

import re
from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.documents.python.signature import unsaid
from lookup.documents.python.syntax import is_type, read_members, read_value
from lookup.errors import LiteralError
from lookup.type_names import split_outside, type_of, value_type

_BULLET = re.compile(r"(?:[-*+•]|\d{1,4}[.)])[ \t]")
_DEFAULT = re.compile(r"defaults?\b[ \t]*(?:(?:to|is|value)\b)?[ \t]*[:=]?", re.IGNORECASE)
_OF = re.compile(r"(?:one of|choices?|enum|in)\b[ \t]*[:=]?[ \t]*(?=[\[{(])", re.IGNORECASE)
# ``(choices: ["a", "b"])``, a convention of ``transformers``, and similar ones
_CHOICES = re.compile(r"(?:choices?|enum values|one of|(?:allowed|possible) values):[ \t]*(?=\[)", re.IGNORECASE)
_ROLE = re.compile(r":[a-z]+:(?=`)")
_QUOTES: Final = " \t`*"


def read_key(head: str, lines: list[str]) -> ParameterSpec:
    """What the text in the place of the type says, and the lines of the description."""
    description = _joined(lines)
    documented = _read_head(head)
    written = documented.raw_type
    if not description and " " in written and documented.type == ANY and not documented.enum and not is_type(written):
        # prose in the place of the type
        description, documented = head, replace(unsaid(), required=documented.required)
    enum = documented.enum
    if enum is None and (choices := _CHOICES.search(description)):
        enum = read_members(description[choices.end() :])
    return replace(documented, description=description, enum=enum)


def _read_head(written: str) -> ParameterSpec:
    """Read the text in the place of a type: ``int, optional``, ``{'a', 'b'}, default: 'a'``, ``str or None``."""
    types: list[str] = []
    required: bool | None = None
    enum: tuple[Any, ...] | None = None
    default: str | None = None
    for part in _parts(written):
        if part.lower() in ("optional", "required"):
            required = part.lower() == "required"
        elif match := _DEFAULT.match(part):
            default = part[match.end() :].strip(_QUOTES)
        elif match := _OF.match(part):
            enum = read_members(part[match.end() :])
        else:
            types.append(part)
            enum = read_members(part) if part.startswith("{") else enum
    raw_type = ", ".join(types)
    kind = value_type(_ROLE.sub("", raw_type).replace("`", ""))
    enum = enum or kind.enum
    if enum and kind == ANY:
        kind = type_of(enum)
    found = ParameterSpec("", replace(kind, enum=None), raw_type, required, enum=enum)
    return found if default is None else replace(found, default=_default(default, kind), rule="default")


def _parts(written: str) -> list[str]:
    """Split at the commas, and before the bracket of ``int (default: 5)``."""
    cut: list[str] = []
    for part in split_outside(written, ","):
        before, bracket, behind = part.partition("(default")
        cut += [before, f"default{behind.strip().removesuffix(')')}"] if bracket else [part]
    return [part.strip(_QUOTES) for part in cut if part.strip(_QUOTES)]


def _default(written: str, kind: ValueType) -> Any:
    """The value of a default. A text may lack its quotes."""
    for text in (written, written.rstrip(".")):
        try:
            return read_value(text)
        except LiteralError:
            continue
    return written if kind.kind == "str" and written else MISSING


def _joined(lines: list[str]) -> str:
    """Join wrapped lines with spaces. Bullets and lines after a blank line stay on their own line."""
    parts: list[str] = []
    after_blank = False
    for line in map(str.strip, lines):
        if line and parts:
            parts.append("\n" if after_blank or _BULLET.match(line) else " ")
        if line:
            parts.append(line)
        after_blank = not line
    return "".join(parts)
