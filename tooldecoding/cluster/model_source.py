"""Where a worker loads its model from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True)
class ModelSource:
    """The arguments of ``load_quietly``."""

    path: str
    arguments: Mapping[str, Any]

    def load(self, threads: int) -> "tuple[PreTrainedModel, PreTrainedTokenizerBase]":
        """Load model and tokenizer for so many threads of the CPU; ModelError if that fails."""
        import torch

        from tooldecoding.models.loading import load_quietly

        torch.set_num_threads(min(threads, torch.get_num_threads()))  # the user's OMP_NUM_THREADS may be less
        return load_quietly(self.path, **self.arguments)

    def identity(self, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> Mapping[str, str]:
        """Return what must be the same in all workers."""
        from tooldecoding.models.identity import identify

        return identify(model, tokenizer)
