"""How a model is recognised: in another process, and after a change in this one. Neither reads the weights."""

from collections.abc import Hashable
from itertools import chain
from pathlib import Path
from typing import Final

import torch
from huggingface_hub import try_to_load_from_cache
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.files.manifest import digest
from tooldecoding.models.sources import Source

FILES: Final = "files_of_weights"
"""The attribute in which a loaded model has what ``files_state`` returned."""

_STORAGE_KEYS: Final = frozenset({"transformers_version", "_name_or_path", "_commit_hash", "dtype", "torch_dtype"})
"""Keys of a configuration that only describe where and how it was stored."""

_ADAPTER_ATTRIBUTES: Final = ("_active_adapter", "_disable_adapters", "merged_adapters", "scaling")
"""Attributes of peft's layers that say which adapters they apply."""


def files_state(source: Source, revision: str | None) -> str:
    """Return what changes with the files of a model's weights: the hub's commit, or their names, sizes and times."""
    place = Path(source.path)
    if not place.is_dir():
        name = source.gguf_file or "config.json"
        cached = try_to_load_from_cache(source.path, name, revision=revision or "main")
        commit = Path(cached.removesuffix(name)).name if isinstance(cached, str) else ""
        return digest([source.gguf_file or "", commit])
    every = [place / source.gguf_file] if source.gguf_file else sorted(place.iterdir())
    weights = [(file, file.stat()) for file in every if file.suffix in (".safetensors", ".bin", ".gguf")]
    return digest([[file.name, found.st_size, int(found.st_mtime)] for file, found in weights])


def identify(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Return ``dtype``, and digests of ``config``, ``weights`` and ``tokenizer``. They do not depend on the device.

    Weights are known by their files, so only those of a model that ``tooldecoding.models.loading`` has read.
    """
    config = {k: v for k, v in model.config.to_diff_dict().items() if k not in _STORAGE_KEYS}
    backend = getattr(tokenizer, "backend_tokenizer", None)  # pure Python tokenizers have none
    of_tokenizer = [
        type(tokenizer).__name__,
        sorted(tokenizer.get_vocab().items()),
        backend.to_str() if backend else "",
        repr(sorted(tokenizer.special_tokens_map.items())),
        repr(tokenizer.chat_template),
    ]
    return {
        "dtype": str(model.dtype).removeprefix("torch."),
        "config": digest([type(model).__name__, repr(sorted(config.items()))]),
        "weights": getattr(model, FILES, ""),
        "tokenizer": digest(of_tokenizer),
    }


def weights_state(model: PreTrainedModel) -> Hashable:
    """Return a value that changes with a training step, a loaded state dict, a replaced parameter or another adapter.

    Costs microseconds per tensor. In-place writes through ``.data`` leave no trace and are not detected.
    """
    tensors = tuple(map(_state, chain(model.parameters(), model.buffers())))
    adapters = [[getattr(layer, name, None) for name in _ADAPTER_ATTRIBUTES] for layer in model.modules()]
    return tensors, tuple(repr(found) for found in adapters if any(value is not None for value in found))


def _state(tensor: torch.Tensor) -> tuple[int, int, int]:
    if tensor.device.type == "meta":  # accelerate loads it for each pass
        return 0, 0, 0
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)  # subclasses may have no storage
    return id(tensor), tensor.data_ptr() if plain else 0, 0 if tensor.is_inference() else tensor._version
