"""``tooldecoding experiment``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.commands.eval import evaluate
from eval.errors import EvalError
from eval.experiment import PlannedRun, is_finished, read_experiment
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
    demand_extra("eval", "scipy", "matplotlib", "pandas")
    from eval.report import write_report

    command = given.read(ExperimentCommand)
    path = Path(command.file)
    found = read_experiment(path)
    everywhere = check_given(given.values, EvalOptions)
    for unknown in sorted(set(command.report) - set(found.reports)):
        raise EvalError(f"{path}: no report {unknown!r}; known: {', '.join(found.reports)}")
    out = Path(command.out or Path("runs", path.stem, str(everywhere.get("model", "reference")).replace("/", "--")))
    plans = {
        name: [(run, _checked(path, run, found.methods[run.method], everywhere)) for run in found.plan(name, out)]
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
        for number, (run, options) in enumerate(runs, 1):
            if not is_finished(run, options):
                print(f"{name}, run {number} of {len(runs)}: {run.method} on {run.benchmark}")
                about = found.benchmarks[run.benchmark]
                place = {"benchmark": about.benchmark, "category": about.category, "out": str(run.folder)}
                evaluate(Given({**options, **place, "data": str(Path(command.data, about.data))}))
        for written in write_report([run.folder for run, _ in runs], out / f"report-{name}"):
            print(written)


def _checked(
    path: Path, run: PlannedRun, of_method: Mapping[str, Any], everywhere: Mapping[str, Any]
) -> dict[str, Any]:
    """The checked options of one run; EvalError for one that ``eval`` refuses, or that is given at two places."""
    place = f"{path}: {run.method} on {run.benchmark}"
    for name in sorted(set(of_method) & set(everywhere)):
        raise EvalError(f"{place} sets {name}, so it cannot be given for all runs")
    for name in sorted(set(run.options) - {each.name for each in options_of(EvalOptions)}):
        raise EvalError(f"{place}: eval has no option {name!r}")
    try:
        settings = {**check_given(run.options, EvalOptions), **everywhere}
    except ConfigError as error:
        raise EvalError(f"{place}: {error}") from None
    if settings.get("method") in PEER_METHODS:
        demand_extra("bench", str(settings["method"]))
    return settings


EXPERIMENT = Command("experiment", experiment, (*options_of(ExperimentCommand), *options_of(EvalOptions)))
