"""A model that a server runs. What is known of it: its tokenizer, its configuration, and where to ask."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

import torch
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedTokenizerBase

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.server import Ask, Upstream

T = TypeVar("T")

PROBE: Final = 'Grüße, 12.5 €!\n{"name": "get_weather", "arguments": {"city": "東京"}}'
"""A text of which two tokenizers hardly make the same tokens."""


class UpstreamModel:
    """A model that a server runs. It stands where a transformers model stands, and has what is read of one.

    Parameters
    ----------
    server : Upstream
    config : PreTrainedConfig
        Of the model; at least ``vocab_size`` and ``max_position_embeddings``.
    """

    device: Final = torch.device("cpu")
    """Where log-probabilities come to."""
    dtype: Final = "upstream"

    def __init__(self, server: Upstream, config: PreTrainedConfig) -> None:
        self.server = server
        self.config = config
        self.generation_config = GenerationConfig.from_model_config(config)

    def eval(self) -> "UpstreamModel":
        """Return itself: it is never trained."""
        return self

    def num_parameters(self) -> int | None:
        """Return nothing: servers do not tell the number of weights."""
        return None


def small_config(tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    """Return what must be known of a model whose configuration cannot be read."""
    config = PreTrainedConfig(eos_token_id=tokenizer.eos_token_id)
    config.vocab_size = len(tokenizer)
    return config


def with_context(config: PreTrainedConfig, positions: int | None) -> PreTrainedConfig:
    """Return a configuration with as many positions as the server has."""
    text = config.get_text_config()
    own = getattr(text, "max_position_embeddings", None)
    if positions is not None:
        text.max_position_embeddings = min(positions, own or positions)
    return config


def answer(server: Upstream, asked: Coroutine[Any, Any, T]) -> T:
    """Return what is asked in the loop of a server."""
    return asyncio.run_coroutine_threadsafe(asked, server.loop).result()


async def first_step(server: Upstream, tokens: list[int]) -> None:
    """UpstreamError unless the server goes on behind tokens and tells log-probabilities."""
    async for step in server.go_on(Ask(tokens, 1)):
        if len(step.logprobs) > 1:
            return
    raise UpstreamError(f"{server.kind} at {server.address} tells no log-probabilities of tokens")


def demand_same_tokens(server: Upstream, found: list[int] | None, tokenizer: PreTrainedTokenizerBase) -> None:
    """UpstreamError if the server makes other tokens of a text than the tokenizer that is read here."""
    own = tokenizer.encode(PROBE, add_special_tokens=False)
    if found is not None and list(found) != list(own):
        raise UpstreamError(
            f"{server.kind} at {server.address} has another tokenizer than {tokenizer.name_or_path!r}; "
            "give --model with the folder, hub id or file of the model that it serves"
        )
