"""UltraTool as a benchmark: the stages that need no language model as judge.

Source: JoeYing1019/UltraTool, ``evaluation/utils.py``. One prediction answers a plan, as there; but it is a list of
calls, each of which names its step, in place of a JSON list of steps. The official functions ``cal_acc_for_aware``,
``cal_acc_for_select`` and ``cal_param_res`` are computed on it: of several calls for a step, the first counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Final

from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.benchmarks.ultratool.data import SELECTION, STAGES, STEP, USAGE, StepAnswer, load_samples
from eval.benchmarks.ultratool.similarity import similarity
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS

_FIGURES: Final = dict(zip(STAGES, ("usage awareness", "creation awareness", "selection", "usage"), strict=True))


@dataclass(frozen=True)
class UltraTool(Benchmark):
    """One language of UltraTool."""

    name: str
    folder: str
    categories: tuple[str, ...] = STAGES
    call_format: str = "pythonic"
    has_figures: ClassVar[bool] = True
    note: ClassVar[str] = (
        "Right is a plan with every step right (the official global accuracy; with tool_usage, every value as in the "
        "reference, of which there is no official figure). Further figures are over steps: the official local "
        "accuracy, and for usage the official similarity of values (1 minus the normalised Levenshtein distance). "
        "Planning and tool creation are left out: their official judge is a language model and was not run."
    )

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the plans of some stages; see ``load_samples``."""
        return load_samples(data, self.folder, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return right if all steps are; the figure of the stage has the points of the steps.

        BFCL's decoder reads the prediction. A step without a call has the answer 0 in the stages of awareness, and no
        points elsewhere.
        """
        try:
            calls = tuple(Call(name, arguments) for name, arguments in decode_calls(prediction))
        except CallDecodeError:
            calls = None
        given: dict[str, Call] = {}
        for call in calls or ():
            given.setdefault(str(call.arguments.get(STEP)), call)
        points = {answer.number: _points(sample.category, answer, given) for answer in sample.answer}
        figures = {_FIGURES[sample.category]: (sum(points.values()), float(len(points)))}
        wrong = [number for number, got in points.items() if got < 1]
        if not wrong:
            return Judgement(True, None, "", calls, figures=figures)
        aware = sample.category not in (SELECTION, USAGE)
        return Judgement(
            correct=False,
            error_type="wrong_steps" if calls is not None else "unreadable",
            message=f"steps that are not right: {', '.join(wrong)}",
            calls=calls,
            error_class="awareness" if aware and calls is not None else None,
            figures=figures,
        )

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the reference is right; a step without keys never is, by the official function."""
        return self.judge(sample, CALL_FORMATS[self.call_format].render(sample.calls)).correct


BENCHMARKS: Final = (UltraTool("ultratool", "English-dataset"), UltraTool("ultratool-zh", "Chinese-dataset"))


def _points(stage: str, answer: StepAnswer, given: Mapping[str, Call]) -> float:
    """Return what a step gets, between 0 and 1."""
    call = given.get(answer.number)
    if stage == SELECTION:
        return float(call is not None and call.name == answer.tool)
    if stage != USAGE:
        return float(("0" if call is None else "1") == answer.tool)
    if call is None or not answer.values:
        return 0.0
    return fmean(_value_points(value, call, key) for key, value in answer.values.items())


def _value_points(value: str, call: Call, key: str) -> float:
    return similarity(value, str(call.arguments[key])) if key in call.arguments else 0.0
