"""The predictions of ``eval`` as a task of workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.choose import Method, make_method
from eval.methods.drafts import Draft, predict_all
from eval.methods.prediction import Prediction
from eval.options import EvalOptions


@dataclass(frozen=True)
class MethodTask:
    """Decodes samples with the method that the settings name.

    Parameters
    ----------
    call_format : str
        The benchmark's, in which predictions are scored.
    """

    settings: EvalOptions
    call_format: str

    def loaded(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> "LoadedMethod":
        """Return the task with its method."""
        method = make_method(self.settings, model, tokenizer, self.call_format)
        return LoadedMethod(method, {"device": str(model.device)})

    def beginning(self, item: Draft) -> str:
        """Keep the sequence of the samples: methods are compared without a prefix cache."""
        return ""


@dataclass(frozen=True)
class LoadedMethod:
    """A method with its model."""

    method: Method
    about: Mapping[str, Any]

    def run(self, items: Sequence[Draft]) -> list[Prediction]:
        """Return the predictions of some samples."""
        return predict_all(self.method, items)
