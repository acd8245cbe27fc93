"""API-Bank's call format: one call, every value between single quotes: ``[GetWeather(city='New York', days='3')]``."""

import re
from typing import Any, Final

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.pythonic import constant, parse_expression
from tooldecoding.formats.reading import ReadCall, UnreadableCallError, demand_short

_NAME: Final = re.compile(r"\[(\w++)\(")
_PAIR: Final = re.compile(r"(\w++)=('(?:[^'\\\n]|\\.)*+')")


def read_api_bank(text: str) -> list[ReadCall]:
    """Read the call of ``[Name(key='value', …)]``; every value is a text.

    Names and keys are found as API-Bank's evaluator finds them (``\\w+``), and values are Python strings between single
    quotes. The evaluator is coarser there: it ends a value at the first quote inside it, escaped or not.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, or longer than ``MAX_LENGTH``.
    """
    demand_short(text)
    name = _NAME.match(text)
    if name is None:
        raise UnreadableCallError("expected [ and a name of letters, digits and underscores, and (")
    position, pairs = name.end(), list[tuple[str, Any]]()
    while not text.startswith(")]", position):
        if pairs:
            if not text.startswith(", ", position):
                raise UnreadableCallError(f"expected ', ' at offset {position}")
            position += len(", ")
        pair = _PAIR.match(text, position)
        if pair is None:
            raise UnreadableCallError(
                f"expected a key of letters, digits and underscores, = and a quoted value at offset {position}"
            )
        pairs.append((pair[1], constant(parse_expression(pair[2]))))
        position = pair.end()
    if position + len(")]") != len(text):
        raise UnreadableCallError(f"expected the end behind offset {position}")
    return [(name[1], pairs)]


API_BANK = CallFormat("api-bank", "quoted", parallel=False, reader=read_api_bank)
