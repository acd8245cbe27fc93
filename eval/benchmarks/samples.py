"""A sample of a benchmark, and what a scorer says of a prediction for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Turn
from tooldecoding.prompts.documentation import Documentation


@dataclass(frozen=True)
class Sample:
    """One prediction that a benchmark asks for.

    Attributes
    ----------
    id : str
        Unique in its benchmark.
    category : str
        The group that accuracy is reported for, by its official name (``live_simple``, ``level-1-given-desc``).
    dialogue : str
        The dialogue or entry it stands in; in-context examples come from others.
    turns : tuple of Turn
        What was said before.
    documentation : Documentation
        The tools that may be called.
    calls : tuple of Call
        The reference calls; empty where no call is right.
    answer : object
        What the benchmark's own scorer needs beside it.
    """

    id: str
    category: str
    dialogue: str
    turns: tuple[Turn, ...]
    documentation: Documentation
    calls: tuple[Call, ...]
    answer: Any


@dataclass(frozen=True)
class Judgement:
    """What the official scorer says of one prediction.

    Attributes
    ----------
    correct : bool
    error_type : str or None
        In the official scorer's own words; None where it is correct.
    message : str
        What was expected and found, for a reader; empty where it is correct.
    calls : tuple of Call, or None
        The calls as the official reader understands them; None where it finds none or cannot read them.
    """

    correct: bool
    error_type: str | None
    message: str
    calls: tuple[Call, ...] | None


class Benchmark(Protocol):
    """A set of samples with its scorer."""

    @property
    def name(self) -> str:
        """As on the command line: ``api-bank``, ``bfcl-live``, ``bfcl-v1``, ``sgd``."""

    @property
    def categories(self) -> tuple[str, ...]:
        """All categories, in the sequence of reports."""

    @property
    def call_format(self) -> str:
        """Call format of predictions, a name in ``CALL_FORMATS``."""

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """The samples of some categories, in official sequence.

        Raises
        ------
        EvalError
            If ``data`` does not hold them, or what it holds is malformed.
        """

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """The official verdict."""

    def satisfiable(self, sample: Sample) -> bool:
        """Whether any prediction can be judged correct."""

    def identify(self, row: Mapping[str, Any]) -> str:
        """The sample id that a row of predictions is for; EvalError if the row does not say it."""

    def describe(self, sample: Sample) -> dict[str, Any]:
        """The columns that name a sample in rows of predictions and scores."""
