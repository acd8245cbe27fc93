"""Describes the machine of a measurement."""

import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

_CPU_INFO = Path("/proc/cpuinfo")


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Return processor, cores, threads in use, device, and versions."""
    described: dict[str, Any] = {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": str(device),
        "versions": {name: version(name) for name in ("tooldecoding", "torch", "transformers")},
    }
    if device.type == "cuda":
        described["gpu"] = torch.cuda.get_device_name(device)
    return described


def machine_line(machine: Mapping[str, Any]) -> str:
    """Return the machine in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    place = machine.get("gpu") or f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads"
    return f"{place}; {versions}"


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", _CPU_INFO.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()
