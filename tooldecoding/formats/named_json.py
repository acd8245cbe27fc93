"""Formats of a name among marks, and its arguments as a JSON object.

deepseek-v3, of DeepSeek V3 and R1-0528, further calls behind a newline::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
    ```json
    {"city": "Paris", "days": 3}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

deepseek-v3.1, of V3.1 and V3.2-Exp, further calls directly behind::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

kimi-k2: ``<|tool_calls_section_begin|>``, then for each call
``<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>`` with its number, then
``<|tool_calls_section_end|>``, with nothing between

mistral-args, of Mistral's tokenizers from version 11 on, which alone has ids: ``[TOOL_CALLS]f[ARGS]{"city": "Paris"}``
or ``[TOOL_CALLS]f[CALL_ID]call00000[ARGS]{"city": "Paris"}``, repeated for further calls

harmony, of gpt-oss: one call a turn, in the commentary channel, also without the space before ``<|constrain|>``:
``<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"city": "Paris", "days": 3}<|call|>``; in the
history of a dialogue the receiver comes first:
`` to=functions.f<|channel|>commentary json<|message|>{"city": "Paris", "days": 3}<|call|>``

Source: the chat templates of V3, V3.1, Kimi-K2-Thinking and gpt-oss, Moonshot's guide to tool calls, mistral-common
with its templates and grammars, ``docs/format.md`` of openai/harmony.
"""

import re
from typing import Final

from tooldecoding.formats.blocks import BlockReader
from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.json_calls import demand_ids, json_arguments
from tooldecoding.formats.reading import Cursor, ReadCall, UnreadableCallError

_DEEPSEEK_MARKS: Final = (
    "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>",
)  # fmt: skip
_DEEPSEEK_BEGIN: Final = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>"

DEEPSEEK_V3 = CallFormat(
    name="deepseek-v3",
    notation="json",
    parallel=True,
    reader=BlockReader(
        opener="<｜tool▁calls▁begin｜>",
        head="<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        bracket="\n```json\n",
        arguments=json_arguments,
        tail="\n```<｜tool▁call▁end｜>",
        gap="\n",
        closer="<｜tool▁calls▁end｜>",
    ),
    opener=f"{_DEEPSEEK_BEGIN}function<｜tool▁sep｜>",
    bracket="\n```json\n{",
    end="}\n```<｜tool▁call▁end｜>",
    next_call="\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
    closer="<｜tool▁calls▁end｜>",
    marks=_DEEPSEEK_MARKS,
    turn_ends=("<｜end▁of▁sentence｜>",),
)

DEEPSEEK_V31 = CallFormat(
    name="deepseek-v3.1",
    notation="json",
    parallel=True,
    reader=BlockReader(
        opener="<｜tool▁calls▁begin｜>",
        head="<｜tool▁call▁begin｜>",
        bracket="<｜tool▁sep｜>",
        arguments=json_arguments,
        tail="<｜tool▁call▁end｜>",
        closer="<｜tool▁calls▁end｜>",
    ),
    opener=_DEEPSEEK_BEGIN,
    bracket="<｜tool▁sep｜>{",
    end="}<｜tool▁call▁end｜>",
    next_call="<｜tool▁call▁begin｜>",
    closer="<｜tool▁calls▁end｜>",
    marks=_DEEPSEEK_MARKS,
    turn_ends=("<｜end▁of▁sentence｜>",),
)

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


def read_mistral_args(text: str) -> list[ReadCall]:
    """Read ``[TOOL_CALLS]name[ARGS]{…}`` once or more, with ``[CALL_ID]id`` behind all names or none.

    UnreadableCallError as ``read_kimi_k2``.
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
    demand_ids(ids)
    return calls


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


def read_harmony(text: str) -> list[ReadCall]:
    """Read one call, with or without the ``<|call|>`` that ends the turn; UnreadableCallError as ``read_kimi_k2``."""
    cursor = Cursor(text)
    if cursor.take("<|channel|>commentary to=functions."):
        name = cursor.tool_name()
        cursor.take(" ")
        cursor.expect("<|constrain|>json")
    else:
        cursor.expect(" to=functions.")
        name = cursor.tool_name()
        cursor.expect("<|channel|>commentary ")
        cursor.take("<|constrain|>")
        cursor.expect("json")
    cursor.expect("<|message|>")
    pairs = json_arguments(cursor)
    cursor.take("<|call|>")
    cursor.expect_end()
    return [(name, pairs)]


HARMONY = CallFormat(
    name="harmony",
    notation="json",
    parallel=False,  # the end of a call ends the turn
    reader=read_harmony,
    opener="<|channel|>commentary to=functions.",
    bracket=" <|constrain|>json<|message|>{",
    end="}",
    closer="",  # <|call|> ends the turn
    marks=("<|channel|>", "<|constrain|>", "<|message|>", "<|call|>"),
    turn_ends=("<|call|>", "<|return|>"),
    opens_by_mark=False,  # thinking and answers begin with the same mark
)
