"""Prompts on their way to a method, as a task of workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.choose import Method, make_method
from eval.methods.prediction import Prediction
from eval.options import EvalOptions
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import out_of_memory_named
from tooldecoding.request import Request


@dataclass(frozen=True)
class Draft:
    """A prompt that waits for its prediction, or why there is no prompt."""

    id: str
    request: Request | None
    error: str = ""
    prompt_tokens: int = 0


def predict_all(method: Method, drafts: Sequence[Draft]) -> list[Prediction]:
    """Return the predictions for drafts that are decoded together."""
    requests = [draft.request for draft in drafts if draft.request is not None]
    decoded = iter(_predict(method, requests) if requests else [])
    return [Prediction("", error=d.error) if d.request is None else next(decoded) for d in drafts]


def _predict(method: Method, requests: Sequence[Request]) -> list[Prediction]:
    """Decode together; where that fails, each alone, so that the error is found to be one prompt's."""
    try:
        with out_of_memory_named(len(requests)):
            return method(requests)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return [Prediction("", error=str(error))]
        return [_predict(method, [request])[0] for request in requests]


@dataclass(frozen=True)
class MethodTask:
    """Decodes samples with the method that the settings name; predictions are scored in the benchmark's call format."""

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
