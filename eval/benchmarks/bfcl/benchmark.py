"""BFCL as benchmarks: the live categories, and the categories of version 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from eval.benchmarks.bfcl.checker import Rules, check_calls
from eval.benchmarks.bfcl.data import (
    NEWER_NAMES,
    BfclAnswer,
    function_calling,
    has_answers,
    load_samples,
)
from eval.benchmarks.bfcl.export import export
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.faults import shown
from eval.benchmarks.function_calls import FUNCTION_CALLS, OddCallsError, read_function_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.pythonic import PYTHONIC


@dataclass(frozen=True)
class Bfcl(Benchmark):
    """Some categories of BFCL."""

    name: str
    categories: tuple[str, ...]
    call_format: str = "pythonic"
    newer_names: ClassVar[Mapping[str, str]] = NEWER_NAMES

    def of_template(self, template: str | None) -> "Bfcl":
        """Return the benchmark in function-calling mode for the template ``chat``, else in prompt mode."""
        return replace(self, call_format=FUNCTION_CALLS.name) if template == "chat" else self

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the entries of some categories; see ``load_samples``."""
        samples = load_samples(data, categories, self.categories)
        return samples if self.call_format != FUNCTION_CALLS.name else [function_calling(s) for s in samples]

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return id and category, and the mode if it is function calling."""
        return super().describe(sample) | ({"mode": FUNCTION_CALLS.name} if _rules(sample).function_calling else {})

    def sample_of(self, row: Mapping[str, Any], sample: Sample) -> Sample:
        """Return the sample in the mode of a prediction: what its row says, by default prompt mode."""
        mode = row.get("mode")
        if mode not in (None, FUNCTION_CALLS.name):
            raise EvalError(f"expected the mode {FUNCTION_CALLS.name}, or none for prompt mode, found {shown(mode)}")
        return sample if mode is None else function_calling(sample)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict in the sample's mode. (Ir)relevance categories only ask whether it has calls."""
        answer: BfclAnswer = sample.answer
        try:
            calls = _read(prediction, answer.rules)
        except CallDecodeError as error:
            if not has_answers(sample.category):
                return _judge_awareness(sample.category, None, str(error))
            kind = "wrong_output_format" if isinstance(error, OddCallsError) else "failed"
            return Judgement(False, f"ast_decoder:decoder_{kind}", str(error), None)
        if not has_answers(sample.category):
            return _judge_awareness(sample.category, calls, "there is no call")
        fault = check_calls(answer.functions, calls, answer.truth, sample.category, answer.rules)
        if fault is None:
            return Judgement(True, None, "", calls)
        return Judgement(False, fault.error_type, fault.message, calls)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the reference calls are right. They are built to be right if any calls are."""
        if not has_answers(sample.category):
            return True
        written = FUNCTION_CALLS if _rules(sample).function_calling else PYTHONIC
        return self.judge(sample, written.render(sample.calls)).correct

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


def _rules(sample: Sample) -> Rules:
    answer: BfclAnswer = sample.answer
    return answer.rules


def _read(prediction: str, rules: Rules) -> tuple[Call, ...]:
    if rules.function_calling:
        return tuple(read_function_calls(prediction))
    return tuple(Call(name, arguments) for name, arguments in decode_calls(prediction))


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
"""The categories of version 1 whose calls are written in Python."""

BENCHMARKS: Final = (BFCL_LIVE, BFCL_V1)
