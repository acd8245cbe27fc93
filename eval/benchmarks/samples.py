"""What a benchmark provides: samples, and verdicts on predictions, in the official scorer's words.

A wrong prediction has one of the paper's five classes of errors (section 2, table 1).
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from eval.errors import EvalError
from lookup.dictionary import ToolSpec
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

_BRACKETED = re.compile(r"\[\s*([^\W\d][\w.\-/]*)\s*[(='\"]")
_ACTION = re.compile(r"(?:^|\n)[ \t]{0,20}Action[ \t]{0,20}:[ \t]{0,20}([^\s(]{1,200})")
_LEADING = re.compile(r"\A[\s`]*+(?:python|json|tool_code|\s)*+([^\W\d][\w.\-/]*)\s*\(")
_JSON_NAME = re.compile(r"\"(?:name|api_name|function|tool)\"\s{0,20}:\s{0,20}\"([^\"\n]{1,200})\"")
_READ_AT_MOST = 100_000


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
    error_type : str or None
        In the official scorer's own words; None if the prediction is correct.
    message : str
        What was expected and found, for a reader; empty if the prediction is correct.
    calls : tuple of Call, or None
        The calls as the official parser understands them; None if it finds none or cannot read them.
    """

    correct: bool
    error_type: str | None
    message: str
    calls: tuple[Call, ...] | None

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
    """

    name: str
    categories: tuple[str, ...]
    load: Callable[[str, Sequence[str]], list[Sample]]
    call_format: str = "pythonic"

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


def classify(sample: Sample, prediction: str, judgement: Judgement, satisfiable: bool) -> tuple[ErrorClass, bool]:
    """The class of a prediction that was judged wrong, and whether it is wrong by its structure alone: the call names a
    tool that was not given, is malformed, or has a key error, which constrained decoding rules out.

    The class is the first that applies:

    ``unsatisfiable``
        The benchmark judges every prediction for this sample wrong, so the model is not to blame.
    ``awareness``
        No call where one is needed, or a call where none is. An attempt counts as a call, also one that cannot be read:
        ``[name`` before a bracket, an equals sign or a quote, a given tool's name before a bracket or as the key of an
        object, ``Action: name``, a JSON object with a name, or an answer that begins with ``name(``.
    ``selection``
        The tools called are not the reference's, as often as there. It is ``structural`` if one of them was not given.
    ``format``
        The benchmark's own reader finds no call in it.
    ``key``
        A call has a key that its documentation lacks, or lacks one that it requires.
    ``value``
        Anything else: a value that is not accepted, an optional key that the reference needs or does not have.
    """
    if not satisfiable:
        return "unsatisfiable", False
    tools = sample.documentation.lookup
    calls = judgement.calls
    names = [c.name for c in calls] if calls else attempted_names(prediction, list(tools))
    if bool(names) != bool(sample.calls) or not names:
        return "awareness", False
    wanted = Counter(c.name for c in sample.calls)
    invented = any(name not in tools and name not in wanted for name in names)
    if invented or Counter(names) != wanted:
        return "selection", invented
    if not calls:
        return "format", True
    if any(_has_key_error(call, tools) for call in calls):
        return "key", True
    return "value", False


def attempted_names(text: str, known: Sequence[str]) -> list[str]:
    """Names that a text which could not be read tries to call, in its sequence; empty if it tries none."""
    text = text[:_READ_AT_MOST]
    patterns = (_BRACKETED, _ACTION, _JSON_NAME, _LEADING)
    found = [(m.start(1), m[1]) for pattern in patterns for m in pattern.finditer(text)]
    for name in known:
        called = rf"(?<!\w){re.escape(name)}(?:\s{{0,8}}\(|[\"']\s{{0,8}}:\s{{0,8}}{{|\])"
        found += [(m.start(), name) for m in re.finditer(called, text)]
    return list(dict(sorted(found)).values())  # of several at one place the last one, which is the longest


def _has_key_error(call: Call, tools: Mapping[str, ToolSpec]) -> bool:
    if call.name not in tools:  # the reference calls a tool that was not offered, as API-Bank's level 2 does
        return False
    parameters = tools[call.name].parameters
    required = {p.name for p in parameters if p.required}
    return not required <= call.arguments.keys() <= {p.name for p in parameters}
