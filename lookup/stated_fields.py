"""Fields of a text that its description states: ``in the format of 'City, State'``.

A model that reads this still writes ``Seattle`` where ``Seattle, WA`` is meant, so such a text has its commas.
"""

import re
from functools import lru_cache
from typing import Final

_MAX_SEARCHED: Final = 2000  # characters; many keys may share one description
_LONGEST: Final = 40  # characters of a field, so that a model without an answer comes to an end
_FIELD: Final = r"[A-Z][A-Za-z]{0,30}(?: [A-Za-z]{1,30}){0,3}(?: \([a-z]{1,30}\))?"
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
    """Return the pattern of the texts with these fields; one field more may follow, such as a country."""
    commas = stated.count(", ")
    field = rf"[^,\s_][^,_]{{0,{_LONGEST - 1}}}"
    return f"^{field}(?:, {field}){{{commas},{commas + 1}}}$"
