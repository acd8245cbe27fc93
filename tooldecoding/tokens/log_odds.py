"""A choice with a way out: whether the model goes on (a further call) or leaves (the end of all calls).

What the model likes best of what is permitted says little, for it may want none of it. Behind a call Qwen2.5-Coder
writes a newline, and then the end of its turn::

    </tool_call> ── "\\n" 1.00 ──┬── <|endoftext|> 1.00    leaves: white space and then an end is an end
                               └── <tool_call>   1e-12   goes on

Token by token the newline begins the opener of a further call, and no end. So both are weighed with all that the model
would write behind them, in every spelling: the probabilities of all texts that go on against those of all others.
"""

import math
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

import numpy as np

from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.tokens.branch import Branch

Verdict = Literal["on", "out", "open"]
"""Whether a text goes on, leaves, or may still do both."""

_LIKELY: Final = 64
"""So many tokens are read at a place; all others leave."""
_WIDTH: Final = 4
"""So many open texts are looked behind in one pass."""
_FAR: Final = 128
"""Behind so many bytes, nothing that is still open is looked at further: white space without an end leaves."""
_NEGLIGIBLE: Final = 0.05
"""What is open is looked behind if it is a larger part of the likeliest that is."""


class _Open(NamedTuple):
    """A text that may still go on or leave: its tokens, its bytes with the pending ones, and its probability."""

    path: tuple[int, ...]
    written: bytes
    probability: float


async def log_odds_of_going_on(branch: Branch, verdict: Callable[[bytes], Verdict], expected: str) -> float:
    """Return the natural log of how much likelier the model goes on behind the pending text than that it leaves.

    Nothing is written. A special token without a text leaves, and so does every text that ``verdict`` does not know.
    Costs a pass, if the logits are not known, and one for each white space that the model would write before it shows
    what it wants; none for ``expected``, if the engine can drop tokens.

    Parameters
    ----------
    verdict : callable
        Says what a text behind the pending one does; never "open" for a text of which no longer one goes on.
    expected : str
        What models are likely to write before it shows.
    """
    logits = await branch.compute(expected)
    weigher = _Weigher(branch, verdict)
    weigher.read(_Open((), b"", 1.0), logits)
    for _ in range(len(branch.pending.text) + _FAR):
        looked = weigher.next_open()
        if not looked:
            break
        for place, logits in zip(looked, await branch.fed.after([o.path for o in looked]), strict=True):
            weigher.read(place, logits)
    return weigher.log_odds


class _Weigher:
    """Adds up the probabilities of texts that go on, that leave, and that are open."""

    def __init__(self, branch: Branch, verdict: Callable[[bytes], Verdict]) -> None:
        self._table = branch.table
        self._pending = branch.pending.text
        self._verdict = verdict
        self._weights = {"on": 0.0, "out": 0.0}
        self._open: list[_Open] = []

    @property
    def log_odds(self) -> float:
        """What is still open counts for neither; it leaves if nothing goes on."""
        on, out = self._weights["on"], self._weights["out"]
        if not on or not out:
            return math.inf if on else -math.inf
        return math.log(on) - math.log(out)

    def next_open(self) -> list[_Open]:
        """Return the likeliest open texts, which are then read; none if they are too long or could change nothing."""
        most, left = len(self._pending) + _FAR, sum(o.probability for o in self._open)
        if left < abs(self._weights["on"] - self._weights["out"]):
            return []
        self._open.sort(key=lambda o: (len(o.written) > most, -o.probability))
        looked = [o for o in self._open[:_WIDTH] if len(o.written) <= most]
        looked = [o for o in looked if o.probability > _NEGLIGIBLE * looked[0].probability]
        self._open = self._open[len(looked) :]
        return looked

    def read(self, place: _Open, logits: NextTokenLogits) -> None:
        """Weigh the tokens behind a text; within the pending bytes only those that write them."""
        left = self._pending[len(place.written) :]
        if left:
            low, high = self._table.stretch(left)
            within = np.union1d(self._table.beginnings(left), self._table.sorted_ids[low:high])
            likely = logits.likeliest_among(within, _LIKELY)
        else:
            likely = logits.likeliest(_LIKELY)
            self._weights["out"] += place.probability * max(0.0, 1 - sum(share for _, share in likely))
        for token, share in likely:
            text, probability = self._table.texts[token], place.probability * share
            written = place.written + (text or b"")
            verdict = self._verdict(written[len(self._pending) :]) if text else "out"
            if verdict == "open":
                self._open.append(_Open((*place.path, token), written, probability))
            else:
                self._weights[verdict] += probability
