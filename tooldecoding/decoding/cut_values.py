"""Values that are cut, because a limit ends them or they go round in circles: what is whole of them is kept.

A cut value must not pass for another one: of ``4893`` at its second digit neither 48 nor 4800 is what the model wrote.
So a number, an object or a text that must have a certain form is lost, a list keeps its whole items, and a free text is
a beginning of what the model would have written::

    [12, 34, 5      [12, 34]        whether 5 is whole is not known
    ["a", "b"       ["a", "b"]
    [{"n": 1}, {    [{"n": 1}]
    "Dear Bob, I    "Dear Bob, I"
    {"a": 1, "b     nothing

The call is not valid, and says what was cut (``voting.merge``).
"""

from typing import Any, Final

from lookup.dictionary import ParameterSpec
from lookup.errors import LiteralError
from lookup.grammar.literal_values import is_literal, read_value, render_value
from lookup.grammar.notations import Notation, RawText
from lookup.grammar.value_grammar import ValueGrammar

LONG_CIRCLE: Final = 1024
"""Characters at a value's end that only repeat something, at least, before the value is cut."""
SHORT_CIRCLE: Final = 128
"""As many are enough where another order has written the value to its end."""
_TIMES: Final = 8
"""So often something is repeated at least: a table may have some equal rows."""
_COMPARED: Final = 16
_WIDEST: Final = 8192
"""Characters of the longest circle."""
_BACK: Final = 24
"""Characters of a text's end that are dropped at most, such as a half escape or a half mark."""
_QUOTES: Final = frozenset("'\"")


def goes_in_circles(text: str, least: int, conversation: str) -> bool:
    """Whether a text ends with something eight times in a row, ``least`` characters or more, that nobody said so.

    ``"city centre", "city centre", …`` repeats 15 characters, so that of 128 it is found; three objects of 140
    characters in turn repeat 420, and are found behind 3,360.
    """
    if len(text) < least:
        return False
    before = text.rfind(text[-_COMPARED:], max(0, len(text) - _WIDEST), len(text) - 1)
    size = len(text) - _COMPARED - before
    whole = text[-max(least, size * _TIMES) :]
    is_long = before >= 0 and len(whole) >= size * _TIMES
    return is_long and whole[size:] == whole[:-size] and whole not in conversation


def whole_part(text: str, spec: ParameterSpec, grammar: ValueGrammar, notation: Notation) -> tuple[Any, str]:
    """Return the value of what is whole of a cut literal, and its literal; the literal is empty if nothing is.

    Parameters
    ----------
    text : str
        The beginning of a literal.
    """
    mark = "" if isinstance(notation, str) else notation.mark
    for size in range(len(text), max(len(grammar.opener), len(text) - _BACK), -1):
        closing = grammar.close(text[:size])
        closer = closing.removesuffix(mark) if isinstance(notation, RawText) or closing == mark else closing
        try:
            value = read_value(text[:size] + closing, spec, notation)
        except LiteralError:
            continue
        if isinstance(value, list | tuple):
            return _whole_items(value, text, closer.rstrip("'\"" if notation == "quoted" else ""), grammar, notation)
        if not isinstance(value, str):
            break
        if set(closer) <= _QUOTES and len(closer) <= 1:
            return value, text[:size] + closing
    return None, ""


def _whole_items(
    value: list[Any] | tuple[Any, ...], text: str, closer: str, grammar: ValueGrammar, notation: Notation
) -> tuple[Any, str]:
    """Return a list without the item that is cut. The last one is whole if a quote or bracket closes it."""
    is_last_whole = len(closer) == 1 and text[-1:] in "'\"])}"
    kept = value if is_last_whole else value[:-1]
    literal = render_value(kept, notation)
    return (kept, literal) if kept and is_literal(literal, notation) and grammar.complete(literal) else (None, "")
