"""Formats of calls in Python's own syntax.

api-bank: one call, every value between single quotes: ``[GetWeather(city='New York', days='3')]``

pythonic, BFCL's prompt mode: ``[get_weather(city='New York', days=3), get_time(zone=None)]``

llama4-pythonic, of Llama 4 and of Llama 3.2 1B and 3B: the same list, which the model may also write between
``<|python_start|>`` and ``<|python_end|>``

lfm2.5, of LFM2 and LFM2.5: ``<|tool_call_start|>[get_weather(place={"city": "Rome", "now": true})]<|tool_call_end|>``,
where a dict may be JSON

olmo3, of Olmo 3: ``<function_calls>\\nget_weather(now=true)\\nget_time(zone=None)\\n</function_calls>``

Source: vLLM's parsers of these names; the chat templates of LFM2 and LFM2.5.
"""

from dataclasses import replace

from tooldecoding.formats.call_format import CallFormat

API_BANK = CallFormat("api-bank", "quoted", parallel=False, closer="]")

PYTHONIC = CallFormat("pythonic", "python", closer="]")

LLAMA4_PYTHONIC = replace(
    PYTHONIC,
    name="llama4-pythonic",
    notation="python-lists",
    turn_ends=("<|eot|>",),
    also=({"opener": "<|python_start|>[", "closer": "]<|python_end|>"},),
)

LFM25 = replace(
    PYTHONIC,
    name="lfm2.5",
    notation="python-json",
    opener="<|tool_call_start|>[",
    closer="]<|tool_call_end|>",
    marks=("<|tool_call_start|>", "<|tool_call_end|>"),
    turn_ends=("<|im_end|>",),
)

OLMO3 = replace(
    PYTHONIC,
    name="olmo3",
    notation="python-lists",
    opener="<function_calls>\n",
    next_call="\n",
    closer="\n</function_calls>",
    marks=("<function_calls>", "</function_calls>"),
    turn_ends=("<|im_end|>",),
)
