"""Prompts on their way to a method, as a task of workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.choose import Method, make_method
from eval.methods.prediction import Prediction
from eval.options import EvalOptions
from tooldecoding.batches.requests import each_decoded
from tooldecoding.request import Request


@dataclass(frozen=True)
class Draft:
    """A prompt that waits for its prediction, or why there is no prompt."""

    id: str
    request: Request | None
    error: str = ""
    prompt_tokens: int = 0


def predict_all(method: Method, drafts: Sequence[Draft]) -> list[Prediction]:
    """Return the predictions for drafts that are decoded together; where that fails, each alone."""
    decoded = iter(each_decoded(method, [draft.request for draft in drafts if draft.request is not None]))
    found = (draft.error if draft.request is None else next(decoded) for draft in drafts)
    return [each if isinstance(each, Prediction) else Prediction("", error=str(each)) for each in found]


def predicting(
    settings: EvalOptions, call_format: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> Callable[[Sequence[Draft]], list[Prediction]]:
    """Return what makes predictions with the method that the settings name.

    Parameters
    ----------
    call_format : str
        The benchmark's, in which predictions are scored.
    """
    return partial(predict_all, make_method(settings, model, tokenizer, call_format))
