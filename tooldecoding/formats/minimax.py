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
