"""Text mode: the model writes anything until it opens a call, ends its turn, or reaches a limit."""

from collections.abc import Callable
from typing import NamedTuple

from tooldecoding.branch import Branch, Pick
from tooldecoding.prepared_tools import PreparedTools
from tooldecoding.steps import Steps

Trigger = Callable[[bytes], int | None]
"""Text behind an opener -> how many bytes of it open a call, None if it does not."""


class Opening(NamedTuple):
    """Where a call begins.

    Attributes
    ----------
    pick : Pick
        The token by which it was opened, not settled.
    opened : bytes
        What stands behind the opener and opened the call.
    behind : bytes
        What the token goes on with behind that.
    """

    pick: Pick
    opened: bytes
    behind: bytes


class FreeText(NamedTuple):
    """What was written in text mode.

    Attributes
    ----------
    text : str
        What stands before the opener, the stop or the end.
    opening : Opening or None
        None if no call was opened.
    """

    text: str
    opening: Opening | None


def free_text(
    branch: Branch, opener: str, trigger: Trigger | None, stop: str | None, limit: int
) -> Steps[FreeText]:
    """Let the model write until it opens a call, before ``stop``, or ``limit`` tokens.

    Every token is the one that the model wants most: until a call is opened, the text is that of greedy decoding
    without constraint. ``stop`` counts once there is more than white space before it; what the last token writes
    before it is kept.

    Parameters
    ----------
    trigger : Trigger, optional
        Without it no call is opened.
    """
    written, mark = b"", opener.encode()
    places: list[int] = []
    for _ in range(limit):
        pick = yield from branch.free_token()
        if not pick.piece:
            break
        searched, written = max(0, len(written) - len(mark) + 1), written + pick.piece
        end = _find(written, stop, len(written) - len(written.lstrip()))
        while trigger and (place := written.find(mark, searched)) >= 0:
            places.append(place)
            searched = place + 1
        for place in places:
            begin = place + len(mark)
            size = trigger(written[begin:]) if trigger and (end < 0 or place < end) else None
            if size is not None:
                opening = Opening(pick, written[begin : begin + size], written[begin + size :])
                return FreeText(written[:place].decode(errors="replace"), opening)
        if end >= 0:
            branch.keep(pick.piece[: max(0, len(pick.piece) - (len(written) - end))], "free")
            return FreeText(written[:end].decode(errors="replace"), None)
        branch.take(pick, "free")
    return FreeText(written.decode(errors="replace"), None)


def names_a_tool(tools: PreparedTools, bracket: str) -> Trigger:
    """A call is opened where the text behind the opener goes on with a documented name and its bracket."""

    def trigger(behind: bytes) -> int | None:
        tool = tools.opened(behind)
        return None if tool is None else len((tool.spec.name + bracket).encode())

    return trigger


def _find(written: bytes, wanted: str | None, start: int) -> int:
    return written.find(wanted.encode(), start) if wanted else -1
