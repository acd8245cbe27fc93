"""The ReAct form of one call (TOOLDEC v3, appendix A.1), which only TOOLDEC writes.

``Action: get_weather\\nAction Input: {"city": "New York", "days": 3}``
"""

import json
import re
from typing import Any, Final

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.reading import ReadCall, UnreadableCallError, demand_short

_CALL: Final = re.compile(r"Action: ([^\n]*)\nAction Input: (\{.*\})", re.DOTALL)


def read_react(text: str) -> list[ReadCall]:
    """Read the call of a name and a JSON object.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested too deeply.
    """
    demand_short(text)
    call = _CALL.fullmatch(text)
    if call is None:
        raise UnreadableCallError("expected a line Action: and a line Action Input: with a JSON object")
    try:
        pairs = json.loads(call[2], object_pairs_hook=_Pairs)
        return [(call[1], [(key, _plain(value)) for key, value in pairs])]
    except (ValueError, RecursionError) as error:
        raise UnreadableCallError(f"no JSON: {error}") from None


class _Pairs(list[tuple[str, Any]]):
    """A JSON object in which a repeated key is there twice."""


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


REACT = CallFormat(
    name="react",
    notation="json",
    parallel=False,
    reader=read_react,
    opener="Action: ",
    closer="",
    bracket="\nAction Input: {",
    end="}",
    key_opener='"',
    key_closer='": ',
    optional_spaces=True,
)
