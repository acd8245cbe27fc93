r"""Escapes that models forget: of an apostrophe between single quotes, and of backslashes that the conversation has.

Held to what is permitted, a model that writes ``'O'Brien'`` would write ``'O'``, and of ``"C:\Users\bob\new.txt"`` it
would make a text with a backspace and a line break. The first is known by the letter behind it. For the second, what
stands in the conversation decides: a text that is copied from there, with single backslashes, has these backslashes.
"""

import itertools
import re
from typing import Final

from tooldecoding.decoding.value_state import ValueState, begins_with_letter
from tooldecoding.tokens.branch import Branch, Pick

_COMPARED: Final = 48
"""Characters of a text before a backslash that are looked for in the conversation."""
_SHOWN: Final = 3
"""Characters behind a backslash that must be known; else the next token is looked at."""
_LEAST: Final = 4
"""Characters of a copy that could be an escape: ``\\n`` alone is a line break."""
_AMBIGUOUS: Final = frozenset("bfnrtu/")
"""What stands behind a backslash in an escape."""
_MOST_PLACES: Final = 64
"""Places in the conversation that are looked at; a hostile one may have a text thousands of times."""
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_UP_TO_QUOTE: Final = re.compile(r"[^\"'\n]*")
_IN_JSON: Final = re.compile(r"[:\[,{]\s*\"[^\"]*$")


async def with_escapes(branch: Branch, state: ValueState, pick: Pick, conversation: str) -> bytes | None:
    """Return what the model wants to write next with the escape that it forgets; None if it forgets none."""
    wanted, pending = branch.table.texts[pick.logits.best] or b"", branch.pending.text
    if not wanted.startswith(pending):
        return None
    piece = wanted[len(pending) :]
    if b"\\" in piece:
        return await _backslashes(branch, state, pick, piece, conversation)
    return await _apostrophe(branch, state, pick, piece)


async def _apostrophe(branch: Branch, state: ValueState, pick: Pick, piece: bytes) -> bytes | None:
    """Return an apostrophe with its escape: ``'m`` behind ``'I``, or ``'`` behind ``'O`` if a letter is likeliest."""
    if escaped := _of_word(state, piece):
        return escaped
    if pick.piece != piece or not branch.fed.engine.can_roll_back or not (escaped := _of_word(state, piece + b"a")):
        return None
    [[behind]] = await branch.fed.behind([(pick.token,)])
    return escaped[:-1] if begins_with_letter(branch.table.texts[behind.best] or b"") else None


def _of_word(state: ValueState, piece: bytes) -> bytes | None:
    """Return a piece with the apostrophe of a word escaped, if it is only admitted so: ``\\'m``."""
    begun, quote, rest = piece.partition(b"'")
    before = (state.text + begun.decode(errors="replace"))[-1:]
    if not (quote and before.isalnum() and begins_with_letter(rest)) or state(piece) is not None:
        return None
    return state.kept(begun + b"\\'" + rest)


async def _backslashes(branch: Branch, state: ValueState, pick: Pick, piece: bytes, conversation: str) -> bytes | None:
    """Return a piece with its backslashes doubled, if the model copies them from the conversation as they stand there.

    Worked example: the user writes ``C:\\new``, and the model ``"C:`` and then ``\\new``. The text so far, ``C:``, with
    what comes, ``\\new``, stands in the conversation, so a backslash is meant and no line break.
    """
    if "\\" not in conversation or not state.has_escapes:
        return None
    coming = piece.decode(errors="replace")
    if len(coming.rpartition("\\")[2]) < _SHOWN:
        [behind] = await branch.fed.after([(pick.logits.best,)])
        coming += (branch.table.texts[behind.best] or b"").decode(errors="replace")
    if not _is_copy(state.text, coming, conversation):
        return None
    if piece.endswith(b"\\") and coming[len(piece) :].startswith("\\"):
        piece += b"\\"  # both of a network path, which the model would take for its own
    return state.kept(piece.replace(b"\\", b"\\\\"))


def _is_copy(written: str, coming: str, conversation: str) -> bool:
    """Whether a literal with what comes behind it has backslashes as they stand in the conversation."""
    text = _ESCAPE.sub(lambda escape: "\\" if escape[1] == "\\" else '"', written)
    text = re.split("[\"']", text)[-1][-_COMPARED:]
    copied = _UP_TO_QUOTE.match(coming)
    assert copied is not None
    before, _, rest = copied[0].partition("\\")
    if rest.startswith("\\"):  # the model escapes by itself, but where a network path begins
        return not text + before and rest[1:2] != "\\" and _stands("\\\\" + rest[1:], conversation)
    is_long = len(text + copied[0]) >= _LEAST or "\\" in text or rest[:1] not in _AMBIGUOUS
    return is_long and _stands(text + copied[0], conversation)


def _stands(copy: str, conversation: str) -> bool:
    """Whether a text stands in the conversation, other than in a text of JSON, where backslashes are escapes."""
    places = itertools.islice(re.finditer(re.escape(copy), conversation), _MOST_PLACES)
    return any(
        conversation[place.end() : place.end() + 1] not in ('"', "\\") * copy.endswith("\\")
        and not _IN_JSON.search(conversation, max(0, place.start() - 1_000), place.start())
        for place in places
    )
