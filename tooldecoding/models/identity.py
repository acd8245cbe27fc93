"""Identity of a model: its weights, configuration and tokenizer, wherever they were loaded from."""

from collections.abc import Iterator
from hashlib import sha256

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.files.manifest import digest

_CHUNK = 1 << 26
_STORAGE_KEYS = frozenset({"transformers_version", "_name_or_path", "_commit_hash", "dtype", "torch_dtype"})
"""Keys of a configuration that only describe where and how it was stored."""


def identify(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Return ``dtype``, and digests of ``config``, ``weights`` and ``tokenizer``. They do not depend on the device.

    Reads every byte of the weights once: about one second per gigabyte.
    """
    config = {k: v for k, v in model.config.to_diff_dict().items() if k not in _STORAGE_KEYS}
    return {
        "dtype": str(model.dtype).removeprefix("torch."),
        "config": digest([type(model).__name__, repr(sorted(config.items()))]),
        "weights": _weights(model),
        "tokenizer": _tokenizer(tokenizer),
    }


def _weights(model: PreTrainedModel) -> str:
    total = sha256()
    seen: set[tuple[int, torch.Size]] = set()
    tied = getattr(model, "all_tied_weights_keys", {})
    for name, tensor in model.state_dict().items():
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        if tensor.device.type == "meta":
            for chunk in () if name in tied else _bytes(_offloaded(model, name)):
                total.update(chunk)
        elif (tensor.data_ptr(), tensor.shape) not in seen:  # read tied weights once
            seen.add((tensor.data_ptr(), tensor.shape))
            for chunk in _bytes(tensor):
                total.update(chunk)
    return total.hexdigest()


def _offloaded(model: PreTrainedModel, name: str) -> torch.Tensor:
    """Read a tensor that a ``device_map`` keeps outside of memory."""
    from accelerate.utils import align_module_device

    place, _, own = name.rpartition(".")
    module = model.get_submodule(place)
    with align_module_device(module, "cpu"):
        tensor: torch.Tensor = getattr(module, own)
        return tensor.detach().clone()


def _bytes(tensor: torch.Tensor) -> Iterator[memoryview]:
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    for chunk in flat.split(_CHUNK):
        yield memoryview(chunk.cpu().numpy())


def _tokenizer(tokenizer: PreTrainedTokenizerBase) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)  # pure Python tokenizers have none
    return digest(
        [
            type(tokenizer).__name__,
            sorted(tokenizer.get_vocab().items()),
            backend.to_str() if backend else "",
            repr(sorted(tokenizer.special_tokens_map.items())),
            repr(tokenizer.chat_template),
        ]
    )
