"""Writes predictions as result files for ACEBench's ``eval_main.py`` (commit e6db74b)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.runs.score import write_rows


def export(rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path, model: str | None) -> list[Path]:
    """Write ``OUT/MODEL/data_CATEGORY_result.json``, one file per category, and return the paths.

    ``OUT`` is ``result_all/result_en`` of a checkout. The official scorer compares line by line with its questions, so
    that a category is written with all its samples or not at all.

    Raises
    ------
    EvalError
        If there is no model name, a sample of a category with predictions has none, or a file cannot be written.
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
