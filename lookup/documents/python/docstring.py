"""Docstrings in Google's, NumPy's and Sphinx's style: the description of a function and of its keys.

>>> found = read_docstring("Adds.\\n\\nArgs:\\n    a (int, optional): The first. Or none.\\n")
>>> found.description, found.keys["a"].raw_type, found.keys["a"].required, found.keys["a"].description
('Adds.', 'int', False, 'The first. Or none.')
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.documents.parameters.requiredness import decide
from lookup.documents.python.documented_key import read_key
from lookup.documents.python.signature import over, unsaid
from lookup.documents.python.syntax import list_end
from lookup.errors import LiteralError

Style = Literal["text", "google", "numpy", "sphinx", "other"]
"""``other`` sections (Returns, Raises, …) document no keys. ``text`` is outside of all sections."""

_COLONS: Final = (":", "\uff1a")
"""A colon, and the wide one of Chinese text."""

_KEY_TITLE = re.compile(
    r"arg(?:ument)?s|param(?:eter)?s|keyword arg(?:ument)?s|other parameters|attributes|参数(?:说明)?"
)
_OTHER_TITLE = re.compile(r"returns?|yields?|raises?|examples?|返回值?|异常|示例")
_FIELD = re.compile(r"[:@](?P<word>[a-z]+)(?:[ \t]+(?P<head>[^:\s][^:]*))?:(?:[ \t]+(?P<text>.*))?$")
_KEY_FIELD = re.compile(r"param(?:eter)?|arg(?:ument)?|key(?:word)?|type")
_OTHER_FIELD = re.compile(r"returns?|rtype|raises?|except(?:ion)?|yields?|ytype|[ic]?var|vartype|meta")

_MARK = r"[`*'\"\\]*"
_KEYS = rf"{_MARK}[^\s:\uff1a()`*,'\"\\]+{_MARK}"
_ENTRY = re.compile(rf"(?P<bullet>(?:[-*+•]|\d{{1,4}}[.)])[ \t]+)?(?P<keys>{_KEYS}(?:,[ \t]*{_KEYS})*)[ \t]*")
_TYPE_END = re.compile(r"\)\s*(?:[:\uff1a]|$)")
_DASH = re.compile(r"(?:--?|[\u2013\u2014])[ \t]+")


class Docstring(NamedTuple):
    """The description above the sections, and what the sections say of each key (``*args`` with its star)."""

    description: str
    keys: Mapping[str, ParameterSpec]


class _Line(NamedTuple):
    raw: str
    text: str
    indent: int


@dataclass
class _Entry:
    """One documented key, or several that share a description: the text in the place of the type, and the lines."""

    keys: list[str]
    head: str = ""
    lines: list[str] = field(default_factory=list)
    bulleted: bool = False


@dataclass
class _Section:
    """The lines of a section without its title, whose indentation is ``indent``. A Sphinx field is its own section."""

    style: Style
    indent: int = 0
    lines: list[_Line] = field(default_factory=list)

    def contains(self, line: _Line, after_blank: bool) -> bool:
        """Whether a line that opens no section belongs to this one."""
        match self.style:
            case "sphinx":
                return line.indent > self.indent or not after_blank
            case "google":
                return line.indent > self.indent
            case "numpy":
                return line.indent >= self.indent
        return self.style == "other"

    def entries(self, known: Collection[str]) -> Iterator[_Entry]:
        """The entries, which begin at the smallest indentation so far; deeper lines continue them."""
        if self.style not in ("google", "numpy", "sphinx"):
            return
        entry, entry_indent = None, None
        for line in self.lines:
            found = None
            if self.style == "sphinx":
                found = None if entry else _read_field(line.text)
            elif line.text and (entry_indent is None or line.indent <= entry_indent):
                found = _read_entry(line.text, self.style, known)
            if found:
                if entry:
                    yield entry
                entry, entry_indent = found, line.indent
            elif entry and (not line.text or line.indent > self.indent or self.style == "sphinx"):
                entry.lines.append(line.text)
        if entry:
            yield entry


def document(name: str, parameters: Iterable[ParameterSpec], notes: Iterable[str], docstring: str) -> ToolSpec:
    """The tool with this signature and docstring. The docstring adds what the signature does not say.

    A note names each documented key that is not in the signature.
    """
    declared = {parameter.name: parameter for parameter in parameters}
    found = read_docstring(docstring, declared)
    lacking = [key for key in found.keys if key not in declared and not key.startswith("*")]
    return ToolSpec(
        name,
        found.description,
        tuple(_merge(parameter, found.keys.get(key, unsaid())) for key, parameter in declared.items()),
        notes=(*notes, *(f"the docstring documents {key!r}, which the signature lacks" for key in lacking)),
    )


def _merge(declared: ParameterSpec, documented: ParameterSpec) -> ParameterSpec:
    """The key of a signature, whose words go before those of the docstring."""
    declared = replace(declared, description=_dedent(declared.description).strip())
    found = over(declared, documented)
    if declared.rule == "default":
        required, rule = decide(has_default=True)
    else:
        marker = {True: "[required] ", False: "[optional] ", None: ""}[found.required]
        said = marker + found.description
        required, rule = decide(description=said, has_default=found.rule == "default", convention=True)
    return replace(found, required=required, rule=rule)


def read_docstring(text: str, known: Collection[str] = ()) -> Docstring:
    """Read a docstring in any of the three styles, with or without the indentation of the source.

    ``known``: the keys of the signature. Outside of sections, a bullet documents a key only if it is one of them.
    Directly behind a section in Google's style, it needs no bullet.
    """
    description, *sections = _sections(_dedent(text).split("\n"), known)
    found: dict[str, ParameterSpec] = {}
    for entry in (entry for section in sections for entry in section.entries(known)):
        documented = read_key(entry.head, entry.lines)
        for key in entry.keys:
            found[key] = over(documented, found.get(key, unsaid()))
    return Docstring("\n".join(line.raw for line in description.lines).strip(), found)


def _dedent(text: str) -> str:
    """The text without the common indentation of all lines but the first, and without surrounding blank lines."""
    lines = text.replace("\r\n", "\n").expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]).strip("\n")


def _sections(lines: Iterable[str], known: Collection[str]) -> list[_Section]:
    """The sections in order, with the description as the first one."""
    sections = [_Section("text")]
    after_blank = at_underline = False
    split = [_Line(raw, raw.strip(), len(raw) - len(raw.lstrip())) for raw in [*lines, ""]]
    for line, below in pairwise(split):
        section = sections[-1]
        if at_underline:
            at_underline = False
        elif not line.text:
            section.lines.append(line)
        elif opened := _opened(line, below, section, in_description=len(sections) == 1):
            sections.append(opened)
            at_underline = not opened.lines and _is_underline(line, below)
        elif section.contains(line, after_blank):
            section.lines.append(line)
        elif _documents_known(line, section, known):
            sections.append(_Section("google", line.indent, [line]))
        elif section.style == "text":
            section.lines.append(line)
        else:
            sections.append(_Section("text"))
        after_blank = not line.text
    return sections


def _opened(line: _Line, below: _Line, section: _Section, in_description: bool) -> _Section | None:
    """The section that a title or a Sphinx field opens."""
    if match := _FIELD.match(line.text):
        if _KEY_FIELD.fullmatch(match["word"]) and match["head"]:
            return _Section("sphinx", line.indent, [line])
        if _OTHER_FIELD.fullmatch(match["word"]):
            return _Section("other", line.indent)
    if section.style == "google" and line.indent > section.indent:
        return None
    title = line.text.rstrip(":\uff1a ").lower()
    underlined = _is_underline(line, below)
    titled = underlined or line.text.endswith(_COLONS)
    if titled and _KEY_TITLE.fullmatch(title):
        return _Section("numpy" if underlined else "google", line.indent)
    if (titled and _OTHER_TITLE.fullmatch(title)) or (underlined and not in_description):
        return _Section("other", line.indent)
    return None


def _is_underline(line: _Line, below: _Line) -> bool:
    """Whether the line below underlines a title."""
    mark = below.text[:1]
    return below.indent == line.indent and len(below.text) > 2 and mark in "-=~" and not below.text.strip(mark)


def _documents_known(line: _Line, section: _Section, known: Collection[str]) -> bool:
    """Whether a line outside of sections documents known keys."""
    entry = _read_entry(line.text, "google", known)
    return bool(entry and (entry.bulleted or section.style == "google") and all(key in known for key in entry.keys))


def _read_field(text: str) -> _Entry | None:
    """The entry of a Sphinx field such as ``:param int a: The first.``"""
    match = _FIELD.match(text)
    if not match:
        return None
    head, _, key = match["head"].strip().rpartition(" ")
    said = match["text"] or ""
    keys = [key.replace("\\", "")]
    return _Entry(keys, said) if match["word"] == "type" else _Entry(keys, head.strip(), [said])


def _read_entry(text: str, style: Style, known: Collection[str]) -> _Entry | None:
    """The entry that begins with a line such as ``key (type): text``; ``None`` for any other line."""
    match = _ENTRY.match(text)
    if not match:
        return None
    entry = _Entry([_key(written) for written in match["keys"].split(",")], bulleted=bool(match["bullet"]))
    rest = text[match.end() :]
    if rest.startswith("("):
        end = _bracket_end(text, match.end())
        entry.head, rest = text[match.end() + 1 : end - 1], text[end:].lstrip()
        if not end or (rest and not rest.startswith(_COLONS) and not _DASH.match(rest)):
            return None
    elif rest.startswith(_COLONS):
        behind = rest[1:]
        if behind and rest[0] == ":" and not behind[0].isspace() and not all(key in known for key in entry.keys):
            return None  # https://...
        if style == "numpy":
            entry.head, rest = behind.strip(), ""
    elif not _DASH.match(rest) and (style != "numpy" or rest):
        return None
    dash = _DASH.match(rest)
    entry.lines.append(rest[dash.end() if dash else 1 :])
    return entry


def _key(written: str) -> str:
    """The key without Markdown marks. The stars of ``*args`` are kept: they are on one side only."""
    written = written.strip(" \t`'\"\\").replace("\\", "")
    return written if written.startswith("*") and not written.endswith("*") else written.strip("*`'\"")


def _bracket_end(text: str, position: int) -> int:
    """The offset behind the bracket of a type, which may contain an unclosed quote; 0 if it is not closed."""
    try:
        return list_end(text, position)
    except LiteralError:
        end = _TYPE_END.search(text, position)
        return end.start() + 1 if end else 0
