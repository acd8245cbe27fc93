"""BFCL as benchmarks: the live categories, and the categories of version 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.data import VERSION_PREFIX, BfclAnswer, function_calling, has_answers, load_samples
from eval.benchmarks.bfcl.parser import pythonic_calls
from eval.benchmarks.faults import Fault, shown
from eval.benchmarks.function_calls import FUNCTION_CALLS, OddCallsError, official_result, read_function_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError
from eval.runs.score import write_rows
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.pythonic import PYTHONIC


@dataclass(frozen=True)
class Bfcl(Benchmark):
    """Some categories of BFCL."""

    def of_template(self, template: str | None) -> "Bfcl":
        """Return the benchmark in function-calling mode for the template ``chat``, else in prompt mode."""
        return replace(self, call_format=FUNCTION_CALLS.name) if template == "chat" else self

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return the entries of some categories; see ``load_samples``."""
        samples = load_samples(data, categories, self.categories)
        return samples if self.call_format != FUNCTION_CALLS.name else [function_calling(s) for s in samples]

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return id and category, and the mode if it is function calling."""
        return super().describe(sample) | ({"mode": FUNCTION_CALLS.name} if sample.answer.function_calling else {})

    def sample_of(self, row: Mapping[str, Any], sample: Sample) -> Sample:
        """Return the sample in the mode of a prediction: what its row says, by default prompt mode."""
        mode = row.get("mode")
        if mode not in (None, FUNCTION_CALLS.name):
            raise EvalError(f"expected the mode {FUNCTION_CALLS.name}, or none for prompt mode, found {shown(mode)}")
        return sample if mode is None else function_calling(sample)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict in the sample's mode. (Ir)relevance categories only ask whether it has calls."""
        answer: BfclAnswer = sample.answer
        calls: Sequence[Call] | None = None
        why = "there is no call"
        try:
            calls = read_function_calls(prediction) if answer.function_calling else pythonic_calls(prediction)
        except CallDecodeError as error:
            why, kind = str(error), "wrong_output_format" if isinstance(error, OddCallsError) else "failed"
            fault: Fault | None = Fault(f"ast_decoder:decoder_{kind}", why)
        if not has_answers(sample.category):
            fault = _awareness_fault(sample.category, calls, why)
        elif calls is not None:
            fault = check_calls(answer.functions, calls, answer.truth, sample.category)
        return Judgement.of(fault, calls)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the reference calls are right. They are built to be right if any calls are."""
        written = FUNCTION_CALLS if sample.answer.function_calling else PYTHONIC
        return not has_answers(sample.category) or self.judge(sample, written.render(sample.calls)).correct

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys with ``""`` among their alternatives."""
        [truth] = sample.answer.truth
        [accepted] = truth.values()
        return frozenset(key for key, values in accepted.items() if isinstance(values, list) and "" in values)

    def export(
        self, rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None
    ) -> list[Path]:
        """Write ``OUT/MODEL/(live|non_live)/BFCL_v4_CATEGORY_result.json``, one a category, for ``bfcl evaluate``.

        ``bfcl evaluate --model MODEL --result-dir OUT --score-dir SCORES --test-category CATEGORY,… --partial-eval``
        scores them (package bfcl-eval 2026.3.23; give absolute folders, since it takes them relative to
        ``BFCL_PROJECT_ROOT``). Without ``--partial-eval`` it refuses a file that lacks an entry of its own data. It
        only scores names that it knows, and the name decides how calls are read: choose one whose handler reads prompt
        mode's Python lists and keeps dots in tool names, such as ``meta-llama/Llama-3.1-8B-Instruct`` or
        ``Qwen/Qwen3-8B`` (without ``-FC``). Predictions of function-calling mode need a name of
        ``OpenAICompletionsHandler``, such as ``openbmb/MiniCPM-SALA-FC``.

        Parameters
        ----------
        rows : sequence of mapping
            ``id`` and ``prediction``; ``seconds`` becomes the official ``latency``. A row with an ``error`` becomes a
            text without calls, as in the official generation (right for an irrelevance entry).

        Raises
        ------
        EvalError
            For a row with an unknown or repeated id or without a prediction, an id of an older version of BFCL, no
            model name or one with an underscore (the official tool takes it for a slash), or a folder that cannot be
            written.
        """
        if model is None:
            raise EvalError(
                "bfcl scores models that it knows by name; name one with --model-name, such as Qwen/Qwen3-8B"
            )
        if not model or "_" in model or model.strip("./") != model:
            raise EvalError(f"expected a model name of the official package, without underscores, got {model!r}")
        by_id = {s.id: s for s in samples}
        results: dict[str, dict[int, dict[str, Any]]] = {s.category: {} for s in samples}
        for row in rows:
            key = row.get("id")
            if key not in by_id:
                raise EvalError(f"a prediction for {key!r}, which is none of the {len(by_id)} samples")
            category = by_id[key].category
            number = _official_number(key, category)
            if number in results[category]:
                raise EvalError(f"two predictions for {key!r}")
            results[category][number] = _result(row)
        paths = []
        for category in filter(results.get, results):
            folder = out / model.replace("/", "_") / ("live" if category.startswith("live_") else "non_live")
            paths.append(folder / f"{VERSION_PREFIX}_{category}_result.json")
            write_rows([row for _, row in sorted(results[category].items())], paths[-1])
        return paths


def _awareness_fault(category: str, calls: Sequence[Call] | None, why_none: str) -> Fault | None:
    if "irrelevance" not in category:
        return None if calls else Fault("relevance_error:decoder_failed", why_none)
    names = ", ".join(call.name for call in calls[:3]) if calls else ""
    return Fault("irrelevance_error:decoder_success", f"a call where none is right: {names}") if calls else None


def _official_number(key: str, category: str) -> int:
    """Return the number that the official tool sorts by: 19 of ``live_simple_19-3-15``."""
    number = key.removeprefix(f"{category}_").split("-")[0]
    if not key.startswith(f"{category}_") or not number.isdecimal():
        raise EvalError(f"the official tool would not know {key!r}: expected an id of BFCL v4 such as '{category}_0'")
    return int(number)


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    text = row.get("prediction")
    if not isinstance(text, str):
        raise EvalError(f"{row['id']}: expected a text 'prediction', found {text!r}")
    answer: Any = text
    if row.get("error"):
        answer = f"Error during inference: {row['error']}"
    elif row.get("mode") == FUNCTION_CALLS.name:
        answer = official_result(text)
    return {"id": row["id"], "result": answer} | ({"latency": row["seconds"]} if "seconds" in row else {})


_LIVE: Final = ("simple", "multiple", "parallel", "parallel_multiple", "relevance", "irrelevance")

BFCL_LIVE: Final = Bfcl("bfcl-live", tuple(f"live_{name}" for name in _LIVE))
"""The live categories (contributed by users)."""

_V1: Final = ("simple_python", "multiple", "parallel", "parallel_multiple")

BFCL_V1: Final = Bfcl("bfcl-v1", _V1)
"""The categories of version 1 whose calls are written in Python."""
