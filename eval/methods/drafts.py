"""Prompts on their way to a method."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.methods.choose import Method
from eval.methods.prediction import Prediction
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import out_of_memory_named
from tooldecoding.request import Request


@dataclass(frozen=True)
class Draft:
    """A prompt that waits for its prediction.

    Attributes
    ----------
    id : str
    request : Request or None
        None if no prompt can be made.
    error : str
        Why there is no request.
    prompt_tokens : int
        Tokens of the prompt; 0 if there is no request.
    """

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
