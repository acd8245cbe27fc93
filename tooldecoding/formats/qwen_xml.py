"""The format of Qwen3-Coder, Qwen3.5, Qwen3.6 and Nemotron 3: tags, and values as they are::

    <tool_call>
    <function=f>
    <parameter=city>
    Paris
    </parameter>
    <parameter=days>
    3
    </parameter>
    </function>
    </tool_call>

Further calls follow behind a newline. Source: the chat templates of Qwen3.5 and Nemotron 3 Nano.
"""

from typing import Any

from lookup.values.notations import RawText
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.raw_values import PLAIN_KEY, raw_key, raw_value
from tooldecoding.formats.reading import ReadCall


def read_qwen_xml(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` blocks; all values are texts, without the newline on each side.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH``, or has white space around a key or value.
    """
    cursor = Cursor(text)
    calls = list[ReadCall]()
    while not calls or cursor.take("\n"):
        cursor.expect("<tool_call>\n<function=")
        name = cursor.tool_name()
        cursor.expect(">\n")
        pairs = list[tuple[str, Any]]()
        while cursor.take("<parameter="):
            key = raw_key(cursor, PLAIN_KEY)
            cursor.expect(">")
            pairs.append((key, raw_value(cursor, "</parameter>", frame="\n")))
            cursor.expect("\n")
        cursor.expect("</function>\n</tool_call>")
        calls.append((name, pairs))
    cursor.expect_end()
    return calls


QWEN_XML = CallFormat(
    name="qwen-xml",
    notation=RawText("\n</parameter>"),
    parallel=True,
    reader=read_qwen_xml,
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
