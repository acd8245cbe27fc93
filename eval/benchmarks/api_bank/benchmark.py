"""API-Bank as a benchmark: levels 1 (Call) and 2 (Retrieve+Call)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.api_bank.checker import check_output
from eval.benchmarks.api_bank.data import LEVELS, ApiBankAnswer, load_samples
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError


@dataclass(frozen=True)
class ApiBank(Benchmark):
    """Dialogues with recorded calls. Every call is a sample; a call right after a call is two."""

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
        """Return the id of a row with ``id``, or with ``file``, ``sample_id`` and ``level``; EvalError without."""
        if isinstance(row.get("id"), str):
            return str(row["id"])
        file, sample_id, level = (row.get(k) for k in ("file", "sample_id", "level"))
        if not isinstance(file, str) or type(sample_id) is not int or not isinstance(level, str):
            raise EvalError(
                "expected a text 'id', or 'file' (text), 'sample_id' (whole number) and 'level' (text); "
                f"the row has {', '.join(map(repr, row)) or 'no columns'}"
            )
        return f"{level}/{file}/{sample_id}"

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return ``id``, ``file``, ``sample_id``, ``level`` and ``category``."""
        names = {name: getattr(sample.answer, name) for name in ("file", "sample_id", "level")}
        return {"id": sample.id} | names | {"category": sample.category}


def render_truth(sample: Sample) -> str:
    """Write the recorded call as API-Bank's own predictions do: every value in single quotes, without escapes."""
    call = sample.calls[0]
    arguments = ", ".join(f"{key}='{value}'" for key, value in call.arguments.items())
    return f"[{call.name}({arguments})]"


API_BANK: Final = ApiBank("api-bank", LEVELS, load_samples, "api-bank")
