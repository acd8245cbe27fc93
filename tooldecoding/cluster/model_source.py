"""Where a worker loads its model from."""

from dataclasses import dataclass

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.loading import load_quietly


@dataclass(frozen=True)
class ModelSource:
    """The arguments of ``load_quietly``."""

    path: str
    device: str
    dtype: str | None
    trust_remote_code: bool

    def load(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """Load model and tokenizer; ModelError if that fails."""
        return load_quietly(self.path, self.device, self.dtype, self.trust_remote_code)
