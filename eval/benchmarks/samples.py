"""What a benchmark provides: samples, and verdicts on predictions, in the official scorer's words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from eval.errors import EvalError
from lookup.errors import ToolDecodingError
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Message
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS

ErrorClass = Literal["awareness", "selection", "format", "key", "value", "unsatisfiable"]
ERROR_CLASSES: Final[tuple[ErrorClass, ...]] = get_args(ErrorClass)
"""The paper's five classes (section 2, table 1), and what no prediction can get right."""

CRASH: Final = "official_scorer:crash"
"""Our own error type: the official scorer ends with an exception there, and gives no verdict on anything."""


@dataclass(frozen=True)
class Fault:
    """Why a prediction is wrong: the official error type, and a message for a reader."""

    error_type: str
    message: str


class ScorerCrash(ToolDecodingError):
    """Prediction, documentation or answer of a form that ends the official scorer with an exception."""


@dataclass(frozen=True)
class Sample:
    """One item of a benchmark: it asks for one prediction.

    Attributes
    ----------
    id : str
        Unique in its benchmark.
    category : str
        The group whose accuracy is reported, by its official name (``live_simple``, ``level-1-given-desc``).
    dialogue : str
        The dialogue or entry that holds the sample. In-context examples come from others.
    turns : tuple of Message
        The dialogue so far.
    documentation : Documentation
        The tools that may be called.
    calls : tuple of Call
        The reference calls; empty if no call is right.
    answer : object
        What else the benchmark's scorer needs.
    """

    id: str
    category: str
    dialogue: str
    turns: tuple[Message, ...]
    documentation: Documentation
    calls: tuple[Call, ...]
    answer: Any


@dataclass(frozen=True)
class Judgement:
    """The official scorer's verdict on one prediction.

    Attributes
    ----------
    correct : bool
    error_type : str or None
        In the official scorer's own words; None if the prediction is correct.
    message : str
        What was expected and found, for a reader; empty if the prediction is correct.
    calls : tuple of Call, or None
        The calls as the official parser understands them; None if it finds none or cannot read them.
    error_class : str, optional
        The class of the error (``eval.benchmarks.error_class``), where the data have no reference call to tell it by.
    figures : mapping
        Further figures of the benchmark: name -> points and how many there were to get. A run's figure is the sum of
        its points divided by the sum of what there was to get.
    """

    correct: bool
    error_type: str | None
    message: str
    calls: tuple[Call, ...] | None
    error_class: ErrorClass | None = None
    figures: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, fault: Fault | None, calls: Sequence[Call] | None) -> "Judgement":
        """Return the judgement on calls, wrong if there is a fault."""
        read = None if calls is None else tuple(calls)
        return cls(False, fault.error_type, fault.message, read) if fault else cls(True, None, "", read)


@dataclass(frozen=True)
class Benchmark(ABC):
    """A set of samples with its scorer.

    Attributes
    ----------
    name : str
        As on the command line: ``acebench``, ``api-bank``, ``bfcl-live``, ….
    categories : tuple of str
        All categories, in the order of reports.
    load : callable
        Reads the samples of some categories, in official order, from what ``--data`` names; EvalError if it does not
        hold them, or is malformed.
    call_format : str
        Call format of predictions, a name in ``CALL_FORMATS``.
    note : str
        What "right" means here, where no official verdict is given; printed below the scores.
    """

    name: str
    categories: tuple[str, ...]
    load: Callable[[str, Sequence[str]], list[Sample]]
    call_format: str = "pythonic"
    note: str = ""

    @abstractmethod
    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict."""

    def satisfiable(self, sample: Sample) -> bool:
        """Whether any prediction for this sample can be judged correct: here, whether its reference calls are."""
        written = CALL_FORMATS[self.call_format]
        return not sample.calls or self.judge(sample, written.render(sample.calls)).correct

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys of a sample with one reference call that a right call may have or leave out."""
        return frozenset()

    def identify(self, row: Mapping[str, Any]) -> str:
        """Return the id of the sample that a row of predictions is for; EvalError if the row has none."""
        identifier = row.get("id")
        if not isinstance(identifier, str):
            raise EvalError(f"expected a row with an 'id' (a text), found {identifier!r}")
        return identifier

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return the columns that name a sample in rows of predictions and scores."""
        return {"id": sample.id, "category": sample.category}
