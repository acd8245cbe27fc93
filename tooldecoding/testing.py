"""A decoder whose logits are made up, for checks of what it writes without what a model would."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import BranchTable, Engine, Feed, Need
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.prefix_cache import CachedPrompt


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

    def __init__(self, can_roll_back: bool = True) -> None:
        self.can_roll_back = can_roll_back
        self._branches: BranchTable[_Context] = BranchTable()

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """Return the logits behind ``tokens``."""
        raise TypeError(f"{type(self).__name__} has no next_logits")

    def bytes_for(self, needs: Sequence[Need]) -> float:
        return 0

    def open(self, count: int) -> list[int]:
        return [self._branches.add(_Context()) for _ in range(count)]

    def fork(self, branch: int) -> int:
        return self._branches.add(replace(self._branches[branch]), branch)

    def close(self, root: int) -> None:
        """See Engine; what was written stays, for tests to read."""

    def release(self, branch: int) -> None:
        """See Engine; as ``close``."""

    def drop(self, branch: int, count: int) -> None:
        self._branches[branch].tokens = self._branches[branch].tokens[:-count]

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        answers = []
        for feed in feeds:
            branch = self._branches[feed.branch]
            branch.tokens = tokens = (*branch.tokens, *feed.tokens)
            branch.prompt.usage.positions += len(feed.tokens)
            answers.append([self.next_logits(tokens[: len(tokens) - left]) for left in range(feed.answers - 1, -1, -1)])
        for prompt in {self._branches[feed.branch].prompt for feed in feeds}:
            prompt.usage.forward_passes += 1
        return answers
