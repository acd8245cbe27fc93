"""Formats of tags, with values or texts that stand as they are.

qwen-xml, of Qwen3-Coder, Qwen3.5, Qwen3.6 and Nemotron 3, further calls behind a newline::

    <tool_call>
    <function=f>
    <parameter=city>
    Paris
    </parameter>
    </function>
    </tool_call>

glm-4.5, of GLM-4.5, 4.5-Air and 4.6, with newlines also between calls; glm-4.7, of GLM-4.7, 5 and 5.1, with none::

    <tool_call>f
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call>

minimax-m2, of MiniMax M2, M2.5 and M2.7, further invocations in the same block::

    <minimax:tool_call>
    <invoke name="f">
    <parameter name="city">Paris</parameter>
    </invoke>
    </minimax:tool_call>

deepseek-v3.2, texts as they are and all else as JSON, further invocations in the same block::

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="f">
    <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

gemma4, bare keys, and texts between marks, without escapes; the models know keys in alphabetic sequence, a reader does
not ask for it: ``<|tool_call>call:f{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],o:{k:true}}<tool_call|>``; further
calls follow directly behind

functiongemma, the 270M model: ``<start_function_call>call:f{city:<escape>Paris<escape>,days:3}<end_function_call>``

Source: the chat templates of Qwen3.5, Nemotron 3 Nano, GLM-4.5 and Gemma 4, that of MiniMax M2 in llama.cpp, the
structural tags of xgrammar for GLM-4.7, DeepSeek's encoder of V3.2, Google's page on FunctionGemma's formatting.
"""

from dataclasses import replace

from lookup.grammar.notations import BareKeys, RawText
from tooldecoding.formats.call_format import CallFormat

QWEN_XML = CallFormat(
    name="qwen-xml",
    notation=RawText("\n</parameter>"),
    opener="<tool_call>\n<function=",
    bracket=">\n",
    key_opener="<parameter=",
    key_closer=">\n",
    separator="\n",
    end="\n</function>\n</tool_call>",
    empty_end="</function>\n</tool_call>",
    next_call="\n<tool_call>\n<function=",
    marks=("<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", "</parameter>"),
    turn_ends=("<|im_end|>",),
)

GLM45 = CallFormat(
    name="glm-4.5",
    notation=RawText("</arg_value>"),
    lead="\n",
    opener="<tool_call>",
    bracket="\n",
    key_opener="<arg_key>",
    key_closer="</arg_key>\n<arg_value>",
    separator="\n",
    end="\n</tool_call>",
    empty_end="</tool_call>",
    next_call="\n<tool_call>",
    marks=("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    turn_ends=("<|observation|>", "<|user|>"),
)

GLM47 = replace(
    GLM45,
    name="glm-4.7",
    lead="",
    bracket="",
    key_closer="</arg_key><arg_value>",
    separator="",
    end="</tool_call>",
    next_call="<tool_call>",
)

MINIMAX_M2 = CallFormat(
    name="minimax-m2",
    notation=RawText("</parameter>"),
    lead="\n",
    opener='<minimax:tool_call>\n<invoke name="',
    bracket='">\n',
    key_opener='<parameter name="',
    key_closer='">',
    separator="\n",
    end="\n</invoke>\n",
    empty_end="</invoke>\n",
    next_call='<invoke name="',
    closer="</minimax:tool_call>",
    marks=("<minimax:tool_call>", "</minimax:tool_call>", "<invoke ", "</invoke>", "</parameter>"),
    turn_ends=("[e~[",),
)

DEEPSEEK_V32 = CallFormat(
    name="deepseek-v3.2",
    notation=RawText("</｜DSML｜parameter>", text_lead=' string="true">', other_lead=' string="false">'),
    lead="\n\n",
    opener='<｜DSML｜function_calls>\n<｜DSML｜invoke name="',
    bracket='">\n',
    key_opener='<｜DSML｜parameter name="',
    key_closer='"',
    separator="\n",
    end="\n</｜DSML｜invoke>\n",
    empty_end="\n</｜DSML｜invoke>\n",
    next_call='<｜DSML｜invoke name="',
    closer="</｜DSML｜function_calls>",
    marks=("｜DSML｜",),
    turn_ends=("<｜end▁of▁sentence｜>",),
    also=({"empty_end": "</｜DSML｜invoke>\n"},),
)

GEMMA4 = CallFormat(
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

FUNCTIONGEMMA = replace(
    GEMMA4,
    name="functiongemma",
    notation=BareKeys("<escape>"),
    opener="<start_function_call>call:",
    end="}<end_function_call>",
    next_call="<start_function_call>call:",
    marks=("<start_function_call>", "<end_function_call>", "<escape>"),
    turn_ends=("<end_of_turn>", "<start_function_response>"),
)
