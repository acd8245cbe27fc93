"""ACEBench as a benchmark: single-turn English categories, normal and special."""

from dataclasses import dataclass
from typing import Final

from eval.benchmarks.acebench.checker import check_calls, check_sentence, decode_calls
from eval.benchmarks.acebench.data import NORMAL, SPECIAL, AceAnswer, load_samples
from eval.benchmarks.samples import Benchmark, Fault, Judgement, Sample
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.reading import UnreadableCallError


@dataclass(frozen=True)
class AceBench(Benchmark):
    """The categories with one turn."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict; in special categories on the sentence that the answer must hold."""
        answer: AceAnswer = sample.answer
        fault: Fault | None
        try:
            calls = [Call(name, arguments) for name, arguments in decode_calls(prediction)]
            faults = [check_calls(answer.functions, calls, truth) for truth in answer.truths]
            fault = faults[0] if faults and None not in faults else None
        except UnreadableCallError as error:
            calls, fault = None, Fault("wrong_output_format", str(error))
        if sample.category in SPECIAL:
            fault = check_sentence(sample.category, prediction, answer.parts)
        return Judgement.of(fault, calls)

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys of the ground truth that the documentation does not require."""
        [call] = sample.calls
        tool = sample.documentation.lookup[call.name]
        return frozenset(call.arguments) - {parameter.name for parameter in tool.parameters if parameter.required}


ACEBENCH: Final = AceBench("acebench", (*NORMAL, *SPECIAL), load_samples)
