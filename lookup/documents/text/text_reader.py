"""Find and read all documentation in a text, and report what looks like documentation but was not read.

Chat templates mark the speaker (``<|im_start|>user``, ``[INST]``, …); plain prompts write ``User:`` at the start of a
line. A user may paste documentation of other tools into a question. If the prompt documents tools outside the user's
and the assistant's turns, the tools inside them are ignored; otherwise they are read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from lookup.dictionary import ToolSpec
from lookup.documents.forms import OBJECT_FORMS, TEXT_FORMS
from lookup.documents.forms.form import Claim, TextTool, claims, form_of, read_claim
from lookup.documents.text.json_text import find_json
from lookup.documents.text.yaml_text import find_yaml, yaml_documents
from lookup.errors import DocumentationError, MisreadError, quoted
from lookup.source import Piece, Places, Source, Stretches, Unread

_NAMES: Final = {
    "user": "user", "human": "user", "question": "user", "query": "user",
    "assistant": "assistant", "model": "assistant", "ai": "assistant", "gpt": "assistant", "bot": "assistant",
}  # fmt: skip
# Other headings that end a user's turn in a plain prompt.
_HEADINGS: Final = frozenset(
    {
        "system", "tool", "tools", "function", "functions", "api", "apis", "api descriptions", "api-request",
        "api-response", "available tools", "available functions", "observation", "documentation", "calls",
    }
)  # fmt: skip
_TEMPLATE = re.compile(
    r"""<\|im_start\|>(?P<im>\w+)
      | <\|start_header_id\|>(?P<header>\w+)<\|end_header_id\|>
      | <start_of_turn>(?P<turn>\w+)
      | <\|(?P<tag>system|user|assistant|tool)\|>
      | (?P<bracket>\[/?INST\]|<</?SYS>>|\[/?AVAILABLE_TOOLS\])
    """,
    re.VERBOSE,
)
# Begins with the line end, because a search finds it several times faster than the start of a line.
_LINE = re.compile(r"\n[ \t]{0,12}(?:\#{1,4} {0,3})?(?:\*\*)?(?P<line>[A-Za-z][A-Za-z -]{0,40}):(?:\*\*)?(?=\s)")
# Every template marker contains one of these. Looking for fixed text first is ten times as fast.
_MARKS: Final = ("<|", "<start_of_turn>", "INST]", "SYS>>", "AVAILABLE_TOOLS]")
_BRACKETS: Final = {"[INST]": "user", "<</SYS>>": "user", "[/INST]": "assistant"}


class Speakers:
    """The speaker at each offset of a text: ``"user"``, ``"assistant"``, or ``""`` for anyone else.

    ``taken``: documentation. Markers inside it are ignored.
    """

    def __init__(self, text: str, taken: Stretches) -> None:
        self._starts = [0]
        self._speakers = [""]
        # In a chat template, a line such as "User:" is ordinary text.
        pattern = _TEMPLATE if any(mark in text for mark in _MARKS) and _TEMPLATE.search(text) else _LINE
        first = pattern.match(f"\n{text[:60]}")
        for match in [first, *pattern.finditer(text)] if first else pattern.finditer(text):
            speaker = _speaker(match)
            start = 0 if match is first else match.start()
            if speaker is not None and taken.end_at(start) is None:
                self._starts.append(start)
                self._speakers.append(speaker)

    def at(self, offset: int) -> str:
        """The speaker at an offset."""
        return self._speakers[bisect_right(self._starts, offset) - 1]


def _speaker(match: re.Match[str]) -> str | None:
    """The speaker that a marker announces; ``None`` for a line that is no marker."""
    found = match.groupdict()
    if found.get("bracket"):
        return _BRACKETS.get(found["bracket"], "")
    if "line" in found:
        name = found["line"].strip().lower()
        return _NAMES.get(name, "" if name in _HEADINGS else None)
    return _NAMES.get(next(filter(None, found.values())).lower(), "")


_MAX_REPORTED: Final = 50

# Each alternative begins with fixed text or at the start of a line, so that a search takes one pass.
_LOOKS_LIKE = re.compile(
    r"""(?P<key>["'](?:parameters|input_parameters|required_parameters|inputSchema|input_schema)["'][ \t]*:)
      | (?P<element><(?:function|tool|api)[ \t][^<>\n]{0,200}name[ \t]*=[^<>\n]{0,200}>)
      | ^[ \t]*(?P<assignment>input_parameters[ \t]*=(?!=))
      | ^[ \t]*(?P<heading>(?:\#{1,6}[ \t]*)?(?:Function|Tool|API)(?:[ ]name)?[ \t]*:[ \t]*[^\s\d]\S*[ \t]*$)
      | ^[ \t]*(?P<code>(?:export[ \t]+)?(?:type|function|def|async[ ]function)[ \t]+\w+[ \t]*(?:=[ \t]*)?\()
      | ^[ \t]*(?P<class>class[ \t]+\w+\((?:\w+\.)?(?:BaseModel|TypedDict)\)[ \t]*:)
      | ^[ \t]*(?:-[ ]+)?(?P<yaml>(?:paths|parameters|inputSchema|input_schema)[ ]*:[ \t]*\r?$)
      | ^[ \t]*(?P<arguments>(?:(?:Tool[ ])?Arg(?:ument)?s|Parameters|Input|Takes[ ]inputs)[ \t]*:[ \t]*(?=\{|\Z))
      | ^[ \t]*(?:\#{1,6}[ \t]+|[*]{2})(?P<label>(?:Parameters|Arguments|Args|Inputs)[*]{0,2}:?[*]{0,2}[ \t]*$)
      | ^[ \t]*(?P<table>\|[ \t]*[`*]{0,2}(?:Param(?:eter)?|Arg(?:ument)?|参数)(?:s|[ ]name|名称?)?[`*]{0,2}[ \t]*\|)
      | ^[ \t]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?[`*]{0,3}(?P<signature>[A-Za-z_$][\w.$]{0,99}\([\w$]{1,99}\?:[ \t])
      | (?P<schema>parameters[ \t]*:[ \t]*z\.object\()
      | ,[ ](?P<rendered>args:[ ](?=\{|\Z))
      | \b(?P<script>parameters[ \t]*:[ \t]*\{)
      | (?P<named><(?:name|tool_name)>[^<>\n]{1,200}</(?:name|tool_name)>)
    """,
    re.VERBOSE | re.MULTILINE,
)
_IN_STRING = re.compile(
    r"""\\["'](?:parameters|input_parameters|required_parameters|inputSchema|input_schema)\\["'][ \t]*:"""
)
_UNKNOWN: Final = "parameters of a tool in a form that is not known"
_REASONS: Final = {
    "string": "documentation inside a string, which is not searched",
    "key": "an object with parameters that no form reads",
    "element": "an element of a tool without parameters that can be read",
    "assignment": "an assignment of parameters without a literal",
    "heading": "a heading of a tool without documentation that can be read",
    "code": "a function without documentation that can be read",
    "class": "the source text of a class, which is not read; pass the class itself",
    "yaml": "YAML inside other text; it is read in a file of its own or in a fence",
    "script": "an object of a script, with keys without quotes",
    "named": "a named element that no form reads",
}


@dataclass(frozen=True)
class _Block:
    """A range of text with what was found in it: a tool of a text form, or a literal with claimed objects."""

    start: int
    end: int
    finding: TextTool | Piece
    title: str = ""
    claims: tuple[Claim, ...] = ()


class TextReader:
    """Reads one text. ``origin`` is its name in messages; its ending says whether it must be JSON or YAML.

    If two findings overlap, the one that begins first wins: code inside a docstring, or an object inside an example
    of a tool, is not a tool.
    """

    def __init__(self, text: str, origin: str) -> None:
        self._text = text
        self._origin = origin
        self._places = Places(text)
        self._json_only = origin.lower().endswith((".json", ".jsonl"))
        self._yaml_only = origin.lower().endswith((".yaml", ".yml"))

    def read(self) -> tuple[list[ToolSpec], list[Unread]]:
        """The tools in order, and what looked like a tool but was not read.

        DocumentationError as for ``lookup.extract``.
        """
        try:
            blocks, pieces = self._blocks()
        except MisreadError as error:
            self._fail(error)
        speakers = Speakers(self._text, _stretches(blocks))
        outside = any(not speakers.at(block.start) for block in blocks)
        tools: list[ToolSpec] = []
        unread: list[Unread] = []
        for block in blocks:
            speaker = speakers.at(block.start)
            if speaker and outside:
                reason = f"it stands in the {speaker}'s words, and the prompt documents tools outside of them"
                unread.append(self._unread(block.start, block.end, reason))
            else:
                tools += self._read(block, unread)
        tools = _without_calls(tools, unread)
        read = Stretches((t.source.span.start, t.source.span.end) for t in tools if t.source and t.source.span)
        parsed = _stretches([*blocks, *pieces])
        unread += [self._unread(*found) for found in _find_unread(self._text, parsed, read)]
        return tools, unread

    def _blocks(self) -> tuple[list[_Block], list[Piece]]:
        """The blocks to read, and all values of the text, with or without documentation."""
        if self._yaml_only:
            pieces = yaml_documents(self._text)
            return list(_piece_blocks(pieces)), pieces
        blocks: list[_Block] = []
        if not self._json_only:
            written = [_Block(tool.start, tool.end, tool, f.title) for f in TEXT_FORMS for tool in f.find(self._text)]
            blocks = _outermost([*written, *_piece_blocks(list(find_yaml(self._text)))])
        literals = list(find_json(self._text, _stretches(blocks), self._json_only))
        return _outermost([*blocks, *_piece_blocks(literals)]), literals

    def _read(self, block: _Block, unread: list[Unread]) -> Iterator[ToolSpec]:
        finding = block.finding
        if isinstance(finding, TextTool):
            if isinstance(finding.tool, MisreadError):
                self._fail(finding.tool)
            yield replace(finding.tool, source=self._source(block.title, block.start, block.end))
            return
        if finding.error:
            self._fail(finding.error)

        def source(node: Mapping[str, Any], form: str) -> Source:
            return self._source(form, *finding.spans.get(id(node), (block.start, block.end)))

        for claim in block.claims:
            for tool in read_claim(claim, source, unread):
                yield replace(tool, notes=(*tool.notes, *finding.notes))

    def _source(self, form: str, start: int, end: int) -> Source:
        return Source(form, self._origin, self._places.span(start, end))

    def _unread(self, start: int, end: int, reason: str) -> Unread:
        return Unread(self._source("", start, end), reason)

    def _fail(self, error: MisreadError) -> NoReturn:
        line, column = self._places.line_column(error.position)
        raise DocumentationError(f"{self._origin}:{line}:{column}: {error}") from None


def _outermost(blocks: list[_Block]) -> list[_Block]:
    """The blocks in order, without those that begin inside an earlier one."""
    outermost: list[_Block] = []
    for block in sorted(blocks, key=lambda block: block.start):
        if not outermost or block.start >= outermost[-1].end:
            outermost.append(block)
    return outermost


def _piece_blocks(pieces: list[Piece]) -> Iterator[_Block]:
    """The values that contain tools, and malformed ones that look like a tool."""
    beside = any(piece.document and form_of(piece.value, OBJECT_FORMS) for piece in pieces)
    for piece in pieces:
        listed = piece.whole or (piece.document and beside)
        claimed = tuple(claims(piece.value, OBJECT_FORMS, listed))
        if claimed or piece.error:
            yield _Block(piece.start, piece.end, piece, claims=claimed)


def _stretches(found: Iterable[_Block | Piece]) -> Stretches:
    return Stretches((each.start, each.end) for each in found)


def _without_calls(tools: list[ToolSpec], unread: list[Unread]) -> list[ToolSpec]:
    """Move calls to ``unread``.

    ``{"name": "f", "parameters": {}}`` is a call if ``f`` is documented elsewhere; otherwise a tool without parameters.
    """
    documented = {tool.name for tool in tools if tool.parameters or tool.description}
    kept: list[ToolSpec] = []
    for tool in tools:
        if tool.name in documented and not (tool.parameters or tool.description) and tool.source:
            unread.append(Unread(tool.source, f"a call of {quoted(tool.name)}, which is documented elsewhere"))
        else:
            kept.append(tool)
    return kept


def _find_unread(text: str, parsed: Stretches, read: Stretches) -> Iterator[tuple[int, int, str]]:
    """Unread ranges ``(start, end, what it looks like)`` in order, at most 50.

    Parameters
    ----------
    parsed : Stretches
        The literals and tools of the text. They are only searched for documentation inside strings.
    read : Stretches
        The tools only.
    """
    found = []
    for start, end in parsed.gaps(len(text)):
        for match in _LOOKS_LIKE.finditer(text, start, end):
            kind = match.lastgroup or "key"
            found.append((match.start(kind), match.end(kind), _REASONS.get(kind, _UNKNOWN)))
    for start, end in read.gaps(len(text)):
        found += [(m.start(), m.end(), _REASONS["string"]) for m in _IN_STRING.finditer(text, start, end)]
    yield from sorted(found)[:_MAX_REPORTED]
