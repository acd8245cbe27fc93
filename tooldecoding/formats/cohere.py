"""The format of Cohere's Command R7B and Command A: a JSON list of counted calls::

    <|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "f", "parameters": {"city": "Paris", "days": 3}}
    ]<|END_ACTION|>

Source: the chat template of Command R7B.
"""

import re
from itertools import pairwise
from typing import Final

from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import call_of, json_rows
from tooldecoding.formats.reading import ReadCall, UnreadableCallError

_ID: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def read_cohere(text: str) -> list[ReadCall]:
    """Read one list of calls. Their ids rise by one from any number, since they count the whole dialogue.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<|START_ACTION|>")
    rows = json_rows(cursor, ("tool_call_id", "tool_name", "parameters"))
    cursor.expect("<|END_ACTION|>")
    cursor.expect_end()
    ids = [row[0] for row in rows]
    if not all(isinstance(i, str) and _ID.fullmatch(i) for i in ids):
        raise UnreadableCallError("expected a number in quotes as tool_call_id")
    if any(int(following) != int(i) + 1 for i, following in pairwise(ids)):
        raise UnreadableCallError("expected every tool_call_id to be one more than the last")
    return [call_of(name, parameters) for _, name, parameters in rows]


_CALL = f'\n    {{"tool_call_id": "{INDEX}", "tool_name": "'

COHERE = CallFormat(
    name="cohere",
    notation="json",
    parallel=True,
    reader=read_cohere,
    opener=f"<|START_ACTION|>[{_CALL}",
    bracket='", "parameters": {',
    end="}}",
    next_call=f",{_CALL}",
    closer="\n]<|END_ACTION|>",
    marks=("<|START_ACTION|>", "<|END_ACTION|>"),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
)
