"""API-Bank as a benchmark: levels 1 (Call) and 2 (Retrieve+Call)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.api_bank.checker import check_output
from eval.benchmarks.api_bank.data import LEVELS, ApiBankAnswer, identify, load_samples
from eval.benchmarks.samples import Judgement, Sample


@dataclass(frozen=True)
class ApiBank:
    """Dialogues in which tools were called; every call is a sample, a call behind a call is two."""

    name: str = "api-bank"
    categories: tuple[str, ...] = LEVELS
    call_format: str = "api-bank"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """The samples of some levels; see ``eval.benchmarks.api_bank.data.load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """The official evaluator's verdict, inferred from what the dialogues recorded."""
        answer: ApiBankAnswer = sample.answer
        return check_output(prediction, answer.truth, answer.database, answer.repeated)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the recorded call itself is judged right.

        It is not where the reader cannot give what was recorded (lists), the tool has another key or output by now, or
        the call needs what an earlier one of its dialogue had changed. No other call is right there, either.
        """
        return self.judge(sample, render_truth(sample)).correct

    def identify(self, row: Mapping[str, Any]) -> str:
        """The id in a row with ``id``, or with ``file``, ``sample_id`` and ``level``."""
        return identify(row)

    def describe(self, sample: Sample) -> dict[str, Any]:
        """``id``, ``file``, ``sample_id``, ``level`` and ``category``."""
        answer: ApiBankAnswer = sample.answer
        return {
            "id": sample.id,
            "file": answer.file,
            "sample_id": answer.sample_id,
            "level": answer.level,
            "category": sample.category,
        }


def render_truth(sample: Sample) -> str:
    """The recorded call as API-Bank's own predictions write one: every value between single quotes, none escaped."""
    call = sample.calls[0]
    arguments = ", ".join(f"{key}='{value}'" for key, value in call.arguments.items())
    return f"[{call.name}({arguments})]"


API_BANK: Final = ApiBank()
