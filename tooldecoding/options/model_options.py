"""What every command that runs a model can be told."""

from dataclasses import dataclass
from typing import Any, Literal

from tooldecoding.options.decode_options import DecodeOptions, Strategy
from tooldecoding.options.option import option
from tooldecoding.options.values import Count

Dtype = Literal["fp32", "bf16", "fp16", "auto"]

DEVICE_HELP = "Such as cpu or cuda:0."
TRUST_HELP = "Run Python code of the model's folder; it can do anything."
MODEL_HELP = "Folder or hub id; reference is the model of this package."


@dataclass(frozen=True)
class ModelOptions(DecodeOptions):
    """The model and how it runs."""

    model: str = option("reference", MODEL_HELP)
    strategy: Strategy = option(
        "auto", "How orders share a forward pass: packed is tree attention, batched is one row each."
    )
    device: str | None = option(None, DEVICE_HELP, default_text="a GPU if there is one")
    dtype: Dtype | None = option(
        None, "Type of the weights.", default_text="fp32 on the CPU, else the checkpoint's own"
    )
    batch_size: Count = option(8, "Prompts decoded together.")
    # files are handed around: they must not switch this on
    trust_remote_code: bool = option(False, TRUST_HELP, only="command line")

    def to_json(self) -> dict[str, Any]:
        """Return all options by name, for a manifest."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
