"""What a TypeScript text declares: types, interfaces, enums, functions and methods, with the comments above them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lookup.errors import LiteralError
from lookup.typescript.comments import DocComment, line_comments
from lookup.typescript.parameters import read_parameters
from lookup.typescript.schemas import Schema
from lookup.typescript.type_reader import TypeReader

_DECLARATION = re.compile(
    r"""^(?P<indent>[ \t]*)(?:(?:export|declare|default|abstract)[ \t]+){0,3}(?:
        type[ \t]+(?P<type>[^\s=<>(){};]{1,200})[ \t]*(?:<[^>\n]{0,200}>)?[ \t]*=(?!=)
      | (?P<braced>interface|class)[ \t]+(?P<interface>[\w$]{1,200})(?:[ \t]*<[^>\n]{0,200}>)?[^{};\n]{0,200}\{
      | (?:async[ \t]+)?function[ \t]+(?P<function>[\w$]{1,200})[ \t]*(?:<[^>\n]{0,200}>)?[ \t]*(?=\()
      | enum[ \t]+(?P<enum>[\w$]{1,200})[ \t]*\{
    )""",
    re.VERBOSE | re.MULTILINE,
)
_METHOD = re.compile(r"[ \t]*(?P<name>[A-Za-z_$][\w$]{0,199})\??[ \t]*(?::[ \t]*)?(?=\()")
_RESULT = re.compile(r"[ \t]*(?::|=>)")
_MEMBER = re.compile(
    r"""[\s,]*(?:"[^"\\\n]{1,200}"|'[^'\\\n]{1,200}'|[\w$]{1,200})[ \t]*
        (?:=[ \t]*(?P<value>"[^"\\\n]{0,200}"|'[^'\\\n]{0,200}'|-?\d{1,20}))?[ \t]*(?=[,}\n])""",
    re.VERBOSE,
)


@dataclass
class Declaration:
    """One declaration of a text: its stretch, and what it declares."""

    kind: str
    name: str
    start: int
    description: str = ""
    schema: Schema | None = None  # of the parameters, or of the type itself
    is_function: bool = False
    documented: bool = False
    end: int = 0


class DeclaredText:
    """The declarations of one text, each read up to where the next one begins."""

    def __init__(self, text: str, inside: bool = False) -> None:
        self._text = text
        self._inside = inside  # whether it is the inside of a namespace
        self._matches = list(_DECLARATION.finditer(text))
        self._names = {m["type"] or m["interface"] or m["enum"] for m in self._matches}
        self.declarations: list[Declaration] = []
        limits = [m.start() for m in self._matches[1:]] + [len(text)]
        behind = 0
        for match, limit in zip(self._matches, limits, strict=False):
            for found in self._read(match, limit, behind):
                self.declarations.append(found)
                behind = found.end

    def declared(self, name: str) -> bool:
        """Whether the text declares a type of this name."""
        return name in self._names

    def definitions(self) -> Mapping[str, Schema]:
        """The schema of each type that is declared as data."""
        declared = [d for d in self.declarations if not d.is_function and d.schema is not None]
        return {d.name: {"description": d.description} | (d.schema or {}) for d in declared}

    def _read(self, match: re.Match[str], limit: int, behind: int) -> Iterator[Declaration]:
        reader = TypeReader(self._text, match.end(), limit, self.declared)
        start = match.end("indent")
        comment, start = self._comment(behind, start, match.start())
        doc = DocComment(comment) if comment.startswith("/*") else None
        description = doc.description if doc else line_comments(comment) if comment else ""
        name = match["type"] or match["interface"] or match["function"] or match["enum"]
        kind = "type" if match["type"] else match["braced"] or ("function" if match["function"] else "enum")
        found = Declaration(kind, name, start, description, documented=bool(comment))
        try:
            if kind == "interface":
                yield from self._methods(reader, match.end(), limit)
                reader.position = match.end() - 1
                found.schema = reader.members()
            elif kind == "enum":
                found.schema = _enum(self._text, match.end(), limit, reader)
            elif kind == "function" or (kind == "type" and self._is_function(reader)):
                found.schema, found.is_function = read_parameters(reader, doc), True
                self._result(reader)
            elif kind == "type":
                found.schema = reader.type()
            else:
                return
        except LiteralError:
            return
        reader.take(";")
        found.end = reader.position
        yield found

    def _is_function(self, reader: TypeReader) -> bool:
        """Whether ``( ... ) =>`` follows."""
        start = reader.position
        reader.skip()
        if not self._text.startswith("(", reader.position):
            reader.position = start
            return False
        opening = reader.position
        reader.parenthesized()
        arrow = reader.take("=>")
        reader.position = opening
        return arrow

    def _result(self, reader: TypeReader) -> None:
        """Step over the type of the result."""
        result = _RESULT.match(self._text, reader.position, reader.limit)
        if result:
            reader.position = result.end()
            reader.type()

    def _methods(self, reader: TypeReader, position: int, limit: int) -> Iterator[Declaration]:
        """The methods of an interface, each a function of its own."""
        for line in re.finditer(r"^[ \t]*[A-Za-z_$][^\n]*", self._text[position:limit], re.MULTILINE):
            at = position + line.start()
            match = _METHOD.match(self._text, at, limit)
            if not match or at < reader.position:
                continue
            comment, start = self._comment(reader.position, at, at)
            doc = DocComment(comment) if comment.startswith("/*") else None
            reader.position = match.end()
            try:
                schema = read_parameters(reader, doc)
                self._result(reader)
            except LiteralError:
                reader.position = max(reader.position, line.end() + position)
                continue
            description = doc.description if doc else line_comments(comment) if comment else ""
            yield Declaration("method", match["name"], start, description, schema, True, bool(comment), reader.position)

    def _comment(self, behind: int, start: int, line_start: int) -> tuple[str, int]:
        """The comment above a declaration, with the line end below it, and where the declaration begins with it.

        ``//`` stands in front of each line, or once in front of a text of several lines that begins where the
        declaration above or the namespace has ended.
        """
        text = self._text
        above = text[behind:line_start]
        trimmed = above.rstrip()
        if trimmed.endswith("*/"):
            opening = trimmed.rfind("/*")
            if opening >= 0:
                return trimmed[opening:], behind + opening
        whole = above.lstrip()
        if whole.startswith("//"):
            first = behind + len(above) - len(whole)
            if behind or self._inside:
                return text[first:line_start], first
        position, first = line_start, line_start
        while position > behind:
            line = text.rfind("\n", behind, position - 1) + 1 or behind
            marked = text[line:position].lstrip().startswith("//")
            if not text[line:position].strip() or (first < line_start and not marked):
                break
            first = line if marked else first
            position = line
        return text[first:line_start], first if first < line_start else start


def _enum(text: str, position: int, limit: int, reader: TypeReader) -> Schema:
    """The values of an ``enum`` declaration."""
    members: list[Any] = []
    while match := _MEMBER.match(text, position, limit):
        written = match["value"]
        if written is None:
            members.append(len(members))
        else:
            members.append(written[1:-1] if written[0] in "\"'" else int(written))
        position = match.end()
    closing = re.compile(r"[\s,]*\}").match(text, position, limit)
    reader.position = closing.end() if closing else position
    if not closing or not members:
        reader.fail("members of an enum")
    return {"type": "string" if isinstance(members[0], str) else "integer", "enum": members}
