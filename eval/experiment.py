"""Experiments: YAML files that list methods, benchmarks and reports. Reports share runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from eval.errors import EvalError
from eval.runs.run_folder import MANIFEST, SCORES
from eval.validation import validated
from lookup.text.text_file import read_text
from tooldecoding.files.manifest import demand_settings, read_manifest

FolderName = Annotated[str, StringConstraints(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""What a run or a report is called; its folder has the same name."""

_MOST: Final = 1_000_000
"""Characters of a file."""


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
    category : list of str
        Only these; empty for all.
    source : str
        Where to get the data.
    options : mapping
        Options of ``eval``, as their fields are named.
    """

    benchmark: str
    data: str
    category: list[str] = []
    source: str = ""
    options: dict[str, Any] = {}


class ReportOf(_Strict):
    """Which runs a report compares: some methods, all if none is named, on one or more benchmarks."""

    benchmarks: list[str] = Field(min_length=1)
    methods: list[str] = []


@dataclass(frozen=True)
class PlannedRun:
    """One run: names within the experiment, its folder, and its options of ``eval``."""

    benchmark: str
    method: str
    folder: Path
    options: Mapping[str, Any]


class Experiment(_Strict):
    """A file of ``tooldecoding experiment``: options of ``eval`` for all runs and by method, benchmarks, reports."""

    options: dict[str, Any] = {}
    methods: dict[FolderName, dict[str, Any]] = Field(min_length=1)
    benchmarks: dict[FolderName, BenchmarkRuns] = Field(min_length=1)
    reports: dict[FolderName, ReportOf] = Field(min_length=1)

    def plan(self, report: str, folder: Path) -> list[PlannedRun]:
        """Return the runs of a report. Options of the method stand over the benchmark's, these over the file's."""
        return [
            PlannedRun(
                benchmark,
                method,
                folder / benchmark / method,
                {**self.options, **self.benchmarks[benchmark].options, **self.methods[method]},
            )
            for benchmark in self.reports[report].benchmarks
            for method in self.reports[report].methods or self.methods
        ]


def read_experiment(path: Path) -> Experiment:
    """Read a file.

    Raises
    ------
    EvalError
        If it cannot be read, is no YAML, has an unknown field, or a report names what the file does not have.
    """
    text = read_text(path, EvalError)
    try:
        if len(text) > _MOST or any(isinstance(token, yaml.AnchorToken) for token in yaml.scan(text)):
            raise EvalError(f"{path}: an experiment has at most {_MOST:,} characters and no anchors (&)")
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise EvalError(f"{path}: malformed YAML: {' '.join(str(error).split())}") from None
    experiment = validated(Experiment, content, str(path))
    for name, report in experiment.reports.items():
        for known, named in ((experiment.benchmarks, report.benchmarks), (experiment.methods, report.methods)):
            for unknown in sorted(set(named) - set(known)):
                raise EvalError(f"{path}: report {name}: {unknown!r} is not in the file; known: {', '.join(known)}")
    return experiment


def is_finished(run: PlannedRun, wanted: Mapping[str, Any]) -> bool:
    """Return whether the run's folder has all scores; EvalError if the run there has other settings than ``wanted``."""
    if not (run.folder / SCORES).is_file():
        return False
    there = read_manifest(run.folder / MANIFEST, EvalError, "choose another --out")
    demand_settings(run.folder, there.get("settings"), json.loads(json.dumps(wanted)), EvalError)
    return True
