"""Harmony, the format of gpt-oss: one call a turn, in the commentary channel.

``<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"city": "Paris", "days": 3}<|call|>``

Models also leave out the space before ``<|constrain|>``. In the history of a dialogue the receiver comes first:
`` to=functions.f<|channel|>commentary json<|message|>{"city": "Paris", "days": 3}<|call|>``

Source: ``docs/format.md`` of openai/harmony, the chat template of gpt-oss.
"""

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.cursor import Cursor
from tooldecoding.formats.json_calls import json_arguments
from tooldecoding.formats.reading import ReadCall


def read_harmony(text: str) -> list[ReadCall]:
    """Read one call, with or without the ``<|call|>`` that ends the turn.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    if cursor.take("<|channel|>commentary to=functions."):
        name = cursor.tool_name()
        cursor.take(" ")
        cursor.expect("<|constrain|>json")
    else:
        cursor.expect(" to=functions.")
        name = cursor.tool_name()
        cursor.expect("<|channel|>commentary ")
        cursor.take("<|constrain|>")
        cursor.expect("json")
    cursor.expect("<|message|>")
    pairs = json_arguments(cursor)
    cursor.take("<|call|>")
    cursor.expect_end()
    return [(name, pairs)]


HARMONY = CallFormat(
    name="harmony",
    notation="json",
    parallel=False,  # the end of a call ends the turn
    reader=read_harmony,
    opener="<|channel|>commentary to=functions.",
    bracket=" <|constrain|>json<|message|>{",
    end="}",
    closer="",  # <|call|> ends the turn
    marks=("<|channel|>", "<|constrain|>", "<|message|>", "<|call|>"),
    turn_ends=("<|call|>", "<|return|>"),
    opens_by_mark=False,  # thinking and answers begin with the same mark
)
