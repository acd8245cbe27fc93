"""The format of Kimi K2: one section of calls with counted ids.

``<|tool_calls_section_begin|>``, then for each call
``<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"city": "Paris", "days": 3}<|tool_call_end|>``, then
``<|tool_calls_section_end|>``, with nothing between

Source: the chat template of Kimi-K2-Thinking, Moonshot's guide to tool calls.
"""

import re
from typing import Final

from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_arguments
from tooldecoding.formats.reading import ReadCall

_INDEX: Final = re.compile(r":(0|[1-9][0-9]{0,8})<\|tool_call_argument_begin\|>")


def read_kimi_k2(text: str) -> list[ReadCall]:
    """Read one section of calls. The index of the first call is any number, since ids may count the whole dialogue.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<|tool_calls_section_begin|>")
    calls, last = list[ReadCall](), -1
    while not calls or not cursor.take("<|tool_calls_section_end|>"):
        cursor.expect("<|tool_call_begin|>functions.")
        name = cursor.tool_name()
        index = int(cursor.match(_INDEX, "an index and the arguments")[1])
        if calls and index != last + 1:
            raise cursor.error(f"expected the index {last + 1}, found {index}")
        last = index
        calls.append((name, json_arguments(cursor)))
        cursor.expect("<|tool_call_end|>")
    cursor.expect_end()
    return calls


KIMI_K2 = CallFormat(
    name="kimi-k2",
    notation="json",
    parallel=True,
    reader=read_kimi_k2,
    opener="<|tool_calls_section_begin|><|tool_call_begin|>functions.",
    bracket=f":{INDEX}<|tool_call_argument_begin|>{{",
    end="}<|tool_call_end|>",
    next_call="<|tool_call_begin|>functions.",
    closer="<|tool_calls_section_end|>",
    marks=(
        "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>", "<|tool_call_end|>",
    ),
    turn_ends=("<|im_end|>",),
)  # fmt: skip
