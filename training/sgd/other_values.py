"""Other values in a recorded dialogue, so that the model cannot memorise them and has to copy."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from training.synthetic.lexicon import Draw
from training.synthetic.values import city, person, phrase, title

_NAME: re.Pattern[str] = re.compile(r"[A-Za-z][A-Za-z .'&-]{2,60}")
"""Values that may be replaced: no numbers, dates and times, because users say those in other ways."""
SHARE = 0.7
"""Share of these values that are replaced."""


def made_up(d: Draw, value: str) -> str:
    """Draw a text to replace a value; it begins with a capital if the value does."""
    if value[0].isupper():
        words = [d.pseudo_word().capitalize() for _ in range(d.randint(1, 3))]
        return d.choice([city(d), person(d), title(d), " ".join(words)])
    return d.choice([phrase(d), d.pseudo_word()])


def with_other_values(d: Draw, row: Mapping[str, Any], free: Collection[str]) -> Mapping[str, Any]:
    """Return a dialogue of the data with some values of calls replaced, in the same way everywhere.

    Parameters
    ----------
    row : mapping
        Has ``turns`` and ``calls``; it is not changed.
    free : collection of str
        The values that may be replaced.
    """
    new = {value: made_up(d, value) for value in sorted(free) if _NAME.fullmatch(value) and d.chance(SHARE)}
    if not new:
        return row
    longest_first = sorted(new, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    text = json.dumps({"turns": row["turns"], "calls": row["calls"]}, ensure_ascii=False)
    replaced = pattern.sub(lambda match: json.dumps(new[match[0]], ensure_ascii=False)[1:-1], text)
    return {**row, **json.loads(replaced)}
