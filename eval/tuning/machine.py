"""The machine that latency is measured on."""

import platform
from os import cpu_count

import torch
from transformers import PreTrainedModel


def machine_name(model: PreTrainedModel) -> str:
    """Return the machine's processor, cores, device and dtype as one text."""
    device = torch.cuda.get_device_name(model.device) if model.device.type == "cuda" else str(model.device)
    cores = f"{cpu_count()} cores, {torch.get_num_threads()} used"
    return f"{platform.processor() or platform.machine()}, {cores}, {device}, {str(model.dtype).removeprefix('torch.')}"
