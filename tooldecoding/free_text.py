"""Text mode: the model writes anything until it opens a call, ends its turn, or reaches a limit."""

from typing import NamedTuple

from tooldecoding.branch import Branch
from tooldecoding.steps import Steps


class FreeText(NamedTuple):
    """What was written in text mode.

    Attributes
    ----------
    text : str
        What stands before the opener, the stop or the end.
    behind : bytes or None
        What the last token, which is pending, goes on with behind the opener; None if the opener did not come.
    """

    text: str
    behind: bytes | None


def free_text(branch: Branch, opener: str | None, stop: str | None, limit: int) -> Steps[FreeText]:
    """Let the model write until ``opener`` stands there, before ``stop``, or ``limit`` tokens.

    ``stop`` counts once there is more than white space before it; what the last token writes from there on is taken
    back.
    """
    written = b""
    for _ in range(limit):
        piece = yield from branch.free_token()
        if not piece:
            break
        written += piece
        end = _find(written, stop, len(written) - len(written.lstrip()))
        place = _find(written, opener, 0)
        if opener and place >= 0 and (end < 0 or place < end):
            return FreeText(written[:place].decode(errors="replace"), written[place + len(opener.encode()) :])
        if end >= 0:
            branch.trim(min(len(written) - end, len(piece)))
            return FreeText(written[:end].decode(errors="replace"), None)
    return FreeText(written.decode(errors="replace"), None)


def _find(written: bytes, wanted: str | None, start: int) -> int:
    return written.find(wanted.encode(), start) if wanted else -1
