"""Numbers to their ends: what comes out is the number that the model writes, or the call says that it is not.

Held to what is permitted, a model that writes ``1.5e3`` where an integer is wanted would write ``1``, and one that
writes ``150`` where 100 is the most ``15``. So where the likeliest token goes on with a number and is refused, the
number is read on to its end. If it may stand there in another spelling, it is written so; else the value is cut::

    integer             1      wants .5e3    1500         in other digits
    from 0 to 1                wants 5e-5    0.00005
    integer             1      wants .5      1 is cut     no integer begins with 1.5
    at most 100         15     wants 0       15 is cut
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from lookup.grammar.number_here import NUMBER_CHARACTERS
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.tokens.branch import Branch, Pick

_GOES_ON: Final = re.compile(r"(?:[-+0-9._*/]|[eE](?![A-Za-z])|[xX](?=[0-9A-Fa-f]|$))+")
"""What belongs to a number, or changes it: digits, an exponent, a sum, a date; no unit or comma."""
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_MOST_TOKENS: Final = 24
"""Tokens of a number that are read on."""
_MOST_DIGITS: Final = 320
_LARGEST: Final = 1_000
"""Exponents beyond it are of no number that any schema allows."""


class WholeNumber(NamedTuple):
    """What becomes of a number with which the model goes on.

    Attributes
    ----------
    piece : bytes
        What is written of it in place of the picked token, to its end; empty for the picked token.
    why : str
        Why the value is cut; empty if it is not.
    """

    piece: bytes
    why: str = ""


async def number_in_full(branch: Branch, state: ValueState, pick: Pick) -> WholeNumber | None:
    """Return what is written of the number with which the model goes on; None if the picked token writes that."""
    if pick.token == pick.logits.best or (here := state.number) is None:
        return None
    path, piece = await _wanted(branch, pick.logits.best)
    found = _GOES_ON.match(piece)
    if found is None or (not here.written and not re.search("[0-9.]|^[-+]$", found[0])):
        return None
    goes_on, picked = found[0], pick.piece.decode(errors="replace")
    if picked.startswith(goes_on):
        return None
    if state.kept(goes_on.encode()) and state.ends_number(goes_on.encode()):
        return WholeNumber(goes_on.encode())
    written = here.written + goes_on
    if found.end() == len(piece):
        written += await _rest(branch, path)
    for spelling in (written, *_spellings(written)):
        rest = spelling.removeprefix(here.written).encode()
        if spelling == here.written and here.may_end and picked[:1] not in NUMBER_CHARACTERS:
            return None  # such as 3.0 where an integer is wanted
        if rest and spelling.startswith(here.written) and state.number_kept(rest) and state.ends_number(rest):
            return WholeNumber(rest)
    return WholeNumber(b"", f"the model writes {written!r:.60}, which the documentation does not allow here")


async def _wanted(branch: Branch, token: int) -> tuple[list[int], str]:
    """Return a token with those that the model writes behind it up to more than the pending text, and what more."""
    path, text, pending = [token], branch.table.texts[token] or b"", branch.pending.text
    while text and pending.startswith(text) and len(path) < _MOST_TOKENS:
        [behind] = await branch.fed.after([path])
        path.append(behind.best)
        text += branch.table.texts[behind.best] or b""
    return path, text[len(pending) :].decode(errors="replace") if text.startswith(pending) else ""


async def _rest(branch: Branch, path: list[int]) -> str:
    """Return how the model goes on with a number behind some tokens."""
    path, rest = [*path], ""
    while len(path) < _MOST_TOKENS:
        [behind] = await branch.fed.after([path])
        piece = (branch.table.texts[behind.best] or b"").decode(errors="replace")
        found = _GOES_ON.match(piece)
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
