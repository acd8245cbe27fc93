"""Formats whose calls stand in one JSON list.

json-list, of xLAM-2: ``[{"name": "f", "arguments": {"city": "Paris", "days": 3}}]``

granite3, of Granite 3.0 and of 3.1 and later: ``<|tool_call|>[{"name": …}]`` and ``<tool_call>[{"name": …}]``

phi4-mini, of Phi-4-mini and of vLLM's template for it: ``<|tool_call|>[{"name": …}]<|/tool_call|>`` and
``functools[{"name": …}]``

Source: the model handlers of the Berkeley Function-Calling Leaderboard; vLLM's parsers ``xlam``, ``granite`` and
``phi4mini``.
"""

from dataclasses import replace

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_calls
from tooldecoding.formats.reading import ReadCall


def read_json_list(text: str) -> list[ReadCall]:
    """Read a JSON list of calls and nothing around it.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    return _between("", Cursor(text), "")


def read_granite3(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` or ``<|tool_call|>`` and a JSON list of calls; UnreadableCallError as for the bare list."""
    cursor = Cursor(text)
    return _between("" if cursor.take("<tool_call>") else "<|tool_call|>", cursor, "")


def read_phi4_mini(text: str) -> list[ReadCall]:
    """Read a JSON list of calls in ``<|tool_call|>`` tags or behind ``functools``; else UnreadableCallError."""
    cursor = Cursor(text)
    if cursor.take("functools"):
        return _between("", cursor, "")
    return _between("<|tool_call|>", cursor, "<|/tool_call|>")


def _between(opener: str, cursor: Cursor, closer: str) -> list[ReadCall]:
    cursor.expect(opener)
    calls = json_calls(cursor)
    cursor.expect(closer)
    cursor.expect_end()
    return calls


JSON_LIST = CallFormat(
    name="json-list",
    notation="json",
    parallel=True,
    reader=read_json_list,
    opener='[{"name": "',
    bracket='", "arguments": {',
    end="}}",
    next_call=', {"name": "',
    closer="]",
    turn_ends=("<|eot_id|>", "<|im_end|>"),
)

GRANITE3 = replace(
    JSON_LIST,
    name="granite3",
    reader=read_granite3,
    opener='<tool_call>[{"name": "',
    marks=("<tool_call>",),
    turn_ends=("<|end_of_text|>",),
)

PHI4_MINI = replace(
    JSON_LIST,
    name="phi4-mini",
    reader=read_phi4_mini,
    opener='<|tool_call|>[{"name": "',
    closer="]<|/tool_call|>",
    marks=("<|tool_call|>", "<|/tool_call|>"),
    turn_ends=(),  # <|end|> ends no turn of gpt-oss; Phi's own configuration names it
)
