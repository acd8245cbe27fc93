"""Recurrent engine: one state per branch, for models with a recurrent state (Mamba layers and hybrids)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import copy
import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import PreTrainedModel

from tooldecoding.engines.engine import BranchId, BranchTable, Engine, Feed, Need
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.prefix_cache import CachedPrompt
from tooldecoding.models.sources import input_device


@dataclass
class _RecurrentBranch:
    prompt: CachedPrompt = field(default_factory=CachedPrompt)
    """Forks share it. Nothing is cached: a state stands for the whole prompt, so a prefix cannot be taken from it."""
    length: int = 0
    cache: Any = None


class RecurrentEngine(Engine):
    """See Engine. Each branch has its own row and cache, and is fed token by token behind the prompt.

    A state cannot forget a token, so nothing is fed ahead. It cannot skip padding, so rows are not batched.
    """

    can_roll_back = has_spare_positions = False
    chunk: int | None = None

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._device = input_device(model)
        accepted = inspect.signature(model.forward).parameters
        self._cache_name = "cache_params" if "cache_params" in accepted else "past_key_values"
        self._takes_positions = "position_ids" in accepted
        self._branches: BranchTable[_RecurrentBranch] = BranchTable()

    @property
    def allocated_bytes(self) -> int:
        return sum(cache_bytes(branch.cache) for branch in self._branches.values())

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine. A state does not grow by the position: each branch takes what one takes now."""
        now = len(self._branches) and self.allocated_bytes / len(self._branches)
        return now * sum(max(1, need.branches) for need in needs) or math.inf

    def open(self, count: int) -> list[BranchId]:
        return [self._branches.add(_RecurrentBranch()) for _ in range(count)]

    def fork(self, branch: BranchId) -> BranchId:
        parent = self._branches[branch]
        return self._branches.add(replace(parent, cache=copy.deepcopy(parent.cache)), branch)

    def drop(self, branch: BranchId, count: int) -> None:
        """Never possible; see ``can_roll_back``."""
        raise RuntimeError(f"branch {branch}: a recurrent state cannot forget a token")

    @torch.inference_mode()
    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. Every feed takes its own forward passes."""
        return [[self._feed(feed)] for feed in feeds]

    def _feed(self, feed: Feed) -> NextTokenLogits:
        branch = self._branches[feed.branch]
        usage = branch.prompt.usage
        pieces = [feed.tokens] if branch.cache is None else [[token] for token in feed.tokens]
        for piece in pieces:
            arguments: dict[str, Any] = {"input_ids": torch.tensor([list(piece)], device=self._device)}
            if branch.cache is not None:
                arguments[self._cache_name] = branch.cache
            if self._takes_positions:
                positions = torch.arange(branch.length, branch.length + len(piece), device=self._device)
                arguments["position_ids"] = positions[None]
            output = self._model(**arguments, use_cache=True)
            branch.cache = getattr(output, self._cache_name)
            branch.length += len(piece)
            usage.forward_passes += 1
            usage.positions += len(piece)
        live = [other.cache for other in self._branches.values() if other.prompt.usage is usage]
        usage.cache_bytes = max(usage.cache_bytes, sum(cache_bytes(cache) for cache in live))
        return NextTokenLogits(output.logits[0, -1])


def cache_bytes(cache: Any) -> int:
    """Return the bytes of all tensors in a cache's layers."""
    layers = getattr(cache, "layers", None) or []
    tensors = [t for layer in layers for t in vars(layer).values() if isinstance(t, torch.Tensor)]
    return sum(t.numel() * t.element_size() for t in tensors)
