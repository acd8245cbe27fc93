"""RestBench as a benchmark: the first call of an answer, judged without a language model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from eval.benchmarks.restbench.data import ALL, TEN, load_samples
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.benchmarks.validity import VALIDITY_NOTE, first_tool, judge_validity


@dataclass(frozen=True)
class RestBench(Benchmark):
    """TMDB's questions with all operations, or with ten of them."""

    name: str = "restbench"
    categories: tuple[str, ...] = (ALL, TEN)
    call_format: str = "pythonic"
    has_figures: ClassVar[bool] = True
    note: ClassVar[str] = (
        f"{VALIDITY_NOTE} First path is exact: the first call names the operation that people wrote down as the first "
        "of the correct path. Later steps are not decoded, for they need the answers of the live service."
    )

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the questions; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return whether the calls are valid, with the figure ``first path``; see ``judge_validity``."""
        judgement = judge_validity(sample, prediction)
        first = float(first_tool(judgement) == sample.answer)
        return replace(judgement, figures={"first path": (first, 1.0), **judgement.figures})


BENCHMARKS: Final = (RestBench(),)
