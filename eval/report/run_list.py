"""The runs of a report: read, sorted, and with names that tell them apart."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.options import METHOD_NAMES
from eval.report.finished_run import Run, read_run

_USUAL: Final[Mapping[str, Any]] = {"documentation": "full", "shots": 0, "tool_choice": "auto"}
"""Settings of prompts that stand in a run's name if they are others."""


def read_runs(folders: Sequence[str | Path]) -> list[Run]:
    """Read runs, and name them so that each can be told from the others.

    Returns
    -------
    list of Run
        Sorted by benchmark and model in the order given, then by method, order limit and label. Runs that share
        benchmark, model and label have the settings that differ in their names.

    Raises
    ------
    EvalError
        As ``read_run``; also if no folder is given, or two hold the same run.
    """
    if not folders:
        raise EvalError("expected the folders of one or more runs, found none")
    runs = [read_run(f) for f in folders]
    for index, run in enumerate(runs):
        for other in runs[:index]:
            if _identity(run) == _identity(other):
                raise EvalError(f"{run.folder}: the same run as {other.folder}; give one of them")
    runs = [_told_apart(run, [r for r in runs if r is not run and _alike(r, run)]) for run in runs]
    benchmarks = list(dict.fromkeys(r.benchmark for r in runs))
    models = list(dict.fromkeys(r.model for r in runs))
    return sorted(runs, key=lambda r: (benchmarks.index(r.benchmark), models.index(r.model), *_rank(r)))


def _alike(run: Run, other: Run) -> bool:
    return (run.benchmark, run.model, run.label) == (other.benchmark, other.model, other.label)


def _identity(run: Run) -> str:
    """Two folders with the same identity hold one run: a copy, or one folder given twice."""
    about = [run.benchmark, run.method, run.model, run.label, run.started, run.settings, run.machine, run.categories]
    return json.dumps(about, sort_keys=True, default=str)


def _told_apart(run: Run, others: Sequence[Run]) -> Run:
    """Return the run, its name with what its prompts leave out or add, and what differs from runs of the same label."""
    unusual = [
        f"{name} {run.settings[name]}" for name, usual in _USUAL.items() if run.settings.get(name, usual) != usual
    ]
    if not others:
        return replace(run, name=", ".join([run.label, *unusual]))
    names = sorted({name for r in (run, *others) for name in r.settings})
    differing = [
        f"{name} {run.settings.get(name)}"
        for name in names
        if any(r.settings.get(name) != run.settings.get(name) for r in others)
    ]
    differing = list(dict.fromkeys([*unusual, *differing]))
    same = any(all(r.settings.get(name) == run.settings.get(name) for name in names) for r in others)
    return replace(run, name=", ".join([run.label, *differing, *([f"in {run.folder}"] if same else [])]))


def _rank(run: Run) -> tuple[int, int, int, str]:
    method = METHOD_NAMES.index(run.method) if run.method in METHOD_NAMES else len(METHOD_NAMES)
    return method, run.settings.get("order_limit") or 0, run.settings.get("shots") or 0, run.label
