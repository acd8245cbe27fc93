"""``tooldecoding experiment``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.commands.eval import evaluate
from eval.errors import EvalError
from eval.experiment import Experiment, is_finished, plan, read_experiment
from eval.options import PEER_METHODS, EvalOptions
from tooldecoding.cli.command import Command
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError
from tooldecoding.options.given import Given, check_given
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class ExperimentCommand:
    """Which experiment, on which data."""

    file: str = option(..., "The experiment.", metavar="FILE.yaml", positional=True)
    data: str = option(..., "Folder that holds the folders of the benchmarks.", metavar="DIR")
    out: str | None = option(None, "Folder of the runs and reports.", metavar="DIR", default_text="runs/FILE/MODEL")
    report: tuple[str, ...] = option(
        (), "Only this report of the file; may be repeated.", metavar="NAME", expected="a report"
    )


def experiment(given: Given) -> None:
    """Make the runs that the reports of a file need and that are missing, and write the reports.

    Options of eval hold for all runs. An interrupted experiment goes on with the same command.
    """
    demand_extra("eval", "scipy", "matplotlib")
    command = given.read(ExperimentCommand)
    path = Path(command.file)
    found = read_experiment(path)
    everywhere = check_given(given.values, EvalOptions)
    chosen = _chosen(path, found, command.report)
    settings = {
        (run.benchmark, run.method): _settings(path, found, run.benchmark, run.method, everywhere)
        for run in plan(found, chosen, Path())
    }
    out = Path(command.out or Path("runs", path.stem, str(everywhere.get("model", "reference")).replace("/", "--")))
    for name in chosen:
        missing = [b for b in found.reports[name].benchmarks if not _data(command.data, found, b).exists()]
        for benchmark in missing:
            source = found.benchmarks[benchmark].source
            where = f"; get it: {source}" if source else ""
            print(f"{name} is left out: no {_data(command.data, found, benchmark)}{where}")
        if not missing:
            _make(command.data, found, name, settings, out)


def _settings(path: Path, found: Experiment, benchmark: str, method: str, everywhere: dict[str, Any]) -> dict[str, Any]:
    """The checked options of one run; EvalError for one that ``eval`` refuses, or that is given at two places."""
    wanted = found.settings_of(benchmark, method)
    place = f"{path}: {method} on {benchmark}"
    for name in sorted(set(found.methods[method]) & set(everywhere)):
        raise EvalError(f"{place} sets {name}, so it cannot be given for all runs")
    known = {each.name for each in options_of(EvalOptions)}
    for name in sorted(set(wanted) - known):
        raise EvalError(f"{place}: eval has no option {name!r}")
    try:
        settings = {**check_given(wanted, EvalOptions), **everywhere}
    except ConfigError as error:
        raise EvalError(f"{place}: {error}") from None
    if settings.get("method") in PEER_METHODS:
        demand_extra("bench", str(settings["method"]))
    return settings


def _chosen(path: Path, found: Experiment, reports: tuple[str, ...]) -> list[str]:
    for unknown in sorted(set(reports) - set(found.reports)):
        raise EvalError(f"{path}: no report {unknown!r}; known: {', '.join(found.reports)}")
    return [name for name in found.reports if not reports or name in reports]


def _data(folder: str, found: Experiment, benchmark: str) -> Path:
    return Path(folder) / found.benchmarks[benchmark].data


def _make(data: str, found: Experiment, name: str, settings: dict[tuple[str, str], dict[str, Any]], out: Path) -> None:
    """Make the missing runs of one report, and the report."""
    from eval.report import write_report

    runs = list(plan(found, [name], out))
    for number, run in enumerate(runs, 1):
        wanted = settings[run.benchmark, run.method]
        if is_finished(run, wanted):
            continue
        print(f"{name}, run {number} of {len(runs)}: {run.method} on {run.benchmark}")
        about = found.benchmarks[run.benchmark]
        place = {"benchmark": about.benchmark, "category": list(about.category), "out": str(run.folder)}
        evaluate(Given({**wanted, **place, "data": str(_data(data, found, run.benchmark))}))
    for written in write_report([str(run.folder) for run in runs], out / f"report-{name}"):
        print(written)


_OPTIONS = tuple(each for each in options_of(EvalOptions) if each.only != "file")

EXPERIMENT = Command("experiment", experiment, (*options_of(ExperimentCommand), *_OPTIONS))
