"""Run folders without a model: what ``tooldecoding eval`` leaves, made up from a seed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

CLASSES = ("awareness", "selection", "format", "key", "value", "unsatisfiable")
SIZES = {"level-1-given-desc": 40, "level-2-toolsearcher": 14}


def score_row(identifier: str, category: str, error_class: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "category": category,
        "correct": error_class is None,
        "error_type": error_class and "OFFICIAL",
        "error_class": error_class,
        "structural": error_class in ("format", "key"),
        "satisfiable": error_class != "unsatisfiable",
        "missing": False,
        "message": "",
    } | more


def made_up_scores(seed: int, accuracy: float, sizes: Mapping[str, int] = SIZES) -> list[dict[str, Any]]:
    random = Random(seed)
    return [
        score_row(f"{category}/{n}", category, None if random.random() < accuracy else random.choice(CLASSES))
        for category, size in sizes.items()
        for n in range(size)
    ]


def prediction_row(score: Mapping[str, Any], seconds: float = 0.5, tokens: bool = True) -> dict[str, Any]:
    counters: dict[str, float] = {"forward_passes": 12, "positions": 340, "seconds": seconds}
    if tokens:
        counters |= {"forced_tokens": 9, "constrained_tokens": 4, "free_tokens": 21, "cache_bytes": 7_000_000}
    return {
        "id": score["id"],
        "category": score["category"],
        "prediction": "[A(b='c')]",
        "seconds": seconds,
        "candidates": [],
        "counters": counters,
    }


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_run(
    folder: Path,
    scores: Sequence[Mapping[str, Any]],
    method: str = "greedy",
    label: str | None = None,
    settings: Mapping[str, Any] | None = None,
    predictions: Sequence[Mapping[str, Any]] | None = None,
    **about: Any,
) -> Path:
    """A finished run with these rows of scores; ``about`` replaces fields of ``run.json``."""
    folder.mkdir(parents=True)
    default = {"order_limit": 12, "orders": "shuffled", "shots": 0, "batch_size": 8, "seed": 0, "limit": None}
    categories = list(dict.fromkeys(s["category"] for s in scores))
    run = {
        "benchmark": "api-bank",
        "method": method,
        "label": method if label is None else label,
        "model": "reference",
        "settings": default | {"method": method} | dict(settings or {}),
        "categories": categories,
        "samples": len(scores),
        "drawn_from": len(scores),
        "machine": {"cpu": "x86_64", "cores": 2, "device": "cpu"},
        "versions": {"tooldecoding": "0.1.0", "torch": "2.13.0"},
        "started": "2026-11-21T00:00:00+00:00",
    }
    if predictions is None:
        predictions = [prediction_row(s, tokens=method != "greedy") for s in scores if not s["missing"]]
        predictions += [prediction_row(s) | {"prediction": "", "error": "too long"} for s in scores if s["missing"]]
    (folder / "run.json").write_text(json.dumps(run | about), encoding="utf-8")
    (folder / "predictions.jsonl").write_text(lines(predictions), encoding="utf-8")
    (folder / "scores.jsonl").write_text(lines(scores), encoding="utf-8")
    return folder
