"""The formats of GLM: keys and values between tags, values as they are.

GLM-4.5, 4.5-Air and 4.6 write newlines, also between calls::

    <tool_call>f
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call>

GLM-4.7, 5 and 5.1 write none: ``<tool_call>f<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>``

Source: the chat template of GLM-4.5, the structural tags of xgrammar for GLM-4.7.
"""

from dataclasses import replace
from typing import Any

from lookup.values.notations import RawText
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.raw_values import PLAIN_KEY, raw_key, raw_value
from tooldecoding.formats.reading import ReadCall


def read_glm45(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` blocks with newlines; all values are texts.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH``, or has white space around a key or value.
    """
    return _calls(text, "\n")


def read_glm47(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` blocks without newlines; all values are texts. UnreadableCallError as for GLM-4.5."""
    return _calls(text, "")


def _calls(text: str, gap: str) -> list[ReadCall]:
    cursor = Cursor(text)
    calls = list[ReadCall]()
    while not calls or cursor.position < len(text):
        cursor.expect(f"{gap if calls else ''}<tool_call>")
        name = cursor.tool_name()
        cursor.expect(gap)
        pairs = list[tuple[str, Any]]()
        while not cursor.take("</tool_call>"):
            cursor.expect("<arg_key>")
            key = raw_key(cursor, PLAIN_KEY)
            cursor.expect(f"</arg_key>{gap}<arg_value>")
            pairs.append((key, raw_value(cursor, "</arg_value>")))
            cursor.expect(gap)
        calls.append((name, pairs))
    return calls


GLM45 = CallFormat(
    name="glm-4.5",
    notation=RawText("</arg_value>"),
    parallel=True,
    reader=read_glm45,
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
    reader=read_glm47,
    lead="",
    bracket="",
    key_closer="</arg_key><arg_value>",
    separator="",
    end="</tool_call>",
    next_call="<tool_call>",
)
