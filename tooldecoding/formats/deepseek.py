"""The formats of DeepSeek.

V3 and R1-0528, further calls behind a newline::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
    ```json
    {"city": "Paris", "days": 3}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

V3.1 and V3.2-Exp, further calls directly behind::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

V3.2, texts as they are and all else as JSON::

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="f">
    <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

Source: the chat templates of V3 and V3.1, DeepSeek's encoder of V3.2.
"""

import re
from typing import Any, Final

from lookup.values.notations import RawText
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_arguments, json_text
from tooldecoding.formats.reading import ReadCall

_PARAMETER: Final = re.compile(r'<｜DSML｜parameter name="([^"\n<>]++)" string="(true|false)">')


def read_deepseek_v3(text: str) -> list[ReadCall]:
    """Read one block of calls with their JSON in fences.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<｜tool▁calls▁begin｜>")
    calls = list[ReadCall]()
    while not calls or cursor.take("\n"):
        cursor.expect("<｜tool▁call▁begin｜>function<｜tool▁sep｜>")
        name = cursor.tool_name()
        cursor.expect("\n```json\n")
        calls.append((name, json_arguments(cursor)))
        cursor.expect("\n```<｜tool▁call▁end｜>")
    cursor.expect("<｜tool▁calls▁end｜>")
    cursor.expect_end()
    return calls


def read_deepseek_v31(text: str) -> list[ReadCall]:
    """Read one block of calls.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<｜tool▁calls▁begin｜>")
    calls = list[ReadCall]()
    while not calls or not cursor.take("<｜tool▁calls▁end｜>"):
        cursor.expect("<｜tool▁call▁begin｜>")
        name = cursor.tool_name()
        cursor.expect("<｜tool▁sep｜>")
        calls.append((name, json_arguments(cursor)))
        cursor.expect("<｜tool▁call▁end｜>")
    cursor.expect_end()
    return calls


def read_deepseek_v32(text: str) -> list[ReadCall]:
    """Read one block of invocations; ``string`` says which values are raw text and which JSON that is no text.

    An invocation without arguments may hold an empty line, which DeepSeek's encoder writes.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<｜DSML｜function_calls>\n")
    calls = list[ReadCall]()
    while not calls or not cursor.take("</｜DSML｜function_calls>"):
        cursor.expect('<｜DSML｜invoke name="')
        name = cursor.tool_name()
        cursor.expect('">\n')
        pairs = list[tuple[str, Any]]()
        empty = cursor.take("\n</｜DSML｜invoke>\n")
        while not empty and not cursor.take("</｜DSML｜invoke>\n"):
            pairs.append(_parameter(cursor))
        calls.append((name, pairs))
    cursor.expect_end()
    return calls


def _parameter(cursor: Cursor) -> tuple[str, Any]:
    key, is_text = cursor.match(_PARAMETER, "a parameter with its name and whether it is a string").groups()
    raw = cursor.until("</｜DSML｜parameter>")
    cursor.expect("\n")
    value = raw if is_text == "true" else json_text(raw)
    if is_text == "false" and isinstance(value, str):
        raise cursor.error('expected string="true" for a text')
    return key, value


_BEGIN = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>"
_MARKS = (
    "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>",
)  # fmt: skip
_TURN_ENDS = ("<｜end▁of▁sentence｜>",)

DEEPSEEK_V3 = CallFormat(
    name="deepseek-v3",
    notation="json",
    parallel=True,
    reader=read_deepseek_v3,
    opener=f"{_BEGIN}function<｜tool▁sep｜>",
    bracket="\n```json\n{",
    end="}\n```<｜tool▁call▁end｜>",
    next_call="\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
    closer="<｜tool▁calls▁end｜>",
    marks=_MARKS,
    turn_ends=_TURN_ENDS,
)

DEEPSEEK_V31 = CallFormat(
    name="deepseek-v3.1",
    notation="json",
    parallel=True,
    reader=read_deepseek_v31,
    opener=_BEGIN,
    bracket="<｜tool▁sep｜>{",
    end="}<｜tool▁call▁end｜>",
    next_call="<｜tool▁call▁begin｜>",
    closer="<｜tool▁calls▁end｜>",
    marks=_MARKS,
    turn_ends=_TURN_ENDS,
)

DEEPSEEK_V32 = CallFormat(
    name="deepseek-v3.2",
    notation=RawText("</｜DSML｜parameter>", text_lead=' string="true">', other_lead=' string="false">'),
    parallel=True,
    reader=read_deepseek_v32,
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
    turn_ends=_TURN_ENDS,
)
