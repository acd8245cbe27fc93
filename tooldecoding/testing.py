"""Models for tests of the decoder's laws: scores that no real model would give."""

import hashlib
from collections.abc import Callable, Sequence

import torch

from tooldecoding.engines.engine import Feed, Usage
from tooldecoding.engines.logits import NextTokenLogits

Bias = Callable[[bytes], float]
"""Token text -> what to add to its random score."""


Continuation = Callable[[str], str]
"""Text so far -> the text that the model wants to write next."""


class SyntheticEngine:
    """Branches whose scores are a function of their tokens alone, as those of a deterministic model."""

    def __init__(self, can_drop: bool = True) -> None:
        self.can_drop = can_drop
        self._contexts: list[tuple[tuple[int, ...], Usage]] = []

    def scores(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """Scores behind ``tokens``."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def open(self, count: int) -> list[int]:
        """See Engine."""
        first = len(self._contexts)
        self._contexts += [((), Usage()) for _ in range(count)]
        return list(range(first, first + count))

    def fork(self, branch: int) -> int:
        """See Engine."""
        self._contexts.append(self._contexts[branch])
        return len(self._contexts) - 1

    def release(self, branch: int) -> None:
        """See Engine."""

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """None; see Engine."""
        return 0

    def drop(self, branch: int, count: int) -> None:
        """See Engine."""
        tokens, usage = self._contexts[branch]
        self._contexts[branch] = tokens[:-count], usage

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._contexts[branch][1]

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        answers = []
        for feed in feeds:
            before, usage = self._contexts[feed.branch]
            tokens = (*before, *feed.tokens)
            self._contexts[feed.branch] = tokens, usage
            usage.positions += len(feed.tokens)
            answers.append([self.scores(tokens[: len(tokens) - left]) for left in range(feed.ahead, -1, -1)])
        for usage in {id(u): u for _, u in (self._contexts[f.branch] for f in feeds)}.values():
            usage.forward_passes += 1
        return answers


class RandomEngine(SyntheticEngine):
    """NextTokenLogits drawn from a seeded normal distribution for each context, plus a bias by token text.

    Parameters
    ----------
    texts : sequence of (bytes or None)
        Token texts (``TokenTable.texts``); special tokens get no bias.
    """

    def __init__(
        self, texts: Sequence[bytes | None], seed: int = 0, bias: Bias | None = None, can_drop: bool = True
    ) -> None:
        super().__init__(can_drop)
        self._seed = seed
        self._bias = torch.tensor([bias(t) if bias and t else 0.0 for t in texts])

    def scores(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        digest = hashlib.blake2b(repr((self._seed, tokens[-64:])).encode(), digest_size=8).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest) >> 1)
        return NextTokenLogits(torch.randn(len(self._bias), generator=generator) + self._bias)


class ScriptedEngine(SyntheticEngine):
    """A model that wants to write what a function of the text so far says, in the longest tokens that fit."""

    def __init__(self, texts: Sequence[bytes | None], continuation: Continuation, can_drop: bool = True) -> None:
        super().__init__(can_drop)
        self._texts = texts
        self._continuation = continuation

    def scores(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        written = b"".join(self._texts[t] or b"" for t in tokens).decode(errors="replace")
        wanted = self._continuation(written).encode()
        logits = [float(len(t)) if t and wanted.startswith(t) else -1.0 for t in self._texts]
        return NextTokenLogits(torch.tensor(logits))
