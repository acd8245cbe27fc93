"""API-Bank as a benchmark: levels 1 (Call) and 2 (Retrieve+Call)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.api_bank.checker import check_output
from eval.benchmarks.api_bank.data import LEVELS, ApiBankAnswer, identify, load_samples
from eval.benchmarks.api_bank.export import export
from eval.benchmarks.samples import Benchmark, Judgement, Sample


@dataclass(frozen=True)
class ApiBank(Benchmark):
    """Dialogues with recorded calls. Every call is a sample; a call right after a call is two."""

    name: str = "api-bank"
    categories: tuple[str, ...] = LEVELS
    call_format: str = "api-bank"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the samples of some levels; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official evaluator's verdict, inferred from what the dialogues recorded."""
        answer: ApiBankAnswer = sample.answer
        return check_output(prediction, answer.truth, answer.database, answer.repeated)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the recorded call itself is judged right.

        It is not if the official parser cannot return the recorded value (a list), if the tool has another key or
        output today, or if the call needs what an earlier call of its dialogue had changed. Then no other call is right
        either.
        """
        return self.judge(sample, render_truth(sample)).correct

    def identify(self, row: Mapping[str, Any]) -> str:
        """Return the id of a row with ``id``, or with ``file``, ``sample_id`` and ``level``."""
        return identify(row)

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return ``id``, ``file``, ``sample_id``, ``level`` and ``category``."""
        answer: ApiBankAnswer = sample.answer
        return {
            "id": sample.id,
            "file": answer.file,
            "sample_id": answer.sample_id,
            "level": answer.level,
            "category": sample.category,
        }

    def export(
        self, rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None
    ) -> list[Path]:
        """Write files for ``evaluator_by_json.py``; see ``eval.benchmarks.api_bank.export``."""
        return export(rows, samples, out)


def render_truth(sample: Sample) -> str:
    """Write the recorded call as API-Bank's own predictions do: every value in single quotes, without escapes."""
    call = sample.calls[0]
    arguments = ", ".join(f"{key}='{value}'" for key, value in call.arguments.items())
    return f"[{call.name}({arguments})]"


API_BANK: Final = ApiBank()
BENCHMARKS: Final = (API_BANK,)
