"""Split a docstring into sections, and the sections into entries, in Google's, NumPy's and Sphinx's style."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from lookup.errors import LiteralError
from lookup.python.syntax import list_end

_COLONS: Final = (":", "\uff1a")
"""A colon, and the wide one of Chinese text."""

Style = Literal["text", "google", "numpy", "sphinx", "other"]
"""``other`` sections (Returns, Raises, …) document no keys. ``text`` is outside of all sections."""

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


@dataclass
class Entry:
    """One documented key, or several that share a description: the text in the place of the type, and the lines."""

    keys: list[str]
    head: str = ""
    lines: list[str] = field(default_factory=list)
    bulleted: bool = False


class _Line(NamedTuple):
    raw: str
    text: str
    indent: int


@dataclass
class _Section:
    """The lines of a section without its title. A Sphinx field is the first line of its own section.

    ``indent`` is the indentation of the title or field; ``underlined`` says whether the title is underlined.
    """

    style: Style
    indent: int = 0
    underlined: bool = False
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

    def entries(self, known: Collection[str]) -> Iterator[Entry]:
        """The documented keys."""
        if self.style == "sphinx":
            yield from _field_entry(self.lines)
        elif self.style in ("google", "numpy"):
            yield from self._indented_entries(known)

    def _indented_entries(self, known: Collection[str]) -> Iterator[Entry]:
        """Entries that begin at the smallest indentation so far; deeper lines continue them."""
        entry, entry_indent = None, None
        for line in self.lines:
            found = None
            if line.text and (entry_indent is None or line.indent <= entry_indent):
                found = _read_entry(line.text, self.style, known)
            if found:
                if entry:
                    yield entry
                entry, entry_indent = found, line.indent
            elif entry and (not line.text or line.indent > self.indent):
                entry.lines.append(line.text)
        if entry:
            yield entry


def split_docstring(lines: Iterable[str], known: Collection[str]) -> tuple[str, list[Entry]]:
    """The description above the sections, and the documented keys.

    Outside of sections, a bullet documents a key if it is one of the ``known`` ones. Directly behind a section in
    Google's style, it needs no bullet.
    """
    description, *sections = _sections(lines, known)
    entries = [entry for section in sections for entry in section.entries(known)]
    return "\n".join(line.raw for line in description.lines).strip(), entries


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
            at_underline = opened.underlined
        elif section.contains(line, after_blank):
            section.lines.append(line)
        elif _documents_known(line, section, known):
            sections.append(_Section("google", line.indent, lines=[line]))
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
            return _Section("sphinx", line.indent, lines=[line])
        if _OTHER_FIELD.fullmatch(match["word"]):
            return _Section("other", line.indent)
    if section.style == "google" and section.contains(line, after_blank=False):
        return None
    title = _title_of(line.text)
    underlined = below.indent == line.indent and _is_underline(below.text)
    colon = line.text.endswith(_COLONS)
    if title == "keys" and (underlined or colon):
        return _Section("numpy" if underlined else "google", line.indent, underlined)
    if (title and colon) or (underlined and (title or not in_description)):
        return _Section("other", line.indent, underlined)
    return None


def _title_of(text: str) -> Literal["keys", "other", ""]:
    """The kind of section that a line such as ``Args:`` is the title of; ``""`` if it is no title."""
    title = text.rstrip(":\uff1a ").lower()
    return "keys" if _KEY_TITLE.fullmatch(title) else "other" if _OTHER_TITLE.fullmatch(title) else ""


def _is_underline(text: str) -> bool:
    return len(text) > 2 and text[0] in "-=~" and not text.strip(text[0])


def _documents_known(line: _Line, section: _Section, known: Collection[str]) -> bool:
    """Whether a line outside of sections documents known keys."""
    entry = _read_entry(line.text, "google", known)
    return bool(entry and (entry.bulleted or section.style == "google") and all(key in known for key in entry.keys))


def _field_entry(lines: list[_Line]) -> Iterator[Entry]:
    """The entry of a Sphinx field such as ``:param int a: The first.`` and the lines that continue it."""
    first, *others = lines
    if match := _FIELD.match(first.text):
        head, _, key = match["head"].strip().rpartition(" ")
        key = key.replace("\\", "")
        text = match["text"] or ""
        entry = Entry([key], text) if match["word"] == "type" else Entry([key], head.strip(), [text])
        entry.lines += [line.text for line in others]
        yield entry


def _read_entry(text: str, style: Style, known: Collection[str]) -> Entry | None:
    """The entry that begins with a line such as ``key (type): text``; ``None`` for any other line."""
    match = _ENTRY.match(text)
    if not match:
        return None
    entry = Entry([_key(written) for written in match["keys"].split(",")], bulleted=bool(match["bullet"]))
    rest = text[match.end() :]
    if rest.startswith("("):
        end = _bracket_end(text, match.end())
        entry.head, rest = text[match.end() + 1 : end - 1], text[end:].lstrip()
        dash = _DASH.match(rest)
        entry.lines.append(rest[dash.end() if dash else 1 :])
        return entry if end and (not rest or rest.startswith(_COLONS) or dash) else None
    if rest.startswith(_COLONS):
        behind = rest[1:]
        if behind and rest[0] == ":" and not behind[0].isspace() and not all(key in known for key in entry.keys):
            return None  # https://...
        if style == "numpy":
            entry.head = behind.strip()
        else:
            entry.lines.append(behind)
        return entry
    if dash := _DASH.match(rest):
        entry.lines.append(rest[dash.end() :])
        return entry
    return entry if style == "numpy" and not rest else None


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
