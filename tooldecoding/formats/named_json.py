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

from dataclasses import replace
from typing import Final

from tooldecoding.formats.call_format import ID, INDEX, CallFormat

_DEEPSEEK: Final = CallFormat(
    name="",
    closer="<｜tool▁calls▁end｜>",
    marks=(
        "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>",
        "<｜tool▁sep｜>",
    ),
    turn_ends=("<｜end▁of▁sentence｜>",),
)  # fmt: skip

DEEPSEEK_V3 = replace(
    _DEEPSEEK,
    name="deepseek-v3",
    opener="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>",
    bracket="\n```json\n{",
    end="}\n```<｜tool▁call▁end｜>",
    next_call="\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
)

DEEPSEEK_V31 = replace(
    _DEEPSEEK,
    name="deepseek-v3.1",
    opener="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
    bracket="<｜tool▁sep｜>{",
    end="}<｜tool▁call▁end｜>",
    next_call="<｜tool▁call▁begin｜>",
)

KIMI_K2 = CallFormat(
    name="kimi-k2",
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

MISTRAL_ARGS = CallFormat(
    name="mistral-args",
    opener="[TOOL_CALLS]",
    bracket="[ARGS]{",
    end="}",
    next_call="[TOOL_CALLS]",
    marks=("[TOOL_CALLS]", "[ARGS]"),
    turn_ends=("</s>",),
    also=({"bracket": f"[CALL_ID]{ID}[ARGS]{{"},),
)

_COMMENTARY: Final = "<|channel|>commentary"
_HARMONY_HEADS: Final = (
    (f"{_COMMENTARY} to=functions.", " <|constrain|>json<|message|>{"),
    (f"{_COMMENTARY} to=functions.", "<|constrain|>json<|message|>{"),
    (" to=functions.", f"{_COMMENTARY} <|constrain|>json<|message|>{{"),
    (" to=functions.", f"{_COMMENTARY} json<|message|>{{"),
)

HARMONY = CallFormat(
    name="harmony",
    parallel=False,  # the end of a call ends the turn
    opener="<|channel|>commentary to=functions.",
    bracket=" <|constrain|>json<|message|>{",
    end="}",
    closer="",  # <|call|> ends the turn
    marks=("<|channel|>", "<|constrain|>", "<|message|>", "<|call|>"),
    turn_ends=("<|call|>", "<|return|>"),
    opens_by_mark=False,  # thinking and answers begin with the same mark
    also=tuple({"opener": o, "bracket": b, "closer": end} for o, b in _HARMONY_HEADS for end in ("", "<|call|>")),
)
