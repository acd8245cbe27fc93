"""Loading a causal LM and its tokenizer, with one clear message for everything that can be wrong."""

from pathlib import Path

import torch
from huggingface_hub.utils import logging as hub_logging
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from tooldecoding.errors import ModelError

REFERENCE_MODEL = "reference"
"""The name of the small model that comes with the package."""

DTYPES: dict[str, torch.dtype | str] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "auto": "auto",
}


def load_model(
    path: str, device: str | None = None, dtype: str | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model (evaluation mode) and tokenizer; see ``ToolDecoder.from_pretrained``.

    Raises
    ------
    ModelError
        If the path, hub id, device or dtype is wrong, or the files cannot be read.
    """
    place = find_device(device)
    if dtype is None:
        dtype = "fp32" if place.type == "cpu" else "auto"
    if dtype not in DTYPES:
        raise ModelError(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")
    source = str(Path(__file__).parent / "reference_model") if path == REFERENCE_MODEL else path
    if path.startswith((".", "/", "~")) and not Path(path).is_dir():
        raise ModelError(f"no model folder at {path!r}")
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        model = AutoModelForCausalLM.from_pretrained(source, dtype=DTYPES[dtype])
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"cannot load a causal LM from {path!r} (a folder with config.json, weights and tokenizer, or a hub id): "
            f"{first}"
        ) from error
    return model.to(place).eval(), tokenizer


def load_quietly(
    path: str, device: str | None = None, dtype: str | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """As ``load_model``, without the libraries' own messages: for the command line."""
    hub_logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return load_model(path, device, dtype)


def find_device(name: str | None) -> torch.device:
    """The device of that name, a GPU if there is one where no name is given; ModelError if it is not there."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(f"device {name!r} is unknown or not there: {str(error).splitlines()[0]}") from None
    return device
