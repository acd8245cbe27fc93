"""Prompts on their way to a method, as a task of workers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
    asked = [(number, draft.request) for number, draft in enumerate(drafts) if draft.request is not None]
    decoded = each_decoded(lambda requests: enumerate(method(requests)), [request for _, request in asked])
    found = {number: draft.error for number, draft in enumerate(drafts)} | {asked[n][0]: each for n, each in decoded}
    return [each if isinstance(each, Prediction) else Prediction("", error=str(each)) for each in found.values()]


def predicting(
    settings: EvalOptions, call_format: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> Callable[[Sequence[Draft]], Iterable[tuple[int, Prediction]]]:
    """Return what makes numbered predictions with the method that the settings name.

    Parameters
    ----------
    call_format : str
        The benchmark's, in which predictions are scored.
    """
    method = make_method(settings, model, tokenizer, call_format)
    return lambda drafts: enumerate(predict_all(method, drafts))
