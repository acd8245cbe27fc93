"""The two formats of Mistral.

A list, in versions 2, 3 and 7 of the tokenizer; version 2 has no ids, and a space stands in front of the list with
SentencePiece: ``[TOOL_CALLS] [{"name": "f", "arguments": {"city": "Paris"}, "id": "call00000"}]``

Name and arguments, from version 11 on, which alone has ids: ``[TOOL_CALLS]f[CALL_ID]call00000[ARGS]{"city": "Paris"}``
and ``[TOOL_CALLS]f[ARGS]{"city": "Paris"}``, repeated for further calls

Source: mistral-common, its chat templates and grammars.
"""

import re
from typing import Any, Final

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import NAME_AND_ARGUMENTS, call_of, json_arguments, json_rows
from tooldecoding.formats.reading import ReadCall, UnreadableCallError

_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")


def read_mistral_list(text: str) -> list[ReadCall]:
    """Read ``[TOOL_CALLS]`` and a JSON list, in which all calls have an id or none has.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("[TOOL_CALLS]")
    cursor.take(" ")
    rows = json_rows(cursor, NAME_AND_ARGUMENTS, (*NAME_AND_ARGUMENTS, "id"))
    cursor.expect_end()
    _demand_ids([row[2] for row in rows if len(row) > 2])
    return [call_of(*row[:2]) for row in rows]


def read_mistral_args(text: str) -> list[ReadCall]:
    """Read ``[TOOL_CALLS]name[ARGS]{…}`` once or more, with ``[CALL_ID]id`` behind all names or none.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    calls, ids = list[ReadCall](), list[str]()
    while not calls or cursor.position < len(text):
        cursor.expect("[TOOL_CALLS]")
        name = cursor.tool_name()
        if cursor.take("[CALL_ID]"):
            ids.append(cursor.until("[ARGS]"))
        else:
            cursor.expect("[ARGS]")
        calls.append((name, json_arguments(cursor)))
    if ids and len(ids) != len(calls):
        raise UnreadableCallError("expected an id in all calls or in none")
    _demand_ids(ids)
    return calls


def _demand_ids(ids: list[Any]) -> None:
    if not all(isinstance(i, str) and _ID.fullmatch(i) for i in ids):
        raise UnreadableCallError("expected nine letters and digits as the id of a call")
    if len(set(ids)) != len(ids):
        raise UnreadableCallError("two calls have the same id")


MISTRAL_LIST = CallFormat(
    name="mistral-list",
    notation="json",
    parallel=True,
    reader=read_mistral_list,
    opener='[TOOL_CALLS] [{"name": "',
    bracket='", "arguments": {',
    end="}}",
    next_call=', {"name": "',
    closer="]",
    marks=("[TOOL_CALLS]",),
    turn_ends=("</s>",),
)

MISTRAL_ARGS = CallFormat(
    name="mistral-args",
    notation="json",
    parallel=True,
    reader=read_mistral_args,
    opener="[TOOL_CALLS]",
    bracket="[ARGS]{",
    end="}",
    next_call="[TOOL_CALLS]",
    closer="",
    marks=("[TOOL_CALLS]", "[ARGS]"),
    turn_ends=("</s>",),
)
