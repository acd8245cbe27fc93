"""``tooldecoding report``."""

from dataclasses import dataclass
from pathlib import Path

from tooldecoding.cli.command import Command
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments


@dataclass(frozen=True, kw_only=True)
class ReportCommand:
    """Which runs are reported, and where."""

    runs: tuple[str, ...] = option(..., "Folders of runs.", metavar="RUN…", expected="folders", positional=True)
    out: str = option(..., "Folder for report.md and its pictures.", metavar="DIR")


def report(given: ParsedArguments) -> None:
    """Write a report of runs: accuracy with intervals, significance, error classes, costs."""
    demand_extra("eval", "scipy", "matplotlib", "pandas")
    from eval.report.document import write_report

    command = given.read(ReportCommand)
    for path in write_report(command.runs, Path(command.out)):
        print(path)


REPORT = Command("report", report, options_of(ReportCommand))
