"""Fields of a text that its description states: ``in the format of 'City, State'``.

A model that reads this still writes ``Seattle`` where ``Seattle, WA`` is meant, so such a text has its commas.
"""

import re
from functools import lru_cache
from typing import Final

_MAX_SEARCHED: Final = 2000  # characters; many keys may share one description
_LONGEST: Final = 40  # characters of a field, so that a model without an answer comes to an end
_FIELD: Final = r"[A-Z]{1,30}[a-z][A-Za-z]{0,30}(?: [A-Za-z]{1,30}){0,3}(?: \([a-z]{1,30}\))?"  # not DD or YYYY
_PLACES: Final = ("City", "State", "Country", "Province", "Region")
_NEVER: Final = r",_=#\"<>\[\]{}"  # what a model writes that goes on behind the value
_STATED = re.compile(
    rf"\b[Ff]ormat(?:ted)?(?: (?:of|as|like|is|in))? (['\"`])({_FIELD}(?:, {_FIELD})+)\1"
    # no colon: "format: 'Json, Xml'" may list what there is to choose from
    rf"(?! or (['\"`]){_FIELD}\3)"  # 'City, State' or 'City'
)


@lru_cache(maxsize=4096)
def stated_fields(description: str) -> str:
    """Return the fields that a description states, as they stand there; ``""`` if it states none."""
    found = _STATED.search(description, 0, _MAX_SEARCHED)
    return found[2] if found else ""


def fields_pattern(stated: str) -> str:
    """Return the pattern of the texts with these fields, places without digits; a country may follow."""
    fields = [_pattern("0-9" if name.startswith(_PLACES) else "") for name in stated.split(", ")]
    return f"^{', '.join(fields)}(?:, {_pattern('0-9')})?$"


def _pattern(excluded: str) -> str:
    """Return the pattern of a field without some characters."""
    return rf"[^\s{_NEVER}{excluded}][^{_NEVER}{excluded}]{{0,{_LONGEST - 1}}}"
