"""BFCL as benchmarks: the live categories, and the categories of version 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.data import BfclAnswer, has_answers, load_samples
from eval.benchmarks.bfcl.parser import pythonic_calls
from eval.benchmarks.samples import Benchmark, Fault, Judgement, Sample
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.reading import UnreadableCallError


@dataclass(frozen=True)
class Bfcl(Benchmark):
    """Some categories of BFCL."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict. (Ir)relevance categories only ask whether it has calls."""
        answer: BfclAnswer = sample.answer
        calls: Sequence[Call] | None = None
        why = "there is no call"
        try:
            calls = pythonic_calls(prediction)
        except UnreadableCallError as error:
            why = str(error)
            fault: Fault | None = Fault("ast_decoder:decoder_failed", why)
        if not has_answers(sample.category):
            fault = _awareness_fault(sample.category, calls, why)
        elif calls is not None:
            fault = check_calls(answer.functions, calls, answer.truth, sample.category)
        return Judgement.of(fault, calls)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the reference calls are right. They are built to be right if any calls are."""
        return not has_answers(sample.category) or super().satisfiable(sample)

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys with ``""`` among their alternatives."""
        [truth] = sample.answer.truth
        [accepted] = truth.values()
        return frozenset(key for key, values in accepted.items() if isinstance(values, list) and "" in values)


def _awareness_fault(category: str, calls: Sequence[Call] | None, why_none: str) -> Fault | None:
    if "irrelevance" not in category:
        return None if calls else Fault("relevance_error:decoder_failed", why_none)
    names = ", ".join(call.name for call in calls[:3]) if calls else ""
    return Fault("irrelevance_error:decoder_success", f"a call where none is right: {names}") if calls else None


_LIVE: Final = ("simple", "multiple", "parallel", "parallel_multiple", "relevance", "irrelevance")

BFCL_LIVE: Final = Bfcl("bfcl-live", tuple(f"live_{name}" for name in _LIVE), load_samples)
"""The live categories (contributed by users)."""

_V1: Final = ("simple_python", "multiple", "parallel", "parallel_multiple")

BFCL_V1: Final = Bfcl("bfcl-v1", _V1, load_samples)
"""The categories of version 1 whose calls are written in Python."""
