"""Models with random weights in known shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from eval.errors import EvalError

CONTEXT: Final = 8192


@dataclass(frozen=True)
class Shape:
    """A model's configuration.

    Attributes
    ----------
    architecture : str
        ``model_type`` of transformers.
    vocabulary : int
    fields : mapping
        The other fields of the configuration.
    """

    architecture: str
    vocabulary: int
    fields: Mapping[str, Any]


def _shape(
    architecture: str, vocabulary: int, width: int, inner: int, layers: int, heads: int, kv_heads: int, **more: Any
) -> Shape:
    fields = {
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": CONTEXT,
    }
    return Shape(architecture, vocabulary, fields | more)


SHAPES: Final[Mapping[str, Shape]] = {
    "tiny": _shape("llama", 1024, 64, 96, 2, 4, 2, max_position_embeddings=16_384),
    "llama-134m": _shape("llama", 32_000, 768, 2048, 12, 12, 12),
    "llama-1b": _shape("llama", 128_256, 2048, 8192, 16, 32, 8, tie_word_embeddings=True),  # Llama 3.2 1B
    "llama-7b": _shape("llama", 32_000, 4096, 11_008, 32, 32, 32),  # Llama 2 7B
    "mistral-7b": _shape("mistral", 32_768, 4096, 14_336, 32, 32, 8, sliding_window=None),  # Mistral 7B v0.3
}
"""Name -> shape. ``tiny`` costs so little that the time outside of the model shows. The figures in docs/bench.md are of
``llama-134m``. The others have the shapes of public models."""


def random_model(
    name: str, device: torch.device, dtype: torch.dtype, seed: int, vocabulary: int | None = None
) -> PreTrainedModel:
    """Make a model of a shape with seeded random weights, directly on the device.

    Parameters
    ----------
    vocabulary : int, optional
        Number of tokens; by default the shape's.

    Raises
    ------
    EvalError
        If it does not fit on the device.
    """
    shape = SHAPES[name]
    special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    size = vocabulary or shape.vocabulary
    config = AutoConfig.for_model(shape.architecture, vocab_size=size, **shape.fields, **special)
    torch.manual_seed(seed)
    try:
        with device:
            model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=dtype)
    except torch.OutOfMemoryError:
        raise EvalError(f"--shape: {name} does not fit on {device}; take a smaller shape or --dtype bf16") from None
    return model.to(device).eval()
