"""Declarations of tools as the chat templates of Gemma 4 and FunctionGemma print them.

``<|tool>declaration:f{description:<|"|>D<|"|>,parameters:{properties:{city:{type:<|"|>STRING<|"|>}},required:[…],…}}<tool|>``;
FunctionGemma writes ``<escape>`` for the marks around texts, and its own marks around a declaration. Keys have no
quotes, texts no escapes, types are in upper case.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.forms.json_tools import read_schema_tool
from lookup.errors import DocumentationError, LiteralError, MisreadError, found_at
from lookup.literals.literal_reader import parse_literal, read_literal
from lookup.literals.syntaxes import DECLARATION
from lookup.scanning import bounded, skip

_START = re.compile(
    r"""(?:<\|tool>|<start_function_declaration>)\s*declaration:(?P<name>[^{}<>\n]{1,200}?)\s*\{|
        (?<![\w:])declaration:(?P<other>[\w.-]{1,200})\{(?=description:(?:<escape>|<\|"\|>))""",
    re.VERBOSE,
)
_END = re.compile(r"\s*(?:<tool\|>|<end_function_declaration>)?")
_MAPS_OF_NAMES: Final = ("properties", "$defs", "definitions", "patternProperties")
_VALUES: Final = ("enum", "default", "const", "required")
_WORDS_OF_SCHEMAS: Final = frozenset(
    {"additionalProperties", "anyOf", "oneOf", "allOf", "default", "enum", "examples", "title", "items", "$ref"}
    | {"minProperties", "maxProperties", "patternProperties", "propertyNames"}
)


def find(text: str) -> Iterator[TextTool]:
    """The declarations of a text."""
    if "declaration:" not in text:
        return
    for match, limit in bounded(_START, text):
        name, start = match["name"] or match["other"], match.end() - 1
        tool: ToolSpec | MisreadError
        end = match.end()
        try:
            declared, length = read_literal(text[start:limit], 0, DECLARATION)
            end = start + length
            description, schema = declared.get("description", ""), _plain(declared.get("parameters") or {})
            tool = read_schema_tool({"name": name, "description": description, "parameters": schema})
        except LiteralError as error:
            end = start + error.position
            tool = MisreadError(f"tool {name!r}: expected {error.expected}, found {found_at(text, end)}", end)
        except DocumentationError as error:
            tool = MisreadError(str(error), match.start())
        yield TextTool(tool, match.start(), skip(_END, text, end))


def _plain(schema: Any, names: bool = False) -> Any:
    """The schema with types in lower case; ``names`` says that its keys are the names of keys of a tool."""
    if isinstance(schema, list):
        return [_plain(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if names:
            plain[key] = _plain(value)
        elif key == "type":
            plain[key] = _type(value)
        else:
            plain[key] = value if key in _VALUES else _plain(value, names=key in _MAPS_OF_NAMES)
    keys = plain.get("properties")
    if not names and isinstance(keys, dict) and keys and _WORDS_OF_SCHEMAS.issuperset(keys):
        # Of an object without keys, the templates print the other words of its schema as if they were keys.
        del plain["properties"]
        extra = keys.get("additionalProperties")
        if isinstance(extra, dict) and extra.get("type"):
            plain["additionalProperties"] = extra
    return plain


def _type(written: Any) -> Any:
    """A type, or a list of types, which some templates print as Python does."""
    if isinstance(written, str) and written.startswith("["):
        try:
            written = parse_literal(written)
        except LiteralError:
            return written
    if isinstance(written, list):
        return [_type(member) for member in written]
    return written.lower() if isinstance(written, str) else _plain(written)


FORM: Final = TextForm("declarations declaration:name{description, parameters} (Gemma 4, FunctionGemma)", find)
