"""Experiments: YAML files that list methods, benchmarks and reports. Reports share runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from eval.errors import EvalError
from lookup.text.text_file import read_text

FolderName = Annotated[str, StringConstraints(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""What a run or a report is called; its folder has the same name."""

MOST_CHARACTERS: Final = 1_000_000
"""Of a file."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchmarkRuns(_Strict):
    """A benchmark of ``tooldecoding eval``, and what holds for all its runs.

    Attributes
    ----------
    benchmark : str
        Such as ``api-bank``.
    data : str
        Folder within ``--data``.
    category : tuple of str
        Only these; empty for all.
    source : str
        Where to get the data.
    options : mapping
        Options of ``eval``, as their fields are named.
    """

    benchmark: str
    data: str
    category: tuple[str, ...] = ()
    source: str = ""
    options: dict[str, Any] = Field(default_factory=dict)


class ReportOf(_Strict):
    """Which runs a report compares: some methods, all if none is named, on one or more benchmarks."""

    benchmarks: tuple[str, ...] = Field(min_length=1)
    methods: tuple[str, ...] = ()


class Experiment(_Strict):
    """A file of ``tooldecoding experiment``: options of ``eval`` by method, benchmarks, reports."""

    methods: dict[FolderName, dict[str, Any]] = Field(min_length=1)
    benchmarks: dict[FolderName, BenchmarkRuns] = Field(min_length=1)
    reports: dict[FolderName, ReportOf] = Field(min_length=1)

    def methods_of(self, report: str) -> tuple[str, ...]:
        """The names of the methods that a report compares."""
        return self.reports[report].methods or tuple(self.methods)

    def settings_of(self, benchmark: str, method: str) -> dict[str, Any]:
        """The options of ``eval`` for one run; the method's stand over the benchmark's."""
        return {**self.benchmarks[benchmark].options, **self.methods[method]}


@dataclass(frozen=True)
class PlannedRun:
    """One run: names within the experiment, and its folder."""

    benchmark: str
    method: str
    folder: Path


def read_experiment(path: Path) -> Experiment:
    """Read a file.

    Raises
    ------
    EvalError
        If it cannot be read, is no YAML, has an unknown field, or a report names what the file does not have.
    """
    text = read_text(path, EvalError)
    try:
        if len(text) > MOST_CHARACTERS or any(isinstance(token, yaml.AnchorToken) for token in yaml.scan(text)):
            raise EvalError(f"{path}: an experiment has at most {MOST_CHARACTERS:,} characters and no anchors (&)")
        experiment = Experiment.model_validate(yaml.safe_load(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise EvalError(f"{path}: {_first_fault(error)}") from None
    for name, report in experiment.reports.items():
        for kind, known, named in (
            ("benchmark", experiment.benchmarks, report.benchmarks),
            ("method", experiment.methods, report.methods),
        ):
            for unknown in sorted(set(named) - set(known)):
                raise EvalError(f"{path}: report {name}: no {kind} {unknown!r}; known: {', '.join(known)}")
    return experiment


def _first_fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        return f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}"
    return f"malformed YAML: {' '.join(str(error).split())}"


def plan(experiment: Experiment, reports: Sequence[str], folder: Path) -> Iterator[PlannedRun]:
    """Yield the runs of some reports, each once, in the sequence of the reports."""
    runs = {
        (benchmark, method): PlannedRun(benchmark, method, folder / benchmark / method)
        for name in reports
        for benchmark in experiment.reports[name].benchmarks
        for method in experiment.methods_of(name)
    }
    yield from runs.values()


def is_finished(run: PlannedRun, wanted: Mapping[str, Any]) -> bool:
    """Return whether the run's folder has all scores.

    Raises
    ------
    EvalError
        If the run in the folder has other settings than ``wanted``.
    """
    if not (run.folder / "scores.jsonl").is_file():
        return False
    try:
        there = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        raise EvalError(f"{run.folder}: this folder holds something else than a run; choose another --out") from None
    for name, value in wanted.items():
        found = there.get(name)
        if found != (list(value) if isinstance(value, tuple) else value):
            raise EvalError(f"{run.folder}: this run has {name} {found!r}, not {value!r}; choose another --out")
    return True
