"""Replays prompts through the prefix cache of the product, with states that have a size and take no memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from eval.capacity.sizes import ModelSize
from tooldecoding.engines.prefix_cache import PrefixCache, States


@dataclass(frozen=True)
class Replay:
    """What a prefix cache saved.

    Attributes
    ----------
    requests, hits : int
        Prompts, and those of which a prefix was cached.
    positions, reused : int
        Tokens of all prompts, and those that came from the cache.
    held : int
        Prompts in the cache at the end.
    """

    requests: int
    hits: int
    positions: int
    reused: int
    held: int

    @property
    def share(self) -> float:
        """Reused positions divided by all."""
        return self.reused / self.positions


def replay(prompts: Sequence[Sequence[int]], size: ModelSize, max_bytes: int) -> Replay:
    """Look prompts up and store them, one after the other, as an engine does.

    Parameters
    ----------
    prompts : sequence of sequences of int
        At least one.
    max_bytes : int
        Size of the cache.
    """
    cache = PrefixCache(max_bytes)
    for tokens in prompts:
        cache.find(tokens, len(tokens) - 1)
        if not cache.knows(tokens):
            cache.store(tokens, _states(size, len(tokens)))
    found = cache.statistics
    return Replay(found.lookups, found.hits, sum(map(len, prompts)), found.reused_positions, found.prompts)


def _states(size: ModelSize, tokens: int) -> States:
    """Return keys and values of all layers as one pair: views of a single zero."""
    shape = (size.layers, tokens, size.states_width)
    view = torch.zeros((), dtype=torch.bfloat16).expand(shape)
    return [(view, view)]
