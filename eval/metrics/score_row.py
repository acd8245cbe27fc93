"""A row of ``scores.jsonl``: the verdict on one sample."""

from typing import Annotated

from pydantic import BaseModel, Field

from eval.benchmarks.faults import ErrorClass
from eval.validation import Text

Points = Annotated[list[Annotated[float, Field(ge=0, le=10**9)]], Field(min_length=2, max_length=2)]
"""Points, and how many there were to get."""


class Score(BaseModel, frozen=True):
    """The verdict on one sample. A row may have other columns.

    Attributes
    ----------
    id, category : str
    correct : bool
    error_class : str or None
        One of ``ERROR_CLASSES``; None if the prediction is correct.
    structural : bool
        The call is wrong by its structure: it names a tool that was not given, is malformed or has a key error.
    missing : bool
        There was no prediction. Counts as wrong.
    sample_id : int or None
        The number that API-Bank's evaluator gives the sample; odd for a call right after another one.
    figures : dict
        Further figures of the benchmark; see ``Judgement``.
    """

    id: Text
    category: Text
    correct: bool
    error_class: ErrorClass | None = None
    structural: bool
    missing: bool
    sample_id: Annotated[int, Field(le=10**9)] | None = None
    figures: dict[Text, Points] = {}
