"""BFCL as benchmarks: the live categories, and the Python categories of version 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.data import BfclAnswer, has_answers, load_samples
from eval.benchmarks.bfcl.parser import CallDecodeError, decode_calls
from eval.benchmarks.samples import Judgement, Sample
from eval.errors import EvalError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS


@dataclass(frozen=True)
class Bfcl:
    """Categories of BFCL; see ``eval.benchmarks.samples.Benchmark``."""

    name: str
    categories: tuple[str, ...]
    call_format: str = "pythonic"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """The entries of some categories; ``data`` and errors as ``load_samples``."""
        return load_samples(data, categories, self.categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """The official verdict on prompt mode's text; in (ir)relevance only whether it has calls counts."""
        try:
            calls = tuple(Call(name, arguments) for name, arguments in decode_calls(prediction))
        except CallDecodeError as error:
            if not has_answers(sample.category):
                return _judge_awareness(sample.category, None, str(error))
            return Judgement(False, "ast_decoder:decoder_failed", str(error), None)
        if not has_answers(sample.category):
            return _judge_awareness(sample.category, calls, "there is no call")
        answer: BfclAnswer = sample.answer
        fault = check_calls(answer.functions, calls, answer.truth, sample.category)
        if fault is None:
            return Judgement(True, None, "", calls)
        return Judgement(False, fault.error_type, fault.message, calls)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the reference calls are right: they are put together so that they are, if any are."""
        if not has_answers(sample.category):
            return True
        return self.judge(sample, CALL_FORMATS[self.call_format].render(sample.calls)).correct

    def identify(self, row: Mapping[str, Any]) -> str:
        """The row's ``id``; EvalError if it has none."""
        key = row.get("id")
        if not isinstance(key, str):
            raise EvalError(f"expected a row with an 'id' such as '{self.categories[0]}_0', found {key!r}")
        return key

    def describe(self, sample: Sample) -> dict[str, Any]:
        """``id`` and ``category``."""
        return {"id": sample.id, "category": sample.category}


def _judge_awareness(category: str, calls: tuple[Call, ...] | None, why_none: str) -> Judgement:
    if "irrelevance" in category:
        if calls:
            names = ", ".join(c.name for c in calls[:3])
            return Judgement(False, "irrelevance_error:decoder_success", f"a call where none is right: {names}", calls)
    elif not calls:
        return Judgement(False, "relevance_error:decoder_failed", why_none, calls)
    return Judgement(True, None, "", calls)


BFCL_LIVE = Bfcl(
    "bfcl-live",
    (
        "live_simple",
        "live_multiple",
        "live_parallel",
        "live_parallel_multiple",
        "live_relevance",
        "live_irrelevance",
    ),
)
"""The live categories (user-contributed)."""

BFCL_V1 = Bfcl("bfcl-v1", ("simple_python", "multiple", "parallel", "parallel_multiple"))
"""The Python categories of version 1."""
