"""ACEBench as a benchmark: single-turn English categories, normal and special."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.acebench.checker import check_calls, check_sentence
from eval.benchmarks.acebench.data import NORMAL, SPECIAL, AceAnswer, load_samples
from eval.benchmarks.acebench.decoder import decode_calls
from eval.benchmarks.acebench.export import export
from eval.benchmarks.faults import Fault
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS


@dataclass(frozen=True)
class AceBench(Benchmark):
    """The categories with one turn."""

    name: str = "acebench"
    categories: tuple[str, ...] = (*NORMAL, *SPECIAL)
    call_format: str = "pythonic"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the entries of some categories; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict; in special categories on the sentence that the answer must hold."""
        answer: AceAnswer = sample.answer
        try:
            calls = tuple(Call(name, arguments) for name, arguments in decode_calls(prediction))
        except CallDecodeError as error:
            calls, unreadable = None, Fault("wrong_output_format", str(error))
        if sample.category in SPECIAL:
            fault = check_sentence(sample.category, prediction, answer.parts)
        elif calls is None:
            fault = unreadable
        else:
            faults = [check_calls(answer.functions, calls, truth) for truth in answer.truths]
            fault = None if None in faults else faults[0]
        if fault is None:
            return Judgement(True, None, "", calls)
        return Judgement(False, fault.error_type, fault.message, calls)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the ground truth is right by the official scorer."""
        if sample.category in SPECIAL:
            return True
        return self.judge(sample, CALL_FORMATS[self.call_format].render(sample.calls)).correct

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys of the ground truth that the documentation does not require."""
        [call] = sample.calls
        tool = sample.documentation.lookup[call.name]
        return frozenset(call.arguments) - {parameter.name for parameter in tool.parameters if parameter.required}

    def export(
        self, rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None
    ) -> list[Path]:
        """Write result files for ``eval_main.py``; see ``eval.benchmarks.acebench.export``."""
        return export(rows, samples, out, model)


BENCHMARKS: Final = (AceBench(),)
