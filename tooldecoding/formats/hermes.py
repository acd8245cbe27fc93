"""The format of Hermes: each call a JSON object between tags.

``<tool_call>\\n{"name": "f", "arguments": {"city": "Paris", "days": 3}}\\n</tool_call>``, further calls behind a
newline

Hermes 3, Qwen2.5, QwQ, Qwen3, SmolLM3 and Granite 4 write it; EXAONE 4 writes it without the newlines around the
object. Source: the chat templates of Qwen2.5 and Qwen3; for EXAONE 4 the structural tags of xgrammar.
"""

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import NAME_AND_ARGUMENTS, json_call
from tooldecoding.formats.reading import ReadCall


def read_hermes(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` blocks, all with newlines around their objects or all without.

    Blocks without newlines inside may follow each other with a newline between them or without.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<tool_call>")
    inside = "\n" if cursor.take("\n") else ""
    calls = []
    while True:
        calls.append(json_call(cursor, NAME_AND_ARGUMENTS))
        cursor.expect(f"{inside}</tool_call>")
        if cursor.position == len(text):
            return calls
        between = cursor.take("\n")
        if inside and not between:
            raise cursor.error("expected a newline or the end")
        cursor.expect(f"<tool_call>{inside}")


HERMES = CallFormat(
    name="hermes",
    notation="json",
    parallel=True,
    reader=read_hermes,
    opener='<tool_call>\n{"name": "',
    bracket='", "arguments": {',
    end="}}\n</tool_call>",
    next_call='\n<tool_call>\n{"name": "',
    closer="",
    marks=("<tool_call>", "</tool_call>"),
    turn_ends=("<|im_end|>", "<|end_of_text|>", "[|endofturn|]"),
)
