"""Predictions in the format that API-Bank's ``evaluator_by_json.py`` reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.api_bank.data import LEVELS, ApiBankAnswer, identify
from eval.benchmarks.samples import Sample
from eval.runs.score import write_rows


def export(rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample], out: Path) -> list[Path]:
    """Write one file a level: ``{"file", "id", "pred"}`` a line, for every sample.

    Set ``data_dir`` and ``evaluation_path`` in ``evaluator_by_json.py`` to a level's folder and its file. The evaluator
    fails at a dialogue of which it has no row, so that a sample without a prediction gets an empty one: NO_API_CALL.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of predictions; they name their sample as ``eval.benchmarks.api_bank.data.identify`` reads it.
    samples : sequence of Sample
        All samples of the levels.
    out : Path
        Folder of the files ``LEVEL.jsonl``.

    Raises
    ------
    EvalError
        If a file cannot be written.
    """
    predictions = {identify(row): row["prediction"] for row in rows}
    paths = []
    for level in LEVELS:
        lines = [_row(s.answer, predictions.get(s.id, "")) for s in samples if s.category == level]
        if lines:
            paths.append(out / f"{level}.jsonl")
            write_rows(lines, paths[-1])
    return paths


def _row(answer: ApiBankAnswer, prediction: str) -> dict[str, Any]:
    return {"file": answer.file, "id": answer.sample_id, "pred": prediction}
