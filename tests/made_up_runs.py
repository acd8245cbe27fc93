"""Run folders without a model: what ``tooldecoding eval`` leaves, made up."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def score_row(identifier: str, category: str = "seen", error_class: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "category": category,
        "correct": error_class is None,
        "error_class": error_class,
        "structural": error_class in ("format", "key"),
        "missing": False,
    } | more


def score_rows(*classes: str | None) -> list[dict[str, Any]]:
    """A row for each error class; None where it is right."""
    return [score_row(str(number), error_class=found) for number, found in enumerate(classes)]


def prediction_row(score: Mapping[str, Any], seconds: float = 0.5, **counters: float) -> dict[str, Any]:
    if score["missing"]:
        return {"id": score["id"], "prediction": "", "seconds": 0.0, "error": "too long", "counters": {}}
    counted = {"forward_passes": 12, "positions": 340, **counters}
    return {"id": score["id"], "prediction": "[A(b='c')]", "seconds": seconds, "counters": counted}


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_run(
    folder: Path,
    scores: Sequence[Mapping[str, Any]],
    method: str = "greedy",
    settings: Mapping[str, Any] | None = None,
    predictions: Sequence[Mapping[str, Any]] | None = None,
    values: Sequence[Mapping[str, Any]] = (),
    **about: Any,
) -> Path:
    """A finished run with these rows; ``about`` replaces fields of ``run.json``."""
    folder.mkdir(parents=True)
    run = {
        "benchmark": "sgd",
        "method": method,
        "label": method,
        "model": "reference",
        "settings": {"order_limit": 12, "batch_size": 8, "seed": 0, "limit": None} | dict(settings or {}),
        "categories": list(dict.fromkeys(s["category"] for s in scores)),
        "samples": len(scores),
        "drawn_from": len(scores),
        "machine": {"cpu": "x86_64", "cores": 2},
        "versions": {"torch": "2.13.0"},
        "started": "2026-11-21T00:00:00+00:00",
    }
    (folder / "run.json").write_text(json.dumps(run | about), encoding="utf-8")
    (folder / "predictions.jsonl").write_text(lines(predictions or map(prediction_row, scores)), encoding="utf-8")
    (folder / "scores.jsonl").write_text(lines(scores), encoding="utf-8")
    (folder / "values.jsonl").write_text(lines(values), encoding="utf-8")
    return folder
