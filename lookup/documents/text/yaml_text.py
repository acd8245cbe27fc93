"""Find documentation written as YAML: whole files and texts, code fences, and operations under RestGPT's headings::

    == Docs for GET /albums/{id} ==
    description: Get an album.
    parameters:
    - in: path
      name: id
      required: true
      schema:
        type: string

Other YAML inside a text is ordinary text, and is reported if it looks like documentation.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lookup.documents.forms.openapi import METHODS
from lookup.documents.text.yaml_reader import read_yaml
from lookup.errors import MisreadError
from lookup.scanning import bounded, end_of_line, width
from lookup.source import Piece

# A line of a text that documents tools as YAML; what follows in it is in flow style.
_DOCUMENTS = re.compile(
    r"""^[ \t]*(?:-[ ]+)?["']?(?:paths|parameters|arguments|inputSchema|input_schema|input_parameters
        |required_parameters|function|tools|functions)["']?[ ]*:[ \t]*(?:\r?$|[\[{])""",
    re.VERBOSE | re.MULTILINE,
)
# The first line of a text that may be YAML as a whole: a mark, an item or a key without a capital letter.
_FIRST_LINE = re.compile(r"""\s*(?:---|%YAML|(?:-[ ]+)?["']?[a-z]\w*["']?[ ]*:(?=\s))""")
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[ \t]*\r?$", re.MULTILINE)
_LANGUAGES: Final = ("yaml", "yml", "openapi", "swagger")

_HEADING = re.compile(
    rf"^[ \t]*={{2,}}[ ]Docs[ ]for[ ]({'|'.join(sorted(METHODS)).upper()})[ ](/\S*)[ ]+={{2,}}[ \t]*\r?$", re.MULTILINE
)
_KEY = re.compile(r"[ \t]*([a-z][\w-]*):(?=\s|\Z)")
_EMPTY: Final = ("{}", "{{}}")
# An operation that is cut off inside one of these has lost parameters.
_INPUTS: Final = frozenset({"description", "operationId", "parameters", "requestBody"})
_OUTPUTS: Final = frozenset(
    {"responses", "summary", "tags", "security", "deprecated", "servers", "callbacks", "externalDocs", "consumes"}
    | {"produces", "schemes"}
)


def yaml_documents(text: str) -> list[Piece]:
    """The documents of a text that is a YAML stream. MisreadError as for ``read_yaml``."""
    documents = read_yaml(text)
    return [Piece(value, 0, len(text), {}, document=True, whole=len(documents) == 1) for value in documents]


def find_yaml(text: str) -> Iterator[Piece]:
    """The parts of a text that may document tools as YAML, in order; all of it if the text is YAML as a whole.

    An operation under a heading becomes an OpenAPI document with this operation only, without its ``operationId``,
    because the model is asked for the name in the heading.
    """
    if _FIRST_LINE.match(text) and _DOCUMENTS.search(text):
        try:
            yield from yaml_documents(text)
            return
        except MisreadError as error:
            if text.lstrip("\ufeff \t\r\n-").startswith(("openapi:", "swagger:")):
                yield Piece(None, error.position, error.position + 1, {}, error=error)
    yield from _headed_operations(text)
    yield from _fenced(text)


def _fenced(text: str) -> Iterator[Piece]:
    """The fences that hold YAML. Broken YAML is an error if the fence says that it is YAML and it documents tools."""
    for language, start, end in _fences(text):
        named = language in _LANGUAGES
        if not named and (language or not _FIRST_LINE.match(text, start, end)):
            continue
        if not _DOCUMENTS.search(text, start, end):
            continue
        try:
            values = read_yaml(textwrap.dedent(text[start:end].expandtabs(4)), start)
        except MisreadError as error:
            if named:
                yield Piece(None, start, end, {}, error=error)
            continue
        yield from (Piece(value, start, end, {}, whole=len(values) == 1) for value in values)


def _fences(text: str) -> Iterator[tuple[str, int, int]]:
    """The language of each code fence, and where its content starts and ends. One with a language opens a new fence."""
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        deeper = opening and width(fence["indent"]) > width(opening["indent"]) + 3
        if deeper and not fence["language"]:
            continue  # a line of what is inside, as in Markdown
        if opening and not fence["language"] and fence["marks"] == opening["marks"]:
            yield opening["language"].lower(), opening.end(), fence.start()
            opening = None
        elif not opening or fence["language"]:
            opening = fence


def _headed_operations(text: str) -> Iterator[Piece]:
    if "Docs for" not in text:
        return
    for heading, limit in bounded(_HEADING, text):
        path = heading[2].replace("{{", "{").replace("}}", "}")
        end, last = _operation_end(text, heading.end() + 1, limit)
        content = text[heading.end() + 1 : end]
        if path != heading[2] or content.strip() == "{{}}":  # a prompt template doubles literal braces
            content = content.replace("{{", "{").replace("}}", "}")
        if not content.strip():
            continue
        try:
            operation, notes = _read_operation(content, heading.end() + 1, last)
        except MisreadError as error:
            yield Piece(None, heading.start(), end, {}, error=error)
            continue
        named = {key: value for key, value in operation.items() if key != "operationId"}
        document = {"paths": {path: {heading[1].lower(): named}}}
        yield Piece(document, heading.start(), end, {}, notes=notes)


def _operation_end(text: str, position: int, limit: int) -> tuple[int, int]:
    """Where the operation that begins at ``position`` ends, and where its last key begins.

    It has its keys at the same indentation, and deeper lines or items below them. Behind an empty line, other keys than
    those of an operation are prose.
    """
    start = end = last = position
    margin, gap = -1, False
    while position < limit:
        line_end = end_of_line(text, position)
        line = text[position:line_end].rstrip()
        if not line:
            gap = True
        elif margin < 0 and line.strip() in _EMPTY:
            return line_end, last
        else:
            indent, key = len(line) - len(line.lstrip()), _KEY.match(line)
            if key and gap and key[1] not in _INPUTS | _OUTPUTS:
                key = None
            margin = indent if margin < 0 and key else margin
            if margin < 0 or indent < margin or (indent == margin and not key and line[indent] not in "-'}])"):
                break
            last = position if key and indent == margin else last
            end, gap = line_end, False
        position = line_end + 1
    return (min(end, limit), last) if margin >= 0 else (start, start)


def _read_operation(content: str, offset: int, last: int) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The operation that is written at an offset, and notes. If it breaks off in its last key, that is left out.

    MisreadError if it is not YAML, or breaks off inside a key that may contain parameters.
    """
    try:
        return _mapping(content, offset), ()
    except MisreadError:
        key = _KEY.match(content, last - offset)
        if not key or key[1] in _INPUTS:
            raise
    note = f"the documentation breaks off in {key[1]!r}, which is not taken over"
    return _mapping(content[: last - offset], offset), (note,)


def _mapping(content: str, offset: int) -> Mapping[str, Any]:
    """The one mapping that a text is. MisreadError as for ``read_yaml``, or if it is anything else."""
    values = read_yaml(textwrap.dedent(content.expandtabs(4)), offset)
    if len(values) != 1 or not isinstance(values[0], Mapping):
        raise MisreadError("expected the keys of an operation", offset)
    return values[0]
