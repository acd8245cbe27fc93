"""Models for tests of the decoder's laws: logits that no real model would give."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import BranchTable, Engine, Feed, Need
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.prefix_cache import CachedPrompt

Bias = Callable[[bytes], float]
"""Token text -> what to add to its random logit."""

Continuation = Callable[[str], str]
"""Text so far -> the text that the model wants to write next."""


class SyntheticDecoder(ToolDecoder):
    """A decoder with the engine that was assigned last to ``engine``, instead of its model."""

    engine: Engine

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **fields: Any) -> None:
        super().__init__(model, tokenizer, engine_factory=lambda: self.engine, **fields)


@dataclass
class _Context:
    tokens: tuple[int, ...] = ()
    prompt: CachedPrompt = field(default_factory=CachedPrompt)


class SyntheticEngine(Engine):
    """Branches whose logits depend only on their tokens, as those of a deterministic model."""

    chunk: int | None = None
    allocated_bytes = 0
    has_spare_positions = False

    def __init__(self, can_drop: bool = True) -> None:
        self.can_drop = can_drop
        self._branches: BranchTable[_Context] = BranchTable()

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """Return the logits behind ``tokens``."""
        raise TypeError(f"{type(self).__name__} has no next_logits")

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine."""
        return 0

    def open(self, count: int) -> list[int]:
        """See Engine."""
        return [self._branches.add(_Context()) for _ in range(count)]

    def fork(self, branch: int) -> int:
        """See Engine."""
        return self._branches.add(replace(self._branches[branch]), branch)

    def close(self, root: int) -> None:
        """See Engine; what was written stays, for tests to read."""

    def release(self, branch: int) -> None:
        """See Engine; as ``close``."""

    def drop(self, branch: int, count: int) -> None:
        """See Engine."""
        self._branches[branch].tokens = self._branches[branch].tokens[:-count]

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        answers = []
        for feed in feeds:
            branch = self._branches[feed.branch]
            branch.tokens = tokens = (*branch.tokens, *feed.tokens)
            branch.prompt.usage.positions += len(feed.tokens)
            answers.append([self.next_logits(tokens[: len(tokens) - left]) for left in range(feed.answers - 1, -1, -1)])
        for prompt in {self._branches[feed.branch].prompt for feed in feeds}:
            prompt.usage.forward_passes += 1
        return answers


class RandomEngine(SyntheticEngine):
    """Logits drawn from a seeded normal distribution for each context, plus a bias by token text.

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

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
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
        self._tokens: dict[bytes, list[int]] = {}
        for token, text in enumerate(texts):
            if text:
                self._tokens.setdefault(text, []).append(token)
        self._longest = max(map(len, self._tokens))

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        written = b"".join(self._texts[t] or b"" for t in tokens).decode(errors="replace")
        wanted = self._continuation(written).encode()
        logits = torch.full((len(self._texts),), -1.0)
        for size in range(1, min(len(wanted), self._longest) + 1):
            logits[self._tokens.get(wanted[:size], [])] = 20.0 + size
        return NextTokenLogits(logits)
