"""A model that a server runs. What is known of it: its tokenizer, its configuration, and where to ask."""

from typing import Final

import torch
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedTokenizerBase

from tooldecoding.upstream.server import Upstream


class UpstreamModel:
    """A model that a server runs. It stands where a transformers model stands, and has what is read of one.

    Parameters
    ----------
    server : Upstream
    config : PreTrainedConfig
        Of the model; at least ``vocab_size`` and ``max_position_embeddings``.
    name : str
        By which the server's clients ask for the model.
    """

    device: Final = torch.device("cpu")
    """Where log-probabilities come to."""
    dtype: Final = "upstream"

    def __init__(self, server: Upstream, config: PreTrainedConfig, name: str) -> None:
        self.server = server
        self.name = name
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
