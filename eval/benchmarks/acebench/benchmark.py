"""ACEBench as a benchmark: single-turn English categories, normal and special."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.acebench.checker import check_calls, check_sentence, decode_calls
from eval.benchmarks.acebench.data import NORMAL, SPECIAL, AceAnswer, load_samples
from eval.benchmarks.faults import Fault
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError
from eval.runs.score import write_rows
from tooldecoding.formats.call_format import Call


@dataclass(frozen=True)
class AceBench(Benchmark):
    """The categories with one turn."""

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the entries of some categories; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict; in special categories on the sentence that the answer must hold."""
        answer: AceAnswer = sample.answer
        fault: Fault | None
        try:
            calls = [Call(name, arguments) for name, arguments in decode_calls(prediction)]
            faults = [check_calls(answer.functions, calls, truth) for truth in answer.truths]
            fault = faults[0] if faults and None not in faults else None
        except CallDecodeError as error:
            calls, fault = None, Fault("wrong_output_format", str(error))
        if sample.category in SPECIAL:
            fault = check_sentence(sample.category, prediction, answer.parts)
        return Judgement.of(fault, calls)

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys of the ground truth that the documentation does not require."""
        [call] = sample.calls
        tool = sample.documentation.lookup[call.name]
        return frozenset(call.arguments) - {parameter.name for parameter in tool.parameters if parameter.required}

    def export(
        self, rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None
    ) -> list[Path]:
        """Write ``OUT/MODEL/data_CATEGORY_result.json`` for ``eval_main.py``, and return the paths.

        ``OUT`` is ``result_all/result_en`` of a checkout. The official scorer compares line by line with its questions,
        so that a category is written with all its samples or not at all: an EvalError if only some have predictions.
        """
        if not model or "/" in model:
            raise EvalError(f"expected a folder name with --model-name, got {model!r}")
        texts = {row["id"]: "" if row.get("error") else str(row["prediction"]) for row in rows}
        paths = []
        for category in dict.fromkeys(sample.category for sample in samples):
            ids = [sample.id for sample in samples if sample.category == category]
            missing = [identifier for identifier in ids if identifier not in texts]
            if len(missing) == len(ids):
                continue
            if missing:
                raise EvalError(f"{category}: the official scorer wants all {len(ids)} samples, {missing[0]} has none")
            paths.append(out / model / f"data_{category}_result.json")
            write_rows([{"id": identifier, "result": texts[identifier]} for identifier in ids], paths[-1])
        return paths


ACEBENCH: Final = AceBench("acebench", (*NORMAL, *SPECIAL))
