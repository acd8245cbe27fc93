"""The subject of a bench: a model, loaded or of random weights, with its tokenizer and decoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from eval.bench.options import BenchOptions
from eval.bench.teacher import WatchedEngines
from eval.errors import EvalError
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.models.loading import DTYPES, load_quietly, load_tokenizer
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.tokens.token_texts import token_texts


def _shape(vocabulary: int, width: int, inner: int, layers: int, heads: int, kv: int, **more: Any) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "max_position_embeddings": 8192,
    } | more


SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "tiny": _shape(4096, 64, 96, 2, 4, 2, max_position_embeddings=16_384),
    "llama-134m": _shape(32_000, 768, 2048, 12, 12, 12),
    "llama-1b": _shape(128_256, 2048, 8192, 16, 32, 8, tie_word_embeddings=True),  # Llama 3.2 1B
    "llama-7b": _shape(32_000, 4096, 11_008, 32, 32, 32),  # Llama 2 7B
    "mistral-7b": _shape(32_768, 4096, 14_336, 32, 32, 8, model_type="mistral", sliding_window=None),  # v0.3
}
"""Name -> configuration. ``tiny`` costs so little that the time outside of the model shows. The figures in
docs/bench.md are of ``llama-134m``. The others have the shapes of public models."""


@dataclass(frozen=True)
class Subject:
    """A loaded model.

    Attributes
    ----------
    label : str
        Its shape, folder or hub id.
    """

    label: str
    decoder: ToolDecoder
    engines: WatchedEngines
    tokenizer: PreTrainedTokenizerBase


def load_subject(options: BenchOptions, label: str, device: torch.device) -> Subject:
    """Load a model, or make one from a shape.

    Raises
    ------
    ModelError
        If the model, the tokenizer or the dtype is unknown, or the model keeps a recurrent state.
    EvalError
        If a shape does not fit on the device.
    """
    logging.set_verbosity_error()
    name = label
    tokenizer: PreTrainedTokenizerBase
    if label not in options.shapes:
        model, tokenizer = load_quietly(label, str(device), options.dtype, options.trust_remote_code)
    else:
        size = SHAPES[label]["vocab_size"]
        tokenizer = load_tokenizer(options.tokenizer or REFERENCE_MODEL, options.trust_remote_code)
        if options.tokenizer is not None:
            size = len(token_texts(tokenizer))
            name = f"{label} with {Path(options.tokenizer).resolve().name}"
        dtype = DTYPES.get(options.dtype or ("fp32" if device.type == "cpu" else "bf16"))
        if not isinstance(dtype, torch.dtype):
            raise ModelError(f"unknown dtype {options.dtype!r} for a shape; known: fp32, bf16, fp16")
        model = random_model(label, device, dtype, options.seed, size)
    engines = WatchedEngines(model)
    if engines.recurrent:
        raise ModelError(f"{label} keeps a recurrent state; bench measures models with attention alone")
    return Subject(name, ToolDecoder(model, tokenizer, prompt_cache_mb=0), engines, tokenizer)


def random_model(name: str, device: torch.device, dtype: torch.dtype, seed: int, vocabulary: int) -> PreTrainedModel:
    """Make a model of a shape with seeded random weights, directly on the device; EvalError if it does not fit."""
    special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    config = AutoConfig.for_model(**{**SHAPES[name], **special, "vocab_size": vocabulary})
    torch.manual_seed(seed)
    try:
        with device:
            model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=dtype)
    except torch.OutOfMemoryError:
        raise EvalError(f"--shape: {name} does not fit on {device}; take a smaller shape or --dtype bf16") from None
    return model.to(device).eval()
