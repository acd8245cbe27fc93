"""An answer that is one JSON object: decoded as a call without a name.

By a schema, its keys are those of the call, in several orders, and voted. Any object is the only value of the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.dictionary import LookupDictionary
from lookup.documents.forms.json_tools import read_schema_tool
from lookup.schema.document import Document
from lookup.schema.normal import Objects
from lookup.schema.value_schema import value_schema
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor, ReadCall
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult

NAME: Final = ""
"""The name of the call, which is not written."""

ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
"""The schema of an answer that may be any object."""

_NO_OBJECT: Final = "json_schema: expected the schema of an object with properties"

_NOTHING: Final = "{}"

_OBJECT: Final = "object"
"""The key of such an answer, which is not written either."""


def read_json_answer(text: str) -> list[ReadCall]:
    """Read one JSON object; UnreadableCallError for anything else."""
    cursor = Cursor(text)
    arguments = cursor.pairs()
    cursor.expect_end()
    return [(NAME, arguments)]


def read_json_object(text: str) -> list[ReadCall]:
    """As ``read_json_answer``, with the object as the only value of the call."""
    [(name, arguments)] = read_json_answer(text)
    return [(name, [(_OBJECT, dict(arguments))])]


class _OneValue(CallFormat):
    """A call that is nothing but the value of its only key."""

    def key(self, name: str) -> str:
        """Return the text before the value: none."""
        return ""


JSON_ANSWER: Final = CallFormat(
    name="json-answer",
    notation="json",
    parallel=False,
    reader=read_json_answer,
    opener="",
    closer="",
    bracket="{",
    end="}",
    opens_by_mark=False,
)

JSON_OBJECT: Final = _OneValue(
    **vars(JSON_ANSWER) | {"name": "json-object", "reader": read_json_object, "bracket": "", "end": "", "separator": ""}
)


@dataclass(frozen=True)
class AnswerOptions(DecodeOptions):
    """Options of an answer in JSON, which no other option can name."""

    call_format: CallFormat = JSON_ANSWER


def is_json_answer(call_format: CallFormat) -> bool:
    """Whether a call in this format is an answer."""
    return call_format.name in (JSON_ANSWER.name, JSON_OBJECT.name)


def answer_options(options: DecodeOptions, schema: Mapping[str, Any]) -> DecodeOptions:
    """Return the options of an answer by a schema; any object is one value. No question can stand in its place."""
    answer = AnswerOptions(**vars(options) | {"tool_choice": NAME, "ask": "never"})
    return replace(answer, call_format=JSON_OBJECT) if schema == ANY_OBJECT else answer


def answer_text(result: DecodeResult) -> str:
    """Return the JSON that a result holds: what is whole of it, if it is cut."""
    texts = (result.call_format.render_call(c.name, c.arguments) or _NOTHING for c in result.calls)
    return "".join(texts)


def answer_schema(response_format: Mapping[str, Any] | None) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the schema that ``response_format`` names, and whether all of it must be enforced.

    There is none for an answer in words.

    Raises
    ------
    PromptError
        If it is none of ``text``, ``json_object`` and a ``json_schema``.
    """
    if response_format is None or response_format == {"type": "text"}:
        return None, False
    if response_format == {"type": "json_object"}:
        return ANY_OBJECT, False
    inner = response_format.get("json_schema")
    if response_format.get("type") != "json_schema" or not isinstance(inner, Mapping):
        raise PromptError(
            'expected {"type": "text"}, {"type": "json_object"} or {"type": "json_schema", "json_schema": '
            f'{{"name": …, "schema": …}}}}, found type {response_format.get("type")!r:.40}'
        )
    schema, strict = inner.get("schema"), inner.get("strict")
    if unknown := sorted(set(inner) - {"name", "description", "schema", "strict"}):
        raise PromptError(f"json_schema: unknown key {unknown[0]!r:.40}")
    if not isinstance(strict, bool | None):
        raise PromptError(f"json_schema: expected 'strict' to be true or false, found {strict!r:.40}")
    if not isinstance(schema, Mapping):
        raise PromptError(_NO_OBJECT)
    return schema, bool(strict)


def answer_lookup(schema: Mapping[str, Any]) -> LookupDictionary:
    """Return the keys of an answer as a tool without a name.

    Raises
    ------
    PromptError
        If it is not the schema of an object with keys. One that no value can obey is refused as that of a tool is.
    DocumentationError
        If it cannot be read.
    """
    if schema == ANY_OBJECT:
        schema = {"type": "object", "properties": {_OBJECT: ANY_OBJECT}, "required": [_OBJECT]}
    tool = read_schema_tool({"name": "answer", "parameters": schema})
    branches = value_schema(schema, Document(schema, documentation=True)).lazy_schema.inhabited
    if not tool.parameters or (branches and not any(isinstance(branch, Objects) for branch in branches)):
        raise PromptError(_NO_OBJECT)
    return LookupDictionary((replace(tool, name=NAME),))
