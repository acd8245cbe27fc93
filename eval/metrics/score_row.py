"""A row of ``scores.jsonl``: the verdict on one sample."""

from typing import Annotated

from pydantic import BaseModel, Field

from eval.benchmarks.faults import ErrorClass
from eval.validation import Text

Points = Annotated[list[Annotated[float, Field(ge=0, le=10**9)]], Field(min_length=2, max_length=2)]
"""Points, and how many there were to get."""


class Score(BaseModel, frozen=True):
    """The verdict on one sample. A row may have other columns.

    ``structural`` says that the call is wrong by its structure: it names a tool that was not given, is malformed or has
    a key error. ``missing`` samples have no prediction, and count as wrong. ``sample_id`` is the number that API-Bank's
    evaluator gives the sample, odd for a call right after another one. ``figures`` are those of ``Judgement``.
    """

    id: Text
    category: Text
    correct: bool
    error_class: ErrorClass | None = None
    structural: bool
    missing: bool
    sample_id: Annotated[int, Field(le=10**9)] | None = None
    figures: dict[Text, Points] = {}
