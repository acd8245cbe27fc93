"""Whether a model's weights are those of before, found out without reading them."""

from collections.abc import Hashable, Iterator
from itertools import chain

import torch
from transformers import PreTrainedModel

_OF_ADAPTERS = ("_active_adapter", "_disable_adapters", "merged_adapters", "scaling")
"""What peft's layers keep of the adapters that they apply."""


def weights_state(model: PreTrainedModel) -> Hashable:
    """Differs after a training step, a loaded state, a parameter that was replaced or moved, a switched adapter.

    It costs microseconds a tensor. What is written through ``.data`` in place leaves no trace, and is not seen.
    """
    tensors = chain(model.parameters(), model.buffers())
    return tuple(_state(t) for t in tensors), tuple(_adapters(model))


def _state(tensor: torch.Tensor) -> tuple[int, int, int]:
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)  # others may have no storage
    return id(tensor), tensor.data_ptr() if plain else 0, 0 if tensor.is_inference() else tensor._version


def _adapters(model: PreTrainedModel) -> Iterator[str]:
    for layer in model.modules():
        found = [getattr(layer, name, None) for name in _OF_ADAPTERS]
        if any(value is not None for value in found):
            yield repr(found)
