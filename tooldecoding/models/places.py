"""Where a model's weights lie, and where its inputs go: a ``device_map`` may spread it over devices and the disk."""

import torch
from transformers import PreTrainedModel

from tooldecoding.errors import ModelError


def input_device(model: PreTrainedModel) -> torch.device:
    """Return the device where token ids go: that of the embedding, or where it runs if it is offloaded."""
    embedding = model.get_input_embeddings()
    placed = getattr(getattr(embedding, "_hf_hook", None), "execution_device", None)  # accelerate's, if it is spread
    if placed is not None:
        return torch.device(placed)
    own: torch.device = next(embedding.parameters()).device
    return own


def demand_placed(model: PreTrainedModel) -> None:
    """ModelError if weights lie on several devices, or outside of memory, and no ``device_map`` has put them there."""
    devices = sorted({str(tensor.device) for tensor in model.parameters()})
    if (len(devices) > 1 or devices == ["meta"]) and not hasattr(model, "hf_device_map"):
        found = ", ".join("nowhere" if name == "meta" else name for name in devices)
        raise ModelError(
            f"the weights lie on several devices, or outside of memory: {found}; load the model with device_map, "
            "which moves its inputs from one to the next"
        )
