"""Formats whose calls are JSON objects, each by itself or in one list.

hermes, of Hermes 3, Qwen2.5, QwQ, Qwen3, SmolLM3 and Granite 4, further calls behind a newline:
``<tool_call>\\n{"name": "f", "arguments": {"city": "Paris", "days": 3}}\\n</tool_call>``; EXAONE 4 writes it without
the newlines around the object

llama3-json, of Llama 3.1, 3.2 and 3.3: ``{"name": "f", "parameters": {"city": "Paris", "days": 3}}``; their templates
refuse a second call in one turn, vLLM reads several with ``"; "`` between them

json-list, of xLAM-2: ``[{"name": "f", "arguments": {"city": "Paris", "days": 3}}]``

granite3, of Granite 3.0 and of 3.1 and later: ``<|tool_call|>[{"name": …}]`` and ``<tool_call>[{"name": …}]``

phi4-mini, of Phi-4-mini and of vLLM's template for it: ``<|tool_call|>[{"name": …}]<|/tool_call|>`` and
``functools[{"name": …}]``

mistral-list, in versions 2, 3 and 7 of Mistral's tokenizer; version 2 has no ids, and a space stands in front of the
list with SentencePiece: ``[TOOL_CALLS] [{"name": "f", "arguments": {"city": "Paris"}, "id": "call00000"}]``

cohere, of Command R7B and Command A, a list of counted calls::

    <|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "f", "parameters": {"city": "Paris", "days": 3}}
    ]<|END_ACTION|>

Source: the chat templates of Qwen2.5, Qwen3, Llama 3.1, Llama 3.2 and Command R7B; the structural tags of xgrammar for
EXAONE 4; the model handlers of the Berkeley Function-Calling Leaderboard; vLLM's parsers ``llama``, ``xlam``,
``granite`` and ``phi4mini``; mistral-common.
"""

from dataclasses import replace
from typing import Final

from tooldecoding.formats.call_format import ID, INDEX, CallFormat

_NO_NEWLINES: Final = {"opener": '<tool_call>{"name": "', "end": "}}</tool_call>"}

HERMES = CallFormat(
    name="hermes",
    opener='<tool_call>\n{"name": "',
    bracket='", "arguments": {',
    end="}}\n</tool_call>",
    next_call='\n<tool_call>\n{"name": "',
    marks=("<tool_call>", "</tool_call>"),
    turn_ends=("<|im_end|>", "<|end_of_text|>", "[|endofturn|]"),
    also=(
        {**_NO_NEWLINES, "next_call": '<tool_call>{"name": "'},
        {**_NO_NEWLINES, "next_call": '\n<tool_call>{"name": "'},
    ),
)

LLAMA3_JSON = CallFormat(
    name="llama3-json",
    parallel=False,  # the chat template refuses two calls
    opener='{"name": "',
    bracket='", "parameters": {',
    end="}}",
    turn_ends=("<|eot_id|>", "<|eom_id|>"),
    also=({"parallel": True, "next_call": '; {"name": "'},),
)

JSON_LIST = CallFormat(
    name="json-list",
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
    opener='<tool_call>[{"name": "',
    marks=("<tool_call>",),
    turn_ends=("<|end_of_text|>",),
    also=({"opener": '<|tool_call|>[{"name": "', "marks": ("<|tool_call|>",)},),
)

PHI4_MINI = replace(
    JSON_LIST,
    name="phi4-mini",
    opener='<|tool_call|>[{"name": "',
    closer="]<|/tool_call|>",
    marks=("<|tool_call|>", "<|/tool_call|>"),
    turn_ends=(),  # <|end|> ends no turn of gpt-oss; Phi's own configuration names it
    also=({"opener": 'functools[{"name": "', "closer": "]"},),
)

_WITHOUT_SPACE: Final = {"opener": '[TOOL_CALLS][{"name": "'}
_WITH_ID: Final = {"end": f'}}, "id": "{ID}"}}'}

MISTRAL_LIST = replace(
    JSON_LIST,
    name="mistral-list",
    opener='[TOOL_CALLS] [{"name": "',
    marks=("[TOOL_CALLS]",),
    turn_ends=("</s>",),
    also=(_WITHOUT_SPACE, _WITH_ID, {**_WITHOUT_SPACE, **_WITH_ID}),
)

_CALL: Final = f'\n    {{"tool_call_id": "{INDEX}", "tool_name": "'

COHERE = CallFormat(
    name="cohere",
    opener=f"<|START_ACTION|>[{_CALL}",
    bracket='", "parameters": {',
    end="}}",
    next_call=f",{_CALL}",
    closer="\n]<|END_ACTION|>",
    marks=("<|START_ACTION|>", "<|END_ACTION|>"),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
)
