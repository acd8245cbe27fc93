"""Docstrings in Google's, NumPy's and Sphinx's style: what they say of a function and of each of its keys.

>>> found = read_docstring("Adds.\\n\\nArgs:\\n    a (int, optional): The first. Or none.\\n")
>>> found.description, found.keys["a"].raw_type, found.keys["a"].required, found.keys["a"].description
('Adds.', 'int', False, 'The first. Or none.')
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

from lookup.dictionary import ANY, MISSING, ParameterSpec, ToolSpec, ValueType
from lookup.errors import LiteralError
from lookup.parameters.requiredness import decide
from lookup.parameters.type_names import value_type
from lookup.parameters.unions import type_of
from lookup.python.signature import Parameter, read_value
from lookup.python.tokens import is_type, read_list

_KEY_TITLE = re.compile(
    r"arg(?:ument)?s|param(?:eter)?s|keyword arg(?:ument)?s|other parameters|attributes|参数(?:说明)?"
)
_OTHER_TITLE = re.compile(r"returns?|yields?|raises?|examples?|返回值?|异常|示例")
COLONS: Final = (":", "\uff1a")
"""Chinese text has a wide one."""

_MARK = r"[`*'\"\\]*"
_KEYS = rf"{_MARK}[^\s:\uff1a()`*,'\"\\]+{_MARK}"
_ENTRY = re.compile(rf"(?P<bullet>(?:[-*+•]|\d{{1,4}}[.)])[ \t]+)?(?P<keys>{_KEYS}(?:,[ \t]*{_KEYS})*)[ \t]*")
_TYPE_END = re.compile(r"\)\s*(?:[:\uff1a]|$)")
_DASH = re.compile(r"(?:--?|[\u2013\u2014])[ \t]+")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,4}[.)])[ \t]")
_FIELD = re.compile(r"[:@](?P<word>[a-z]+)(?:[ \t]+(?P<head>[^:\s][^:]*))?:(?:[ \t]+(?P<text>.*))?$")
_KEY_FIELD = re.compile(r"param(?:eter)?|arg(?:ument)?|key(?:word)?|type")
_OTHER_FIELD = re.compile(r"returns?|rtype|raises?|except(?:ion)?|yields?|ytype|[ic]?var|vartype|meta")
_DEFAULT = re.compile(r"defaults?\b[ \t]*(?:(?:to|is|value)\b)?[ \t]*[:=]?", re.IGNORECASE)
_OF = re.compile(r"(?:one of|choices?|enum|in)\b[ \t]*[:=]?[ \t]*(?=[\[{(])", re.IGNORECASE)
_CHOICES = re.compile(r"(?:choices?|enum values|one of|(?:allowed|possible) values):[ \t]*(?=\[)", re.IGNORECASE)
_ROLE = re.compile(r":[a-z]+:(?=`)")
_QUOTES: Final = " \t`*"

Style = Literal["google", "numpy", "sphinx", "other", ""]


@dataclass(frozen=True)
class DocumentedKey:
    """What a docstring says of one key; ``required=None`` and ``raw_type=""`` where it says nothing."""

    description: str = ""
    raw_type: str = ""
    type: ValueType = ANY
    enum: tuple[Any, ...] | None = None
    default: Any = MISSING
    has_default: bool = False
    required: bool | None = None


@dataclass(frozen=True)
class Docstring:
    """The text before the sections, and what the sections say of each key (``*args`` with its star)."""

    description: str
    keys: Mapping[str, DocumentedKey]


def document(name: str, parameters: Iterable[Parameter], notes: Iterable[str], docstring: str) -> ToolSpec:
    """The tool that a signature and its docstring document; the docstring says what the signature leaves open.

    Notes tell which documented keys the signature lacks.
    """
    declared = {parameter.key: parameter for parameter in parameters}
    found = read_docstring(docstring, declared)
    lacking = [key for key in found.keys if key not in declared and not key.startswith("*")]
    return ToolSpec(
        name,
        found.description,
        tuple(_merge(parameter, found.keys.get(key, DocumentedKey())) for key, parameter in declared.items()),
        notes=(*notes, *(f"the docstring documents {key!r}, which the signature lacks" for key in lacking)),
    )


def _merge(declared: Parameter, documented: DocumentedKey) -> ParameterSpec:
    description = dedent(declared.description).strip() or documented.description
    if declared.optional:
        required, rule = decide(has_default=True)
    else:
        marker = {True: "[required] ", False: "[optional] ", None: ""}[documented.required]
        required, rule = decide(description=marker + description, has_default=documented.has_default, habit=True)
    return ParameterSpec(
        declared.key,
        declared.type if declared.raw_type else documented.type,
        declared.raw_type or documented.raw_type,
        required,
        description,
        documented.enum if declared.enum is None else declared.enum,
        documented.default if declared.default is MISSING else declared.default,
        rule,
    )


def read_docstring(text: str, keys: Collection[str] = ()) -> Docstring:
    """Read a docstring in any of the three styles; indentation as in source does not matter.

    Parameters
    ----------
    keys : collection of str
        The keys of the signature: a bullet or a line that is not indented documents a key only if it is one of them.
    """
    reader = _Reader(keys)
    lines = dedent(text).split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        reader.take(line, below)
    found: dict[str, DocumentedKey] = {}
    for entry in reader.entries:
        for key in entry.keys:
            found[key] = entry.over(found.get(key, DocumentedKey()))
    return Docstring("\n".join(reader.description).strip(), found)


def dedent(text: str) -> str:
    """The text without the indentation that all its lines but the first share, and without blank lines around."""
    lines = text.replace("\r\n", "\n").expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]).strip("\n")


@dataclass
class _Entry:
    """One documented key, or several that share it: what stands in the place of the type, and the text."""

    keys: list[str]
    head: str = ""
    lines: list[str] = field(default_factory=list)

    @cached_property
    def _read(self) -> tuple[str, DocumentedKey, tuple[Any, ...] | None]:
        """Description, what stands in the place of the type, and enum: the same for all keys of the entry."""
        description = _joined(self.lines)
        documented = _read_head(self.head)
        said = documented.raw_type
        if not description and " " in said and documented.type == ANY and not documented.enum and not is_type(said):
            # NumPy's "key : type" that holds prose
            description, documented = self.head, DocumentedKey(required=documented.required)
        return description, documented, documented.enum if documented.enum is not None else _choices(description)

    def over(self, earlier: DocumentedKey) -> DocumentedKey:
        """What this entry adds to an earlier one of the key: Sphinx has ``:param x:`` beside ``:type x:``."""
        description, documented, enum = self._read
        return DocumentedKey(
            description or earlier.description,
            documented.raw_type or earlier.raw_type,
            documented.type if documented.raw_type else earlier.type,
            earlier.enum if enum is None else enum,
            documented.default if documented.has_default else earlier.default,
            documented.has_default or earlier.has_default,
            earlier.required if documented.required is None else documented.required,
        )


class _Reader:
    """Takes a docstring line by line."""

    def __init__(self, known: Collection[str]) -> None:
        self.known = known
        self.description: list[str] = []
        self.entries: list[_Entry] = []
        self.in_description = True
        self.section: Style = ""
        self.indent = 0  # of the section's title
        self.entry_indent: int | None = None
        self.entry: _Entry | None = None
        self.after_blank = False
        self.at_underline = False

    def take(self, line: str, below: str) -> None:
        """One line, and the line below it, which may underline it."""
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if self.at_underline:
            self.at_underline = False
        elif not text:
            if self.entry:
                self.entry.lines.append("")
            if self.in_description:
                self.description.append("")
        elif not self._opens(text, indent, below) and not self._inside(text, indent) and self.in_description:
            self.description.append(line)
        self.after_blank = not text

    def _opens(self, text: str, indent: int, below: str) -> bool:
        """Whether the line is a section's title or a Sphinx field, which the reader then is in."""
        if match := _FIELD.match(text):
            if _KEY_FIELD.fullmatch(match["word"]) and match["head"]:
                self._begin("sphinx", indent)
                self._field(match)
                return True
            if _OTHER_FIELD.fullmatch(match["word"]):
                self._begin("other", indent)
                return True
        if self.section == "google" and indent > self.indent:
            return False
        titled = title_of(text)
        underlined = _is_underline(below, indent)
        if titled == "keys" and (underlined or text.endswith(COLONS)):
            self._begin("numpy" if underlined else "google", indent)
        elif (titled and text.endswith(COLONS)) or (underlined and (titled or not self.in_description)):
            self._begin("other", indent)
        else:
            return False
        self.at_underline = underlined
        return True

    def _begin(self, section: Style, indent: int) -> None:
        self.section, self.indent, self.entry_indent, self.entry = section, indent, None, None
        self.in_description = False

    def _field(self, match: re.Match[str]) -> None:
        head, _, key = match["head"].strip().rpartition(" ")
        key = key.replace("\\", "")
        if match["word"] == "type":
            self._add(_Entry([key], match["text"] or ""))
        else:
            self._add(_Entry([key], head.strip(), [match["text"] or ""]))

    def _add(self, entry: _Entry) -> None:
        self.entries.append(entry)
        self.entry = entry

    def _inside(self, text: str, indent: int) -> bool:
        """Whether the line belongs to the section, or documents a key of the signature without one."""
        if self.section == "other":
            return True
        if self.section == "sphinx" and self.entry and (indent > self.indent or not self.after_blank):
            self.entry.lines.append(text)
            return True
        if self.section in ("google", "numpy") and indent >= self.indent + (self.section == "google"):
            if self.entry_indent is None or indent <= self.entry_indent:
                entry, _ = _read_entry(text, self.section, self.known)
                if entry:
                    self.entry_indent = indent
                    self._add(entry)
                    return True
            if self.entry and (self.section == "google" or indent > self.indent):
                self.entry.lines.append(text)
            return True
        entry, bulleted = _read_entry(text, "google", self.known)
        if entry and (bulleted or self.section == "google") and all(key in self.known for key in entry.keys):
            self._begin("google", indent)
            self.entry_indent = indent
            self._add(entry)
            return True
        self.section, self.entry = "", None
        return False


def title_of(text: str) -> Literal["keys", "other", ""]:
    """Which section a line such as ``Args:`` would be the title of; ``""`` if it is none."""
    title = text.rstrip(":\uff1a ").lower()
    return "keys" if _KEY_TITLE.fullmatch(title) else "other" if _OTHER_TITLE.fullmatch(title) else ""


def _is_underline(line: str, indent: int) -> bool:
    rule = line[indent:]
    return len(rule) > 2 and rule[0] in "-=~" and not line[:indent].strip() and not rule.strip(rule[0])


def _read_entry(text: str, section: Style, known: Collection[str]) -> tuple[_Entry | None, bool]:
    """The entry that a line begins, if it does, and whether it has a bullet."""
    match = _ENTRY.match(text)
    if not match:
        return None, False
    keys = [_key(written) for written in match["keys"].split(",")]
    bulleted = bool(match["bullet"])
    rest = text[match.end() :]
    if rest.startswith("("):
        end = _bracket_end(text, match.end())
        head, rest = text[match.end() + 1 : end - 1], text[end:].lstrip()
        dash = _DASH.match(rest)
        if not end or not (not rest or rest.startswith(COLONS) or dash):
            return None, False
        return _Entry(keys, head, [rest[dash.end() if dash else 1 :]]), bulleted
    if rest.startswith(COLONS):
        behind = rest[1:]
        if behind and rest[0] == ":" and not behind[0].isspace() and not all(key in known for key in keys):
            return None, False  # https://...
        if section == "numpy":
            return _Entry(keys, behind.strip()), bulleted
        return _Entry(keys, "", [behind]), bulleted
    if dash := _DASH.match(rest):
        return _Entry(keys, "", [rest[dash.end() :]]), bulleted
    return (_Entry(keys), bulleted) if section == "numpy" and not rest else (None, False)


def _key(written: str) -> str:
    """Without marks, but with the stars of ``*args``: they stand on one side only."""
    written = written.strip(" \t`'\"\\").replace("\\", "")
    return written if written.startswith("*") and not written.endswith("*") else written.strip("*`'\"")


def _bracket_end(text: str, position: int) -> int:
    """The offset behind the bracket of a type, which may hold what looks like an open string; 0 without one."""
    try:
        return read_list(text, position)[1]
    except LiteralError:
        end = _TYPE_END.search(text, position)
        return end.start() + 1 if end else 0


def _read_head(written: str) -> DocumentedKey:
    """What stands in the place of a type: ``int, optional``, ``{'a', 'b'}, default: 'a'``, ``str or None``."""
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
            enum = _members(part[match.end() :])
        else:
            types.append(part)
            enum = _members(part) if part.startswith("{") else enum
    raw_type = ", ".join(types)
    kind = value_type(_ROLE.sub("", raw_type).replace("`", ""))
    enum = enum or kind.enum
    if enum and kind == ANY:
        kind = replace(type_of(member for member in enum if member is not None), nullable=None in enum)
    return DocumentedKey(
        raw_type=raw_type,
        type=replace(kind, enum=None),
        enum=enum,
        default=MISSING if default is None else _default(default, kind),
        has_default=default is not None,
        required=required,
    )


def _parts(written: str) -> list[str]:
    """Cut at the commas, and before the bracket of ``int (default: 5)``."""
    try:
        members, end = read_list(f"({written})", 0)
    except LiteralError:
        end = 0
    parts = [member.text for member in members] if end == len(written) + 2 else written.split(",")
    cut: list[str] = []
    for part in parts:
        before, bracket, behind = part.partition("(default")
        cut += [before, f"default{behind.strip().removesuffix(')')}"] if bracket else [part]
    return [part.strip(_QUOTES) for part in cut if part.strip(_QUOTES)]


def _default(written: str, kind: ValueType) -> Any:
    """A default that stands for a text may lack its quotes."""
    for text in (written, written.rstrip(".")):
        try:
            return read_value(text)
        except LiteralError:
            continue
    return written if kind.kind == "str" and written else MISSING


def _members(written: str) -> tuple[Any, ...] | None:
    """The members of ``{'a', 'b'}`` in their order; ``None`` unless all are literals."""
    try:
        members, _ = read_list(written, 0)
        return tuple(read_value(member.text) for member in members) or None
    except LiteralError:
        return None


def _choices(description: str) -> tuple[Any, ...] | None:
    """The members of ``(choices: ["a", "b"])``, as ``transformers`` reads it, and of the like."""
    match = _CHOICES.search(description)
    return _members(description[match.end() :]) if match else None


def _joined(lines: list[str]) -> str:
    """Lines that were wrapped as one; bullets and what follows a blank line stay lines of their own."""
    parts: list[str] = []
    after_blank = False
    for line in map(str.strip, lines):
        if line and parts:
            parts.append("\n" if after_blank or _BULLET.match(line) else " ")
        if line:
            parts.append(line)
        after_blank = not line
    return "".join(parts)
