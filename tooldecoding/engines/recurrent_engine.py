"""Branches of models with a recurrent state (Mamba layers and hybrids): a cache of its own for each."""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import PreTrainedModel

from tooldecoding.engines.engine import Feed, Usage
from tooldecoding.engines.logits import NextTokenLogits


@dataclass
class _Branch:
    prompt: int
    length: int = 0
    cache: Any = None


class RecurrentEngine:
    """One row and one cache per branch, fed token by token behind the prompt.

    A state cannot forget a token, so nothing is held; it cannot skip padding, so rows are not joined.
    """

    can_drop = False

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        accepted = inspect.signature(model.forward).parameters
        self._cache_name = "cache_params" if "cache_params" in accepted else "past_key_values"
        self._takes_positions = "position_ids" in accepted
        self._branches: dict[int, _Branch] = {}
        self._usages: list[Usage] = []
        self._next = 0

    def open(self, count: int) -> list[int]:
        """See Engine."""
        self._usages += [Usage() for _ in range(count)]
        first = len(self._usages) - count
        return [self._add(_Branch(first + i)) for i in range(count)]

    def _add(self, branch: _Branch) -> int:
        self._next += 1
        self._branches[self._next] = branch
        return self._next

    def fork(self, branch: int) -> int:
        """See Engine."""
        parent = self._branches[branch]
        return self._add(replace(parent, cache=copy.deepcopy(parent.cache)))

    def release(self, branch: int) -> None:
        """See Engine."""
        del self._branches[branch]

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """None: a state stands for all of its prompt, so a beginning of it cannot be had."""
        return 0

    def drop(self, branch: int, count: int) -> None:
        """Never possible; see ``can_drop``."""
        raise RuntimeError(f"branch {branch}: a recurrent state cannot forget a token")

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._usages[self._branches[branch].prompt]

    @torch.inference_mode()
    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine; every feed takes forward passes of its own."""
        return [[self._feed(f)] for f in feeds]

    def _feed(self, feed: Feed) -> NextTokenLogits:
        branch = self._branches[feed.branch]
        usage = self._usages[branch.prompt]
        pieces = [feed.tokens] if branch.cache is None else [[t] for t in feed.tokens]
        for piece in pieces:
            arguments: dict[str, Any] = {"input_ids": torch.tensor([list(piece)], device=self._model.device)}
            if branch.cache is not None:
                arguments[self._cache_name] = branch.cache
            if self._takes_positions:
                positions = torch.arange(branch.length, branch.length + len(piece), device=self._model.device)
                arguments["position_ids"] = positions[None]
            output = self._model(**arguments, use_cache=True)
            branch.cache = getattr(output, self._cache_name)
            branch.length += len(piece)
            usage.forward_passes += 1
            usage.positions += len(piece)
        live = [b.cache for b in self._branches.values() if b.prompt == branch.prompt]
        usage.cache_bytes = max(usage.cache_bytes, sum(_state_bytes(c) for c in live))
        return NextTokenLogits(output.logits[0, -1])


def _state_bytes(cache: Any) -> int:
    """Bytes of all tensors in a cache's layers."""
    layers = getattr(cache, "layers", None) or []
    tensors = [t for layer in layers for t in vars(layer).values() if isinstance(t, torch.Tensor)]
    return sum(t.numel() * t.element_size() for t in tensors)
