"""Formats of tags, with values that stand as they are.

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

Source: the chat templates of Qwen3.5, Nemotron 3 Nano and GLM-4.5, that of MiniMax M2 in llama.cpp, the structural tags
of xgrammar for GLM-4.7, DeepSeek's encoder of V3.2.
"""

import re
from dataclasses import replace
from typing import Any, Final

from lookup.values.notations import RawText
from tooldecoding.formats.blocks import PLAIN_KEY, QUOTED_KEY, BlockReader, RawArguments
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.json_calls import json_text
from tooldecoding.formats.reading import Cursor

QWEN_XML = CallFormat(
    name="qwen-xml",
    notation=RawText("\n</parameter>"),
    parallel=True,
    reader=BlockReader(
        head="<tool_call>\n<function=",
        bracket=">\n",
        arguments=RawArguments(
            "<parameter=", PLAIN_KEY, ">", "</parameter>", "</function>\n</tool_call>", frame="\n"
        ),
        gap="\n",
    ),
    opener="<tool_call>\n<function=",
    bracket=">\n",
    key_opener="<parameter=",
    key_closer=">\n",
    separator="\n",
    end="\n</function>\n</tool_call>",
    empty_end="</function>\n</tool_call>",
    next_call="\n<tool_call>\n<function=",
    closer="",
    marks=("<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", "</parameter>"),
    turn_ends=("<|im_end|>",),
)

GLM45 = CallFormat(
    name="glm-4.5",
    notation=RawText("</arg_value>"),
    parallel=True,
    reader=BlockReader(
        head="<tool_call>",
        bracket="\n",
        arguments=RawArguments("<arg_key>", PLAIN_KEY, "</arg_key>\n<arg_value>", "</arg_value>", "</tool_call>"),
        gap="\n",
    ),
    lead="\n",
    opener="<tool_call>",
    bracket="\n",
    key_opener="<arg_key>",
    key_closer="</arg_key>\n<arg_value>",
    separator="\n",
    end="\n</tool_call>",
    empty_end="</tool_call>",
    next_call="\n<tool_call>",
    closer="",
    marks=("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    turn_ends=("<|observation|>", "<|user|>"),
)

GLM47 = replace(
    GLM45,
    name="glm-4.7",
    reader=BlockReader(
        head="<tool_call>",
        bracket="",
        arguments=RawArguments("<arg_key>", PLAIN_KEY, "</arg_key><arg_value>", "</arg_value>", "</tool_call>", gap=""),
    ),
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
    parallel=True,
    reader=BlockReader(
        opener="<minimax:tool_call>\n",
        head='<invoke name="',
        bracket='">\n',
        arguments=RawArguments('<parameter name="', QUOTED_KEY, '">', "</parameter>", "</invoke>\n"),
        closer="</minimax:tool_call>",
    ),
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

_PARAMETER: Final = re.compile(r'<｜DSML｜parameter name="([^"\n<>]++)" string="(true|false)">')


def _told_apart(cursor: Cursor) -> list[tuple[str, Any]]:
    """Read DeepSeek's arguments; ``string`` says which values are raw text and which JSON that is no text.

    An invocation without arguments may hold an empty line, which DeepSeek's encoder writes.
    """
    pairs = list[tuple[str, Any]]()
    empty = cursor.take("\n</｜DSML｜invoke>\n")
    while not empty and not cursor.take("</｜DSML｜invoke>\n"):
        key, is_text = cursor.match(_PARAMETER, "a parameter with its name and whether it is a string").groups()
        raw = cursor.until("</｜DSML｜parameter>")
        cursor.expect("\n")
        value = raw if is_text == "true" else json_text(raw)
        if is_text == "false" and isinstance(value, str):
            raise cursor.error('expected string="true" for a text')
        pairs.append((key, value))
    return pairs


DEEPSEEK_V32 = CallFormat(
    name="deepseek-v3.2",
    notation=RawText("</｜DSML｜parameter>", text_lead=' string="true">', other_lead=' string="false">'),
    parallel=True,
    reader=BlockReader(
        opener="<｜DSML｜function_calls>\n",
        head='<｜DSML｜invoke name="',
        bracket='">\n',
        arguments=_told_apart,
        closer="</｜DSML｜function_calls>",
    ),
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
)
