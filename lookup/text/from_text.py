"""All documentation in one text: what each form finds, whose words a stretch is, and what is passed over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from lookup.dictionary import Source, ToolSpec, Unread
from lookup.errors import DocumentationError
from lookup.forms.form import MisreadError, Piece, TextForm, TextTool, quoted
from lookup.forms.known_forms import OBJECT_FORMS, TEXT_FORMS
from lookup.text import scan
from lookup.text.claimed import UNKNOWN_FORM, read_claim
from lookup.text.places import Places, Stretches
from lookup.text.roles import Roles
from lookup.text.unread import find_unread
from lookup.yaml.reader import read_documents
from lookup.yaml.text import find_yaml


@dataclass(frozen=True)
class _Block:
    """A stretch of text that one finding has: a tool of a text form, or a literal with the objects claimed in it."""

    start: int
    end: int
    finding: TextTool | Piece
    title: str = ""
    claims: tuple[scan.Claim, ...] = ()
    fallback: bool = False


class TextReader:
    """Reads one text; ``origin`` names it in messages, and its ending tells what else than prose it is.

    A stretch of text belongs to the finding that begins first: code inside a docstring, or an object inside an
    example of a tool, is no tool of its own.
    """

    def __init__(self, text: str, origin: str) -> None:
        self._text = text
        self._origin = origin
        self._places = Places(text)
        self._json_only = origin.lower().endswith((".json", ".jsonl"))
        self._yaml_only = origin.lower().endswith((".yaml", ".yml"))

    def read(self) -> tuple[list[ToolSpec], list[Unread]]:
        """The tools in order, and what looked like a tool and was not taken.

        Raises
        ------
        DocumentationError
            As ``lookup.extract``.
        """
        try:
            blocks, pieces = self._blocks()
        except MisreadError as error:
            self._fail(error)
        roles = Roles(self._text, _stretches(blocks))
        outside = any(not roles.at(block.start) for block in blocks)
        heard = [block for block in blocks if not (outside and roles.at(block.start))]
        sure = any(not block.fallback for block in heard)
        tools: list[ToolSpec] = []
        unread: list[Unread] = []
        for block in blocks:
            speaker = roles.at(block.start)
            if block.fallback and sure:
                unread.append(self._unread(block.start, block.end, f"{block.title}, beside tools in another form"))
            elif speaker and outside:
                reason = f"it stands in the {speaker}'s words, and the prompt documents tools outside of them"
                unread.append(self._unread(block.start, block.end, reason))
            else:
                self._read(block, tools, unread)
        self._set_calls_apart(tools, unread)
        read = Stretches((t.source.span.start, t.source.span.end) for t in tools if t.source and t.source.span)
        parsed = Stretches([(b.start, b.end) for b in blocks] + [(p.start, p.end) for p in pieces])
        unread += [self._unread(*found) for found in find_unread(self._text, parsed, read)]
        return tools, unread

    def _blocks(self) -> tuple[list[_Block], list[Piece]]:
        """What is to be read, and every value of the text, also those that document nothing."""
        if self._yaml_only:
            pieces = _yaml_documents(self._text)
            return list(_piece_blocks(pieces)), pieces
        blocks: list[_Block] = []
        if not self._json_only:
            blocks = [
                *self._text_blocks(fallback=False),
                *_piece_blocks(list(find_yaml(self._text))),
            ]
            blocks = _outermost(blocks)
        literals = list(scan.pieces(self._text, _stretches(blocks), self._json_only))
        blocks = _outermost([*blocks, *_piece_blocks(literals)])
        if not self._json_only:
            blocks = _with_fallbacks(blocks, _outermost(list(self._text_blocks(fallback=True))))
        return blocks, literals

    def _text_blocks(self, fallback: bool) -> Iterator[_Block]:
        for form in TEXT_FORMS:
            if form.fallback is fallback:
                for found in _findings(form, self._text):
                    yield _Block(found.start, found.end, found, form.title, fallback=fallback)

    def _read(self, block: _Block, tools: list[ToolSpec], unread: list[Unread]) -> None:
        finding = block.finding
        if isinstance(finding, TextTool):
            if isinstance(finding.tool, MisreadError):
                self._fail(finding.tool)
            tools.append(replace(finding.tool, source=self._source(block.title, block.start, block.end)))
            return
        if finding.error:
            self._fail(finding.error)

        def source(node: Mapping[str, Any], form: str) -> Source:
            return self._source(form, *finding.spans.get(id(node), (block.start, block.end)))

        for claim in block.claims:
            if claim.form is None and not claim.beside:
                unread.append(Unread(source(claim.data, ""), UNKNOWN_FORM))
            else:
                tools += [replace(t, notes=(*t.notes, *finding.notes)) for t in read_claim(claim, source)]

    def _set_calls_apart(self, tools: list[ToolSpec], unread: list[Unread]) -> None:
        """``{"name": "f", "parameters": {}}`` is a tool without keys, or a call of one that is documented elsewhere."""
        documented = {tool.name for tool in tools if tool.parameters or tool.description}
        kept: list[ToolSpec] = []
        for tool in tools:
            if tool.name in documented and not (tool.parameters or tool.description) and tool.source:
                unread.append(Unread(tool.source, f"a call of {quoted(tool.name)}, which is documented elsewhere"))
            else:
                kept.append(tool)
        tools[:] = kept

    def _source(self, form: str, start: int, end: int) -> Source:
        return Source(form, self._origin, self._places.span(start, end))

    def _unread(self, start: int, end: int, reason: str) -> Unread:
        return Unread(self._source("", start, end), reason)

    def _fail(self, error: MisreadError) -> NoReturn:
        line, column = self._places.line_column(error.position)
        raise DocumentationError(f"{self._origin}:{line}:{column}: {error}") from None


def _findings(form: TextForm, text: str) -> Iterator[TextTool]:
    try:
        yield from form.find(text)
    except MisreadError as error:
        yield TextTool(error, error.position, error.position + 1)


def _outermost(blocks: list[_Block]) -> list[_Block]:
    """The blocks in order, without those that begin inside an earlier one."""
    outermost: list[_Block] = []
    for block in sorted(blocks, key=lambda block: block.start):
        if not outermost or block.start >= outermost[-1].end:
            outermost.append(block)
    return outermost


def _with_fallbacks(blocks: list[_Block], fallbacks: list[_Block]) -> list[_Block]:
    """The blocks in order with those fallbacks that do not share a stretch with them."""
    taken = _stretches(blocks)
    free = [b for b in fallbacks if taken.end_at(b.start) is None and not taken.begins_in(b.start, b.end)]
    return sorted([*blocks, *free], key=lambda block: block.start)


def _yaml_documents(text: str) -> list[Piece]:
    documents = read_documents(text)
    return [replace(d, document=True, whole=len(documents) == 1) for d in documents]


def _piece_blocks(pieces: list[Piece]) -> Iterator[_Block]:
    """The literals in which tools are claimed, and those that look like a tool and cannot be read."""
    beside = any(piece.document and scan.is_tool(piece.value, OBJECT_FORMS) for piece in pieces)
    for piece in pieces:
        listed = piece.whole or (piece.document and beside)
        claims = tuple(scan.claims(piece.value, OBJECT_FORMS, listed))
        if claims or piece.error:
            yield _Block(piece.start, piece.end, piece, claims=claims)


def _stretches(blocks: list[_Block]) -> Stretches:
    return Stretches((block.start, block.end) for block in blocks)
