"""A model runs on one device."""

from transformers import PreTrainedModel

from tooldecoding.errors import ModelError


def demand_one_device(model: PreTrainedModel) -> None:
    """ModelError if weights lie on several devices, or are offloaded, as a ``device_map`` may spread them."""
    devices = sorted({str(tensor.device) for tensor in model.parameters()})
    if len(devices) > 1 or devices == ["meta"]:
        found = ", ".join("offloaded" if name == "meta" else name for name in devices)
        raise ModelError(
            f"the weights lie on several devices, or outside of memory: {found}; a model must fit on one device: "
            "load it without device_map, in a smaller dtype, or as a quantized checkpoint"
        )
