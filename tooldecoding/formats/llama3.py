"""The format of Llama 3: each call a JSON object with nothing around it.

``{"name": "f", "parameters": {"city": "Paris", "days": 3}}``

Llama 3.1, 3.2 and 3.3 write it. Their templates refuse a second call in one turn; vLLM reads several with ``"; "``
between them. Source: the chat templates of Llama 3.1 and 3.2; vLLM's ``llama_tool_parser``.
"""

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_call
from tooldecoding.formats.reading import ReadCall


def read_llama3_json(text: str) -> list[ReadCall]:
    """Read one call, or several joined by ``"; "``.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    calls = [json_call(cursor, ("name", "parameters"))]
    while cursor.take("; "):
        calls.append(json_call(cursor, ("name", "parameters")))
    cursor.expect_end()
    return calls


LLAMA3_JSON = CallFormat(
    name="llama3-json",
    notation="json",
    parallel=False,  # the chat template refuses two calls
    reader=read_llama3_json,
    opener='{"name": "',
    bracket='", "parameters": {',
    end="}}",
    closer="",
    turn_ends=("<|eot_id|>", "<|eom_id|>"),
)
