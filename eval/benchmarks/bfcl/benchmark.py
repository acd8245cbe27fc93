"""BFCL as benchmarks: the live categories, and the Python categories of version 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.data import NEWER_NAMES, BfclAnswer, has_answers, load_samples
from eval.benchmarks.bfcl.export import export
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS


@dataclass(frozen=True)
class Bfcl(Benchmark):
    """Some categories of BFCL."""

    name: str
    categories: tuple[str, ...]
    call_format: str = "pythonic"
    newer_names: ClassVar[Mapping[str, str]] = NEWER_NAMES

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the entries of some categories; see ``load_samples``."""
        return load_samples(data, categories, self.categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict on prompt mode's text. (Ir)relevance categories only ask whether it has calls."""
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
        """Whether the reference calls are right. They are built to be right if any calls are."""
        if not has_answers(sample.category):
            return True
        return self.judge(sample, CALL_FORMATS[self.call_format].render(sample.calls)).correct

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys with ``""`` among their alternatives."""
        answer: BfclAnswer = sample.answer
        [truth] = answer.truth
        [accepted] = truth.values()
        return frozenset(key for key, values in accepted.items() if isinstance(values, list) and "" in values)

    def export(
        self, rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None
    ) -> list[Path]:
        """Write result files for ``bfcl evaluate``; see ``eval.benchmarks.bfcl.export``."""
        return export(rows, samples, out, model)


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
"""The live categories (contributed by users)."""

BFCL_V1 = Bfcl("bfcl-v1", ("simple_python", "multiple", "parallel", "parallel_multiple"))
"""The Python categories of version 1."""

BENCHMARKS: Final = (BFCL_LIVE, BFCL_V1)
