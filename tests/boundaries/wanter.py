"""A model that wants exactly one text in the tokenizer's own tokens, and is noise everywhere else."""

from collections.abc import Sequence

import torch

from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.testing import SyntheticEngine

WANTED, SECOND = 100.0, 50.0
"""Added to the next token of the wanted text, and of a text that is the second choice."""

ROWS = 64
_LONGEST = 16


def noise(texts: Sequence[bytes | None], seed: int = 0) -> torch.Tensor:
    """Rows from N(0, 1), every second one with a bias to long tokens; shape (ROWS, vocabulary), float32."""
    rows = torch.randn(ROWS, len(texts), generator=torch.Generator().manual_seed(seed))
    rows[1::2] += torch.tensor([float(min(len(text or b""), _LONGEST)) for text in texts])
    return rows


class Wanter(SyntheticEngine):
    """Scores of such a model of whole texts' tokens, a wanted one and second best ones; ``rows`` are ``noise``.

    ``left`` says where it was made to leave the wanted tokens; tokens that were only tried do not count.
    """

    def __init__(self, rows: torch.Tensor, wanted: Sequence[int], second: Sequence[Sequence[int]] = ()) -> None:
        super().__init__()
        self._rows = rows
        self._paths = [(tuple(wanted), WANTED), *((tuple(ids), SECOND) for ids in second)]
        self.left = ""

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
            before = self._branches[feed.branch].tokens
            kept = (*before, *feed.tokens[: len(feed.tokens) - feed.ahead])
            wanted = self._paths[0][0][: len(kept)]
            if kept != wanted and not self.left:
                self.left = f"kept the tokens {kept[-9:]} where {wanted[-9:]} were wanted"
        return super().extend(feeds)
