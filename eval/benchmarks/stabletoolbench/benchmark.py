"""StableToolBench as a benchmark: the first call of an answer, judged without a language model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.benchmarks.stabletoolbench.data import GROUPS, load_samples
from eval.benchmarks.validity import VALIDITY_NOTE, first_tool, judge_validity


@dataclass(frozen=True)
class StableToolBench(Benchmark):
    """The solvable queries of each group."""

    name: str = "stabletoolbench"
    categories: tuple[str, ...] = GROUPS
    call_format: str = "pythonic"
    has_figures: ClassVar[bool] = True
    note: ClassVar[str] = (
        f"{VALIDITY_NOTE} Relevant tool: the first call names one of the tools that the query was written for. Later "
        "steps are not decoded, for they need the answers of the services."
    )

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the queries; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return whether the calls are valid, with the figure ``relevant tool``; see ``judge_validity``."""
        judgement = judge_validity(sample, prediction)
        relevant = float(first_tool(judgement) in sample.answer)
        return replace(judgement, figures={"relevant tool": (relevant, 1.0), **judgement.figures})


BENCHMARKS: Final = (StableToolBench(),)
