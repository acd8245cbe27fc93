"""Prompts on their way to a method."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.methods.choose import predict
from eval.methods.decoders import Method
from eval.methods.prediction import Prediction
from tooldecoding.decoder import Request


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
    decoded = iter(predict(method, requests) if requests else [])
    return [Prediction("", error=d.error) if d.request is None else next(decoded) for d in drafts]
