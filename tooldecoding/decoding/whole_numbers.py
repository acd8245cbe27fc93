"""Numbers to their ends: what comes out is the number that the model writes, or the call says that it is not.

Held to what is permitted, a model that writes ``1.5e3`` where an integer is wanted would write ``1``, and one that
writes ``150`` where 100 is the most ``15``. So where the likeliest token goes on with a number and is refused, the
number is read on to its end. If it may stand there in another spelling, it is written so; else the value is cut::

    integer             1      wants .5e3    1500         in other digits
    from 0 to 1                wants 5e-5    0.00005
    integer             1      wants .5      1 is cut     no integer begins with 1.5
    at most 100         15     wants 0       15 is cut
    at least 1000       12     wants }       is cut       1200 is what nobody wrote
    two items at most   34     wants , 5     34           and not 340
"""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from lookup.grammar.number_here import NUMBER_CHARACTERS, NumberHere
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.tokens.branch import Branch, Pick

_GOES_ON: Final = re.compile(r"(?:[-+0-9._*/]|:(?=[0-9]|$)|[eE](?![A-Za-z])|[xX](?=[0-9A-Fa-f]|$))+")
"""What belongs to a number, or changes it: digits, an exponent, a sum, a date, a time; no unit."""
_IN_THOUSANDS: Final = re.compile(r"[0-9,.]+")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_SIGNS: Final = {"\u2212": "-", "\uff0d": "-", "\uff0b": "+", "\uff0e": "."}
"""Signs as other scripts write them."""
_MOST_TOKENS: Final = 24
"""Tokens of a number that are read on."""
_MOST_DIGITS: Final = 320
_LARGEST: Final = 1_000
"""Exponents beyond it are of no number that any schema allows."""


class WholeNumber(NamedTuple):
    """What becomes of a number that the model writes.

    Attributes
    ----------
    piece : bytes
        What is written of it in place of the picked token, to its end; empty for nothing.
    why : str
        Why the value is cut; empty if it is not.
    ends : bool
        Whether the number ends before the picked token, and another one is picked.
    """

    piece: bytes = b""
    why: str = ""
    ends: bool = False


async def number_in_full(branch: Branch, state: ValueState, pick: Pick, conversation: str) -> WholeNumber | None:
    """Return what becomes of a number; None if the picked token writes what the model wants.

    Parameters
    ----------
    conversation : str
        Where ``1,000`` may stand, which is one number.
    """
    if (here := state.number) is None:
        return None
    if pick.token == pick.logits.best:
        return await _thousands(branch, state, pick, here, conversation)
    path, piece = await _wanted(branch, pick.logits.best)
    found, picked = _GOES_ON.match(piece), pick.piece.decode(errors="replace")
    if found is None or (not here.written and not re.search("[0-9.]|^[-+]$", found[0])):
        if not here.written or picked[:1] not in NUMBER_CHARACTERS:
            return None
        if here.may_end:
            return WholeNumber(ends=True)
        return WholeNumber(why=_told(here.written))
    goes_on = found[0]
    if picked.startswith(goes_on):
        return None
    if state.kept(goes_on.encode()) and state.ends_number(goes_on.encode()):
        return WholeNumber(goes_on.encode())
    written = here.written + goes_on
    if found.end() == len(piece):
        written += await _rest(branch, path)
    return _in_other_digits(state, here, written) or WholeNumber(piece=pick.piece, why=_told(written))


def _in_other_digits(state: ValueState, here: NumberHere, written: str) -> WholeNumber | None:
    """Return the number that the model writes in a spelling that may stand there, if there is one."""
    for spelling in (written, *_spellings(written)):
        rest = spelling.removeprefix(here.written).encode()
        if spelling == here.written and here.may_end:  # such as 3.0 where an integer is wanted
            return WholeNumber(ends=True)
        if rest and spelling.startswith(here.written) and state.number_kept(rest) and state.ends_number(rest):
            return WholeNumber(rest)
    return None


async def _thousands(
    branch: Branch, state: ValueState, pick: Pick, here: NumberHere, conversation: str
) -> WholeNumber | None:
    """Return the rest of a number with commas between thousands, which would end before the first; None for others.

    It is one if it stands so in the conversation, and the model writes digits behind the comma.
    """
    if not pick.piece.startswith(b",") or not here.may_end or state(b",1") is not None:
        return None
    digits = re.escape(here.written)
    if not re.search(rf"(?<![0-9,]){digits},[0-9]{{3}}(?![0-9])", conversation):
        return None
    rest = pick.piece.decode(errors="replace") + await _rest(branch, [pick.token], _IN_THOUSANDS)
    if not re.fullmatch(r"(?:,[0-9]{3})+(?:\.[0-9]+)?", rest):
        return None
    written = here.written + rest.replace(",", "")
    return _in_other_digits(state, here, written) or WholeNumber(piece=pick.piece, why=_told(here.written + rest))


def _told(number: str) -> str:
    return f"the model writes {number!r:.60}, which the documentation does not allow here"


async def _wanted(branch: Branch, token: int) -> tuple[list[int], str]:
    """Return a token with those that the model writes behind it up to more than the pending text, and what more."""
    path, text, pending = [token], branch.table.texts[token] or b"", branch.pending.text
    while text and pending.startswith(text) and len(path) < _MOST_TOKENS:
        [behind] = await branch.fed.after([path])
        path.append(behind.best)
        text += branch.table.texts[behind.best] or b""
    piece = text[len(pending) :].decode(errors="replace") if text.startswith(pending) else ""
    return path, "".join(str(unicodedata.digit(c)) if c.isdecimal() else _SIGNS.get(c, c) for c in piece)


async def _rest(branch: Branch, path: list[int], pattern: re.Pattern[str] = _GOES_ON) -> str:
    """Return how the model goes on with a number behind some tokens."""
    path, rest = [*path], ""
    while len(path) < _MOST_TOKENS:
        [behind] = await branch.fed.after([path])
        piece = (branch.table.texts[behind.best] or b"").decode(errors="replace")
        found = pattern.match(piece)
        if found is None:
            break
        rest += found[0]
        if found.end() < len(piece):
            break
        path.append(behind.best)
    return rest


def _spellings(written: str) -> list[str]:
    """Return the number in other spellings; none if it is no number."""
    if not _NUMBER.fullmatch(written) or len(written) > _MOST_DIGITS:
        return []
    try:
        number = Decimal(written)
    except InvalidOperation:
        return []
    if abs(number.adjusted()) > _LARGEST:
        return []
    sign, digits, _ = number.as_tuple()
    plain = f"{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    fraction = "".join(map(str, digits)).rstrip("0") or "0"
    return [plain, f"{'-' * sign}0.{fraction}e{number.adjusted() + 1}"]
