"""Writes predictions as result files for the official ``bfcl evaluate``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.function_calls import FUNCTION_CALLS, official_result
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.runs.score import write_rows

VERSION_PREFIX: Final = "BFCL_v4"
"""Prefix of the files that the official package looks for."""


def export(rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None) -> list[Path]:
    """Write ``OUT/MODEL/(live|non_live)/BFCL_v4_CATEGORY_result.json``, one file per category, and return the paths.

    ``bfcl evaluate --model MODEL --result-dir OUT --score-dir SCORES --test-category CATEGORY,… --partial-eval`` scores
    them (package bfcl-eval 2026.3.23; give absolute folders, since it takes them relative to ``BFCL_PROJECT_ROOT``).
    Without ``--partial-eval`` it refuses a file that lacks an entry of its own data. It only scores names that it
    knows, and the name decides how calls are read: choose one whose handler reads prompt mode's Python lists and keeps
    dots in tool names, such as ``meta-llama/Llama-3.1-8B-Instruct`` or ``Qwen/Qwen3-8B`` (without ``-FC``). Predictions
    of function-calling mode need a name of ``OpenAICompletionsHandler``, such as ``openbmb/MiniCPM-SALA-FC``.

    Parameters
    ----------
    rows : sequence of mapping
        ``id`` and ``prediction``; ``seconds`` becomes the official ``latency``. A row with an ``error`` becomes a text
        without calls, as in the official generation (right for an irrelevance entry).
    samples : sequence of Sample
        Give the category of each row. Samples without a row are left out.
    out : Path
        The folder for ``--result-dir``.
    model : str or None
        A name that the official package knows; required.

    Raises
    ------
    EvalError
        For a row with an unknown or repeated id or without a prediction, an id of an older version of BFCL, no model
        name or one with an underscore (the official tool takes it for a slash), or a folder that cannot be written.
    """
    if model is None:
        raise EvalError("bfcl scores models that it knows by name; name one with --model-name, such as Qwen/Qwen3-8B")
    if not model or "_" in model or model.strip("./") != model:
        raise EvalError(f"expected a model name of the official package, without underscores, got {model!r}")
    by_id = {s.id: s for s in samples}
    results: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    done: set[str] = set()
    for row in rows:
        key = row.get("id")
        if key not in by_id:
            raise EvalError(f"a prediction for {key!r}, which is none of the {len(by_id)} samples")
        if key in done:
            raise EvalError(f"two predictions for {key!r}")
        done.add(key)
        category = by_id[key].category
        results.setdefault(category, []).append((_index(key, category), _result(row)))
    folder = out / model.replace("/", "_")
    return [_write(c, results[c], folder) for c in dict.fromkeys(s.category for s in samples) if c in results]


def _index(key: str, category: str) -> int:
    """Return the number that the official tool sorts by: 19 of ``live_simple_19-3-15``."""
    number = key.removeprefix(f"{category}_").split("-")[0]
    if not key.startswith(f"{category}_") or not number.isdecimal():
        raise EvalError(f"the official tool would not know {key!r}: expected an id of BFCL v4 such as '{category}_0'")
    return int(number)


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    text = row.get("prediction")
    if not isinstance(text, str):
        raise EvalError(f"{row['id']}: expected a text 'prediction', found {text!r}")
    answer: Any = f"Error during inference: {row['error']}" if row.get("error") else text
    if row.get("mode") == FUNCTION_CALLS.name and not row.get("error"):
        answer = official_result(text)
    result = {"id": row["id"], "result": answer}
    return result | ({"latency": row["seconds"]} if "seconds" in row else {})


def _write(category: str, entries: Sequence[tuple[int, Mapping[str, Any]]], folder: Path) -> Path:
    path = (
        folder / ("live" if category.startswith("live_") else "non_live") / f"{VERSION_PREFIX}_{category}_result.json"
    )
    write_rows([row for _, row in sorted(entries, key=lambda e: e[0])], path)
    return path
