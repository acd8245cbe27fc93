"""``tooldecoding experiment``: YAML files that list methods, benchmarks and reports. Reports share runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from eval.commands.eval import evaluate
from eval.errors import EvalError
from eval.options import PEER_METHODS, EvalOptions
from eval.runs.run_folder import MANIFEST, SCORES
from eval.validation import validated
from lookup.documents.text.text_file import read_text
from tooldecoding.cli.command import Command
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError
from tooldecoding.files.manifest import demand_settings, read_manifest
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments, check_given

FolderName = Annotated[str, StringConstraints(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""What a run or a report is called; its folder has the same name."""

_MOST: Final = 1_000_000
"""Characters of a file."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchmarkRuns(_Strict):
    """A benchmark of ``tooldecoding eval``, and what holds for all its runs.

    ``data`` is a folder within ``--data``, ``source`` where to get it; ``category`` is empty for all; ``options`` are
    those of ``eval``, as their fields are named.
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


class Experiment(_Strict):
    """A file of ``tooldecoding experiment``: options of ``eval`` for all runs and by method, benchmarks, reports."""

    options: dict[str, Any] = {}
    methods: dict[FolderName, dict[str, Any]] = Field(min_length=1)
    benchmarks: dict[FolderName, BenchmarkRuns] = Field(min_length=1)
    reports: dict[FolderName, ReportOf] = Field(min_length=1)

    def plan(self, report: str) -> list[tuple[str, str]]:
        """Return the benchmark and the method of each run of a report."""
        return [*product(self.reports[report].benchmarks, self.reports[report].methods or self.methods)]


def read_experiment(path: Path) -> Experiment:
    """Read a file.

    EvalError if it cannot be read, is no YAML, has an unknown field, or a report names what the file does not have.
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


def is_finished(folder: Path, wanted: Mapping[str, Any]) -> bool:
    """Return whether a run's folder has all scores; EvalError if the run there has other settings than ``wanted``."""
    if not (folder / SCORES).is_file():
        return False
    there = read_manifest(folder / MANIFEST, EvalError, "choose another --out")
    demand_settings(folder, there.get("settings"), json.loads(json.dumps(wanted)), EvalError)
    return True


@dataclass(frozen=True, kw_only=True)
class ExperimentCommand:
    """Which experiment, on which data."""

    file: str = option(..., "The experiment.", metavar="FILE.yaml", positional=True)
    data: str = option(..., "Folder that holds the folders of the benchmarks.", metavar="DIR")
    out: str | None = option(None, "Folder of the runs and reports.", metavar="DIR", default_text="runs/FILE/MODEL")
    report: tuple[str, ...] = option(
        (), "Only this report of the file; may be repeated.", metavar="NAME", expected="a report"
    )


def experiment(given: ParsedArguments) -> None:
    """Make the runs that the reports of a file need and that are missing, and write the reports.

    Options of eval hold for all runs. An interrupted experiment goes on with the same command.
    """
    demand_extra("eval", "scipy", "matplotlib", "pandas")
    from eval.report.document import write_report

    command = given.read(ExperimentCommand)
    path = Path(command.file)
    found = read_experiment(path)
    everywhere = check_given(given.values, EvalOptions)
    for unknown in sorted(set(command.report) - set(found.reports)):
        raise EvalError(f"{path}: no report {unknown!r}; known: {', '.join(found.reports)}")
    out = Path(command.out or Path("runs", path.stem, str(everywhere.get("model", "reference")).replace("/", "--")))
    plans = {
        name: [(out / b / m, b, m, _checked(path, found, b, m, everywhere)) for b, m in found.plan(name)]
        for name in found.reports
        if not command.report or name in command.report
    }
    for name, runs in plans.items():
        abouts = [found.benchmarks[benchmark] for benchmark in found.reports[name].benchmarks]
        missing = [about for about in abouts if not Path(command.data, about.data).exists()]
        for about in missing:
            where = f"; get it: {about.source}" if about.source else ""
            print(f"{name} is left out: no {Path(command.data, about.data)}{where}")
        if missing:
            continue
        for number, (folder, benchmark, method, options) in enumerate(runs, 1):
            if not is_finished(folder, options):
                print(f"{name}, run {number} of {len(runs)}: {method} on {benchmark}")
                about = found.benchmarks[benchmark]
                place = {"benchmark": about.benchmark, "category": about.category, "out": str(folder)}
                evaluate(ParsedArguments({**options, **place, "data": str(Path(command.data, about.data))}))
        for written in write_report([folder for folder, *_ in runs], out / f"report-{name}"):
            print(written)


def _checked(
    path: Path, experiment: Experiment, benchmark: str, method: str, everywhere: Mapping[str, Any]
) -> dict[str, Any]:
    """The checked options of one run; EvalError for one that ``eval`` refuses, or that is given at two places.

    Options of the method stand over the benchmark's, these over the file's.
    """
    place, of_method = f"{path}: {method} on {benchmark}", experiment.methods[method]
    options = {**experiment.options, **experiment.benchmarks[benchmark].options, **of_method}
    for name in sorted(set(of_method) & set(everywhere)):
        raise EvalError(f"{place} sets {name}, so it cannot be given for all runs")
    for name in sorted(set(options) - {each.name for each in options_of(EvalOptions)}):
        raise EvalError(f"{place}: eval has no option {name!r}")
    try:
        settings = {**check_given(options, EvalOptions), **everywhere}
    except ConfigError as error:
        raise EvalError(f"{place}: {error}") from None
    if settings.get("method") in PEER_METHODS:
        demand_extra("bench", str(settings["method"]))
    return settings


EXPERIMENT = Command("experiment", experiment, (*options_of(ExperimentCommand), *options_of(EvalOptions)))
