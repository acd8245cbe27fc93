"""A row of ``scores.jsonl``: the verdict on one sample."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from eval.metrics.error_class import ErrorClass
from eval.validation import validated

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
        The number that API-Bank's evaluator gives the sample.
    value_types : list of str
        The types of the values in the reference calls (``eval.metrics.value_types``).
    figures : dict
        Further figures of the benchmark; see ``Judgement``.
    """

    id: str
    category: str
    correct: bool
    error_class: ErrorClass | None = None
    structural: bool
    missing: bool
    sample_id: Any = None
    value_types: list[str] = []
    figures: dict[str, Points] = {}

    @model_validator(mode="after")
    def _demand_consistent(self) -> Self:
        if (self.error_class is None) != self.correct:
            raise ValueError(
                f"an error class exactly where 'correct' is false, found {self.error_class!r} and 'correct' "
                f"{str(self.correct).lower()}"
            )
        if self.correct and (self.missing or self.structural):
            raise ValueError("a correct sample to have a prediction and no structural error")
        return self

    @property
    def repeated(self) -> bool:
        """Whether API-Bank's evaluator counts this sample a second time (odd ``sample_id``: a call right after one)."""
        return isinstance(self.sample_id, int) and self.sample_id % 2 == 1


def read_score(row: Mapping[str, Any], place: str) -> Score:
    """Read a row that ``tooldecoding eval`` or ``tooldecoding score`` wrote.

    Parameters
    ----------
    place : str
        File and line, for messages.

    Raises
    ------
    EvalError
        If a column is missing or has another type, or the error class is unknown or contradicts ``correct``.
    """
    return validated(Score, row, place, "make the file with `tooldecoding score`")
