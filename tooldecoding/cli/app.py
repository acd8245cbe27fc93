"""The command line.

Exit codes: 0, also if rows of a batch failed; 1 if nobody reads the output any more; 2 for input that cannot be used
and output that cannot be written; 3 if an agent had to ask for a call and could not; 4 if it has no answer; 130 after
SIGINT, 143 after SIGTERM.
"""

import sys
from typing import Final

import typer

from eval.commands.bench import BENCH
from eval.commands.bench_schemas import BENCH_SCHEMAS
from eval.commands.bench_serve import BENCH_SERVE
from eval.commands.eval import EVAL
from eval.commands.experiment import EXPERIMENT
from eval.commands.report import REPORT
from eval.commands.score import SCORE
from eval.commands.tune import TUNE
from tooldecoding.cli.agent import AGENT
from tooldecoding.cli.command import GroupedHelp
from tooldecoding.cli.decode import DECODE
from tooldecoding.cli.doctor import DOCTOR
from tooldecoding.cli.ending import end_well
from tooldecoding.cli.lookup import LOOKUP
from tooldecoding.cli.serve import SERVE

COMMANDS: Final = (
    LOOKUP,
    DECODE,
    SERVE,
    AGENT,
    DOCTOR,
    EVAL,
    SCORE,
    REPORT,
    EXPERIMENT,
    TUNE,
    BENCH,
    BENCH_SCHEMAS,
    BENCH_SERVE,
)
"""All commands, in the sequence of ``--help``."""

app = typer.Typer(
    help="Tool calls from any causal language model, decoded under constraint and voted over several orders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for each in COMMANDS:
    if each is BENCH:
        bench.callback(invoke_without_command=True)(each.for_typer())
        app.add_typer(bench, name=each.name)
    else:
        group = bench if each.name.startswith(f"{BENCH.name} ") else app
        group.command(each.name.split()[-1], cls=GroupedHelp)(each.for_typer())


def main() -> None:
    """Run the command line; exits with one line on standard error for what a user can get wrong."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    sys.exit(end_well(app))
