"""How API-Bank's evaluator reads a call from a model's output (its ``api_call_extraction.py``).

The official reader is two regular expressions that take quadratic time on hostile text. These functions give the same
results in linear time; ``tests/eval/test_api_bank.py`` compares them.
"""

import re
from typing import Final, NamedTuple

_OPENING: Final = re.compile(r"\[(\w++)\(")
_KEY: Final = re.compile(r"\b(\w++)\s*+=\s*+")
_WORD: Final = re.compile(r"\w++")
_QUOTE: Final = re.compile(r"['\"]")


class CallText(NamedTuple):
    """A call as it stands in an output: the name, and the text between its outer brackets."""

    name: str
    arguments: str


def get_api_call(output: str) -> CallText | None:
    """The call in a model's output, None where the evaluator finds none.

    It is the first ``[Name(`` of a line that has a ``)]`` behind it; the arguments reach to the last ``)]`` of the
    line. ``Name(…)``, ``[ Name(…)]``, ``[Name (…)]``, ``[a.Name(…)]`` and a call over several lines are none.
    """
    for line in output.split("\n"):
        opening = _OPENING.search(line)
        end = line.rfind(")]")
        if opening and opening.end() <= end:
            return CallText(opening[1], line[opening.end() : end])
    return None


def parse_arguments(arguments: str) -> dict[str, str]:
    """Key -> value; every value is a text.

    A quoted value ends at the next quote of either kind that leaves it one character at least, an unquoted list at the
    last ``]`` of all arguments, anything else is one word. What does not read so is skipped. The last of a key's values
    holds.
    """
    found: dict[str, str] = {}
    last_bracket = arguments.rfind("]")
    position = 0
    while key := _KEY.search(arguments, position):
        start = key.end()
        value, position = _read_value(arguments, start, last_bracket) or (None, key.end(1))
        if value is not None:
            found[key[1]] = value
    return found


def _read_value(text: str, start: int, last_bracket: int) -> tuple[str, int] | None:
    """The value that begins at ``start``, and where the reader goes on."""
    first = text[start : start + 1]
    if first in ("'", '"') and first:
        closing = _QUOTE.search(text, start + 2)
        return (text[start + 1 : closing.start()], closing.end()) if closing else None
    if first == "[":
        return (text[start : last_bracket + 1], last_bracket + 1) if last_bracket > start else None
    word = _WORD.match(text, start)
    return (word[0], word.end()) if word else None
