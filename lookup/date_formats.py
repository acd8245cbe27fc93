"""Formats of dates and times that a description states: ``Format: %Y-%m-%d %H:%M:%S``, ``in YYYY-MM-DD format``.

A model that reads them writes ``2pm`` in one order of the keys and a whole date in another, so the vote prefers values
in the format. They are no limit: a model that is held to one makes dates up.
"""

import re
from functools import lru_cache
from typing import Final

_MAX_SEARCHED: Final = 2000  # characters; many keys may share one description
_FIELDS: Final = {
    "YYYY": "[0-9]{4}",
    "MM": "(?:0[1-9]|1[0-2])",
    "DD": "(?:0[1-9]|[12][0-9]|3[01])",
    "HH": "(?:[01][0-9]|2[0-4])",
    "SS": "[0-5][0-9]",
    # strptime reads numbers without their zero, too
    "%Y": "[0-9]{4}",
    "%m": "(?:0?[1-9]|1[0-2])",
    "%d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "%H": "(?:[01]?[0-9]|2[0-3])",
    "%M": "[0-5]?[0-9]",
    "%S": "[0-5]?[0-9]",
}
_FIELD = re.compile("|".join(_FIELDS), re.IGNORECASE)
_LETTERS: Final = "(?:YYYY|yyyy|MM|mm|DD|dd|HH|hh|SS|ss)"
_BETWEEN: Final = "(?:[-/.:T]|[ ](?=HH|hh|%H))"
_STATED = re.compile(
    rf"(?<![\w%/.:-])(?:%[YmdHM](?:{_BETWEEN}%[YmdHMS])+|{_LETTERS}(?:{_BETWEEN}{_LETTERS})+)Z?"
    # not a part of "MM-DD-YYY", "%H:%M:%S.%f", "HH:MM AM/PM" or "YYYY-MM-DD 00:00"
    r"(?![\w%]|[-/.:+][\w%]|[ ]?[AaPp]\.?[Mm]|[ ][0-9%])"
)
_EXAMPLE = re.compile(r"(?:e\.\s?g\.|such as|example|like)[\s,:]*['\"`(]?$", re.IGNORECASE)
_FORMAT_ITSELF = re.compile(r"\bformat (?:in which|(?:of|for) (?:the|each|all)\b)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def stated_format(description: str) -> str:
    """Return the only format of a date or time that a description states, as it stands there; ``""`` if none is."""
    found = [*_STATED.finditer(description, 0, _MAX_SEARCHED)]
    if len(found) != 1 or _FORMAT_ITSELF.search(description, 0, _MAX_SEARCHED):
        return ""
    before = description[max(0, found[0].start() - 16) : found[0].start()]
    return "" if "%" not in found[0][0] and _EXAMPLE.search(before) else found[0][0]  # "be like %Y-%m-%d"


@lru_cache(maxsize=256)
def format_pattern(stated: str) -> re.Pattern[str]:
    """Return the pattern of the texts in a stated format."""
    pattern, end = "", 0
    for field in _FIELD.finditer(stated):
        pattern += re.escape(stated[end : field.start()])
        name = field[0] if "%" in field[0] else field[0].upper()
        if name == "MM" and ":" in (stated[field.start() - 1 : field.start()], stated[field.end() : field.end() + 1]):
            name = "SS"
        pattern += _FIELDS[name]
        end = field.end()
    return re.compile(pattern + re.escape(stated[end:]))
