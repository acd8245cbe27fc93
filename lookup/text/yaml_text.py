"""Find documentation written as YAML in any text.

There are three kinds of blocks: OpenAPI documents (with the key ``openapi: 3.0.0`` or ``paths:``); lists of tools
(``- name: ...`` with ``parameters``, ``inputSchema``, ...) and single tools in the same layout; and operations under a
heading, as in the prompts of LangChain and RestGPT::

    == Docs for GET /albums/{id} ==
    description: Get an album.
    parameters:
    - in: path
      name: id
      required: true
      schema:
        type: string

Indentation and keys determine the end of a block. A block of one of these kinds that is not valid YAML has an error;
anything else is ordinary text.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from lookup.errors import MisreadError
from lookup.forms.openapi import METHODS
from lookup.text.piece import Piece
from lookup.text.places import Stretches
from lookup.yaml.blocks import Block, Keys, line_at, list_at, mapping_at, start_above
from lookup.yaml.reader import read_documents, read_yaml


class _KnownKeys(Container[str]):
    """Some keys and all extensions ``x-...``."""

    def __init__(self, keys: str) -> None:
        self._keys = frozenset(keys.split())

    def __contains__(self, key: object) -> bool:
        return key in self._keys or (isinstance(key, str) and key.startswith("x-"))


_DOCUMENT_KEYS: Final = _KnownKeys(
    "openapi swagger info paths components servers tags security externalDocs webhooks jsonSchemaDialect "
    "host basePath schemes consumes produces definitions parameters responses securityDefinitions"
)
_OPERATION_KEYS: Final = _KnownKeys(
    "description operationId parameters requestBody responses summary tags security deprecated servers callbacks "
    "externalDocs consumes produces schemes"
)
# An operation that is cut off inside one of these has lost parameters.
_OPERATION_INPUTS: Final = frozenset({"description", "operationId", "parameters", "requestBody"})

_NAMES: Final = ("name", "api_name")
_PARAMETERS: Final = (
    "parameters",
    "arguments",
    "args",
    "inputs",
    "input",
    "params",
    "inputSchema",
    "input_schema",
    "input_parameters",
    "required_parameters",
    "optional_parameters",
)
_TOOL_KEYS: Final = _KnownKeys(
    f"{' '.join((*_NAMES, *_PARAMETERS))} function type description api_description title strict required optional "
    "returns return response responses results output outputs outputSchema output_schema output_parameters example "
    "examples annotations category category_name tool_name tool_description method url path endpoint field tags "
    "version id api_call"
)

_DOCUMENT = re.compile(
    r"""^[ \t]*(?:
        ["']?(?:openapi|swagger)["']?[ ]*:[ ]+["']?\d[\w.-]*["']?[ \t]*(?:\#[^\n]*)?\r?$
      | ["']?paths["']?[ ]*:[ \t]*\r?\n[ \t]+["']?/
    )""",
    re.VERBOSE | re.MULTILINE,
)
_HEADING = re.compile(
    rf"^[ \t]*={{2,}}[ ]Docs[ ]for[ ]({'|'.join(sorted(METHODS)).upper()})[ ](/\S*)[ ]+={{2,}}[ \t]*\r?$", re.MULTILINE
)
_EMPTY = re.compile(r"\s*(?:\{\}|\{\{\}\})[ \t]*\r?(?=\n|\Z)")
_TOOL = re.compile(
    r"""^(?:
        (?P<list>(?:[^\n:]{0,100}[ \t])?(?i:tools|functions|apis)[ \t]*:[ \t]*\r?\n)(?=[ \t]*-[ ]+[\w-]+[ ]*:)
      | [ \t]*(?P<item>-[ ]+)?(?P<key>[A-Za-z]\w*)[ ]*:(?=\s|\Z)
    )""",
    re.VERBOSE | re.MULTILINE,
)
# The beginning of a value that documents parameters: a bracket, null, a list item or a key.
_SCHEMA = re.compile(r"""[{\[*]|(?:null|~)$|-(?:[ ]|$)|(?:"[^"]*"|'[^']*'|[^\s:"']+)[ ]*:(?:[ \t]|$)""")
_TABS = re.compile(r"^\t+", re.MULTILINE)

# RestGPT cuts texts longer than 1,500 tokens. Shorter texts than this are never cut.
_CUT_LENGTH: Final = 3000
_TYPE_KEYS: Final = frozenset({"schema", "content", "type", "$ref"})


def find_yaml(text: str) -> Iterator[Piece]:
    """The blocks of a text that document tools as YAML, in order.

    The value is the OpenAPI document, or the list of tools, or ``{"tools": list}`` below a line such as ``tools:``. An
    operation under a heading becomes an OpenAPI document with this operation only, without its ``operationId``,
    because the model is asked for the name in the heading.
    """
    end = 0
    headed = [*_headed_operations(text), *_documents(text)]
    taken = Stretches((piece.start, piece.end) for piece in headed)
    for piece in sorted([*headed, *_tools(text, taken)], key=lambda piece: piece.start):
        if piece.start >= end:
            yield piece
            end = piece.end


def yaml_documents(text: str) -> list[Piece]:
    """The documents of a text that is a YAML stream.

    Raises
    ------
    MisreadError
        As for ``read_documents``.
    """
    documents = read_documents(text)
    return [Piece(*found, document=True, whole=len(documents) == 1) for found in documents]


def _documents(text: str) -> Iterator[Piece]:
    if "paths" not in text:
        return
    position = 0
    while match := _DOCUMENT.search(text, position):
        start = start_above(text, match.start(), position, _DOCUMENT_KEYS)
        block = mapping_at(text, start, _DOCUMENT_KEYS)
        if block.end < match.start():
            block = mapping_at(text, match.start(), _DOCUMENT_KEYS)
        position = max(block.end, match.end())
        if any("paths" in keys.values for keys in block.mappings):
            yield _parsed(text, block)


def _tools(text: str, taken: Stretches) -> Iterator[Piece]:
    if not any(f"{key}:" in text for key in (*_NAMES, "function")):
        return
    position = 0
    while match := _TOOL.search(text, position):
        start = match.start()
        if covered := taken.end_at(start):
            position = covered
            continue
        listed = match["list"] is not None
        if not listed and match["key"] not in _TOOL_KEYS:
            position = match.end()
            continue
        if listed or match["item"]:
            block = list_at(text, match.end() if listed else start, _TOOL_KEYS)
        else:
            block = mapping_at(text, start, _TOOL_KEYS)
        position = max(block.end, match.end())
        if any(_is_tool(keys, listed) for keys in block.mappings):
            piece = _parsed(text, block)
            yield replace(piece, value={"tools": piece.value}) if listed and not piece.error else piece


def _is_tool(keys: Keys, listed: bool) -> bool:
    """Whether a mapping documents a tool: it has a name and parameters, or a name and description in a list of tools.

    A name that ends with a comma, a semicolon or a bracket is code or JSON.
    """
    values = keys.values
    if _SCHEMA.match(values.get("function", "")) and not any(v.endswith((",", ";")) for v in values.values()):
        return True
    if not any(values.get(key) and values[key][-1] not in ",;{[(" for key in _NAMES):
        return False
    given = [values[key] for key in _PARAMETERS if key in values]
    return any(map(_SCHEMA.match, given)) or (listed and not given and "description" in values)


def _headed_operations(text: str) -> Iterator[Piece]:
    if "Docs for" not in text:
        return
    end = 0
    for match in _HEADING.finditer(text):
        if match.start() < end:
            continue
        path = match[2].replace("{{", "{").replace("}}", "}")
        if empty := _EMPTY.match(text, match.end()):
            yield _operation(match, path, empty.end(), {})
            continue
        block = mapping_at(text, match.end() + 1, _OPERATION_KEYS)
        if not block.mappings:
            continue
        end = block.end
        # A prompt template doubles literal braces.
        doubled = path != match[2]
        try:
            yield _operation(match, path, block.end, *_read_operation(text, block, doubled))
        except MisreadError as error:
            yield Piece(None, match.start(), block.end, {}, error=error)


def _operation(
    match: re.Match[str], path: str, end: int, operation: Mapping[str, Any], notes: tuple[str, ...] = ()
) -> Piece:
    operation = {key: value for key, value in operation.items() if key != "operationId"}
    spans = {id(operation): (match.start(), end)}
    return Piece({"paths": {path: {match[1].lower(): operation}}}, match.start(), end, spans, notes=notes)


def _read_operation(text: str, block: Block, doubled: bool) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The operation and notes. If the text is cut off inside the last key, that key is left out with a note.

    Raises
    ------
    MisreadError
        If it is not YAML, or is cut off inside a key that may contain parameters.
    """
    keys = block.mappings[0]
    try:
        operation, _ = _read(text, block.start, block.end, doubled)
    except MisreadError:
        if keys.last in _OPERATION_INPUTS:
            raise
        operation, _ = _read(text, block.start, keys.starts[keys.last], doubled)
        return operation, (f"the documentation breaks off in {keys.last!r}, which is not taken over",)
    if keys.last == "parameters" and block.end - block.start > _CUT_LENGTH and _lacks_type(operation["parameters"]):
        raise MisreadError("expected a parameter with a type, found that the documentation breaks off", block.end)
    return operation, ()


def _lacks_type(parameters: object) -> bool:
    """Whether all parameters but the last one have a type."""
    if not isinstance(parameters, list) or not all(isinstance(parameter, dict) for parameter in parameters):
        return False
    typed = [not _TYPE_KEYS.isdisjoint(parameter) for parameter in parameters]
    return len(typed) > 1 and all(typed[:-1]) and not typed[-1]


def _parsed(text: str, block: Block) -> Piece:
    start = line_at(text, block.start, block.end).content
    try:
        value, spans = _read(text, block.start, block.end)
    except MisreadError as error:
        return Piece(None, start, block.end, {}, error=error)
    return Piece(value, start, block.end, spans)


def _read(text: str, start: int, end: int, doubled: bool = False) -> tuple[Any, Mapping[int, tuple[int, int]]]:
    content = text[start:end]
    if "\t" in content:  # YAML forbids tabs as indentation, but a block inside a text may be indented with them
        content = _TABS.sub(lambda match: " " * len(match[0]), content)
    if doubled:  # offsets after a brace become slightly too small
        content = content.replace("{{", "{").replace("}}", "}")
    return read_yaml(content, start)
