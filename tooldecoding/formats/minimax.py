"""The format of MiniMax M2, M2.5 and M2.7: tags with names in attributes, values as they are::

    <minimax:tool_call>
    <invoke name="f">
    <parameter name="city">Paris</parameter>
    <parameter name="days">3</parameter>
    </invoke>
    </minimax:tool_call>

Further invocations follow in the same block. Source: the chat template of MiniMax M2 in llama.cpp.
"""

from typing import Any

from lookup.values.notations import RawText
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.raw_values import QUOTED_KEY, raw_key, raw_value
from tooldecoding.formats.reading import ReadCall


def read_minimax_m2(text: str) -> list[ReadCall]:
    """Read one block of invocations; all values are texts.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH``, or has white space around a key or value.
    """
    cursor = Cursor(text)
    cursor.expect("<minimax:tool_call>\n")
    calls = list[ReadCall]()
    while not calls or not cursor.take("</minimax:tool_call>"):
        cursor.expect('<invoke name="')
        name = cursor.tool_name()
        cursor.expect('">\n')
        pairs = list[tuple[str, Any]]()
        while not cursor.take("</invoke>\n"):
            cursor.expect('<parameter name="')
            key = raw_key(cursor, QUOTED_KEY)
            cursor.expect('">')
            pairs.append((key, raw_value(cursor, "</parameter>")))
            cursor.expect("\n")
        calls.append((name, pairs))
    cursor.expect_end()
    return calls


MINIMAX_M2 = CallFormat(
    name="minimax-m2",
    notation=RawText("</parameter>"),
    parallel=True,
    reader=read_minimax_m2,
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
