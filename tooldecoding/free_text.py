"""Text mode: the model writes anything until it opens a call, ends its turn, or reaches a limit."""

from typing import NamedTuple

from tooldecoding.branch import Branch, Pick
from tooldecoding.steps import Steps


class Opening(NamedTuple):
    """Where the opener of calls came.

    Attributes
    ----------
    pick : Pick
        The token in which the opener ends, not settled.
    behind : bytes
        What that token goes on with behind the opener.
    """

    pick: Pick
    behind: bytes


class FreeText(NamedTuple):
    """What was written in text mode.

    Attributes
    ----------
    text : str
        What stands before the opener, the stop or the end.
    opening : Opening or None
        None if the opener did not come.
    """

    text: str
    opening: Opening | None


def free_text(branch: Branch, opener: str | None, stop: str | None, limit: int) -> Steps[FreeText]:
    """Let the model write until ``opener`` stands there, before ``stop``, or ``limit`` tokens.

    ``stop`` counts once there is more than white space before it; what the last token writes before it is kept.
    """
    written = b""
    for _ in range(limit):
        pick = yield from branch.free_token()
        if not pick.piece:
            break
        written += pick.piece
        end = _find(written, stop, len(written) - len(written.lstrip()))
        place = _find(written, opener, 0)
        if opener and place >= 0 and (end < 0 or place < end):
            opening = Opening(pick, written[place + len(opener.encode()) :])
            return FreeText(written[:place].decode(errors="replace"), opening)
        if end >= 0:
            branch.keep(pick.piece[: max(0, len(pick.piece) - (len(written) - end))], "free")
            return FreeText(written[:end].decode(errors="replace"), None)
        branch.take(pick, "free")
    return FreeText(written.decode(errors="replace"), None)


def _find(written: bytes, wanted: str | None, start: int) -> int:
    return written.find(wanted.encode(), start) if wanted else -1
