"""The formats of Gemma: bare keys, and texts between marks, without escapes.

gemma4: ``<|tool_call>call:f{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],o:{k:true}}<tool_call|>``

functiongemma, the 270M model: ``<start_function_call>call:f{city:<escape>Paris<escape>,days:3}<end_function_call>``

Further calls follow directly behind. The models know keys in alphabetic sequence; a reader does not ask for it.
Source: the chat template of Gemma 4; Google's page on FunctionGemma's formatting.
"""

from dataclasses import replace

from lookup.values.notations import BareKeys
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.calls_reader import readable

GEMMA4 = readable(
    CallFormat(
        name="gemma4",
        notation=BareKeys('<|"|>'),
        opener="<|tool_call>call:",
        bracket="{",
        key_closer=":",
        separator=",",
        end="}<tool_call|>",
        next_call="<|tool_call>call:",
        marks=("<|tool_call>", "<tool_call|>", '<|"|>'),
        turn_ends=("<turn|>", "<|tool_response>"),
        sorted_keys=True,
    )
)

FUNCTIONGEMMA = readable(
    replace(
        GEMMA4,
        name="functiongemma",
        notation=BareKeys("<escape>"),
        opener="<start_function_call>call:",
        end="}<end_function_call>",
        next_call="<start_function_call>call:",
        marks=("<start_function_call>", "<end_function_call>", "<escape>"),
        turn_ends=("<end_of_turn>", "<start_function_response>"),
    )
)
