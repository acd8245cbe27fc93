"""An answer that is one JSON object by a schema: decoded as a call without a name, in several orders, and voted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.dictionary import LookupDictionary
from tooldecoding.chat.tools import read_tools
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_arguments
from tooldecoding.formats.reading import ReadCall
from tooldecoding.options import DecodeOptions

NAME: Final = ""
"""The name of the call, which is not written."""


def read_json_answer(text: str) -> list[ReadCall]:
    """Read one JSON object; UnreadableCallError for anything else."""
    cursor = Cursor(text)
    arguments = json_arguments(cursor)
    cursor.expect_end()
    return [(NAME, arguments)]


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


@dataclass(frozen=True)
class JsonAnswerOptions(DecodeOptions):
    """Options of an answer in JSON."""

    @property
    def call_format(self) -> CallFormat:
        """The format of the answer."""
        return JSON_ANSWER


def answer_schema(response_format: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the schema that ``response_format`` names; None for an answer in words.

    Raises
    ------
    PromptError
        If it is neither ``text`` nor a ``json_schema`` of an object with keys.
    """
    if response_format is None or response_format == {"type": "text"}:
        return None
    inner = response_format.get("json_schema")
    if response_format.get("type") != "json_schema" or not isinstance(inner, Mapping):
        raise PromptError(
            'expected {"type": "text"} or {"type": "json_schema", "json_schema": {"name": …, "schema": …}}, found type '
            f"{response_format.get('type')!r:.40}"
        )
    if not isinstance(inner.get("strict"), bool | None):
        raise PromptError(f"json_schema: expected 'strict' to be true or false, found {inner['strict']!r:.40}")
    unknown = sorted(set(inner) - {"name", "description", "schema", "strict"})
    schema = inner.get("schema")
    if unknown or not isinstance(schema, Mapping):
        raise PromptError(f"json_schema: {f'unknown key {unknown[0]!r:.40}' if unknown else 'schema is missing'}")
    if schema.get("type") != "object" or not schema.get("properties"):
        raise PromptError("json_schema: expected the schema of an object with properties")
    return schema


def is_strict(response_format: Mapping[str, Any] | None) -> bool:
    """Return whether a ``response_format`` with a schema asks for all of it to be enforced."""
    return bool(response_format and response_format["json_schema"].get("strict"))


def answer_lookup(schema: Mapping[str, Any]) -> LookupDictionary:
    """Return the keys of an answer as a tool without a name; DocumentationError if the schema cannot be read."""
    [tool] = read_tools([{"type": "function", "function": {"name": "answer", "parameters": schema}}]).lookup.tools
    return LookupDictionary((replace(tool, name=NAME),))
