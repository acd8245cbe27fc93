"""A model that wants exactly one text in the tokenizer's own tokens, and is noise everywhere else."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.testing import SyntheticEngine

WANTED, SECOND = 100.0, 50.0
"""Added to the next token of the wanted text, and of a text that is the second choice."""

ROWS = 64
_LONGEST = 16


class Left(NamedTuple):
    """The first place where kept tokens are not the wanted ones.

    Attributes
    ----------
    number : int
        How many tokens of the wanted ones stand before it.
    taken : int
        The token there.
    """

    number: int
    taken: int


def noise(texts: Sequence[bytes | None], seed: int = 0) -> torch.Tensor:
    """Rows from N(0, 1), every second one with a bias to long tokens; shape (ROWS, vocabulary), float32."""
    rows = torch.randn(ROWS, len(texts), generator=torch.Generator().manual_seed(seed))
    rows[1::2] += torch.tensor([float(min(len(text or b""), _LONGEST)) for text in texts])
    return rows


class Wanter(SyntheticEngine):
    """Scores of such a model, and whether the tokens that it had to read as final are those that it wants.

    Parameters
    ----------
    rows : torch.Tensor
        ``noise``; which row it is depends on the context.
    wanted : sequence of int
        Tokens of prompt, call and what is behind it.
    second : sequence of sequences of int
        Tokens of the texts that it likes second best.

    Attributes
    ----------
    left : Left or None
        Where it was made to leave the wanted tokens; tokens that were only tried do not count.
    """

    def __init__(self, rows: torch.Tensor, wanted: Sequence[int], second: Sequence[Sequence[int]] = ()) -> None:
        super().__init__()
        self._rows = rows
        self._paths = [(tuple(wanted), WANTED), *((tuple(ids), SECOND) for ids in second)]
        self.left: Left | None = None

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        logits = self._rows[hash(tokens[-_LONGEST:]) % ROWS].clone()
        for ids, weight in reversed(self._paths):
            if len(tokens) < len(ids) and tokens == ids[: len(tokens)]:
                logits[ids[len(tokens)]] = weight
        return NextTokenLogits(logits)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        for feed in feeds:
            before, _ = self._contexts[feed.branch]
            kept = (*before, *feed.tokens[: len(feed.tokens) - feed.ahead])
            self.left = self.left or first_left(self._paths[0][0], kept)
        return super().extend(feeds)


def first_left(wanted: Sequence[int], kept: Sequence[int]) -> Left | None:
    """Where ``kept`` is no beginning of ``wanted``."""
    for number, (token, other) in enumerate(zip(kept, wanted, strict=False)):
        if token != other:
            return Left(number, token)
    return Left(len(wanted), kept[len(wanted)]) if len(kept) > len(wanted) else None
