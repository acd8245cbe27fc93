"""The ReAct form of one call (TOOLDEC v3, appendix A.1), which only TOOLDEC writes.

``Action: get_weather\\nAction Input: {"city": "New York", "days": 3}``
"""

import re
from typing import Final

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.reading import Cursor, ReadCall

_NAME: Final = re.compile(r"Action: ([^\n]*+)\nAction Input: ")


def read_react(text: str) -> list[ReadCall]:
    """Read the call of a name and a JSON object.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    name = cursor.match(_NAME, "a line Action: and a line Action Input:")[1]
    pairs = cursor.pairs()
    cursor.expect_end()
    return [(name, pairs)]


REACT = CallFormat(
    name="react",
    notation="json",
    parallel=False,
    reader=read_react,
    opener="Action: ",
    closer="",
    bracket="\nAction Input: {",
    end="}",
    optional_spaces=True,
)
