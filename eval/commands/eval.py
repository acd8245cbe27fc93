"""``tooldecoding eval``."""

from dataclasses import dataclass
from pathlib import Path

from eval.commands.benchmark_command import BenchmarkCommand, show_scores
from eval.options import PEER_METHODS, EvalOptions, benchmark_defaults
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class EvalCommand(BenchmarkCommand):
    """Which benchmark is decoded into which folder."""

    out: str = option(..., "Folder of the run; the same command goes on in it.", metavar="RUN/")


def evaluate(given: Given) -> None:
    """Decode a benchmark with one method, and score it. An interrupted run goes on with the same command."""
    demand_extra("eval", "scipy", "pandas")
    from eval.runs.run import make_run
    from eval.runs.run_folder import RunFolder
    from tooldecoding.cluster.place import place_of

    command = given.read(EvalCommand)
    benchmark, categories = command.find()
    options = given.merge(EvalOptions, benchmark_defaults(benchmark))
    if options.ray is not None:
        demand_extra("ray", "ray")
    if options.method in PEER_METHODS:
        demand_extra("bench", options.method)
    every, out = benchmark.load(command.data, categories), Path(command.out)
    with going_on(out), place_of(options) as place:
        made = make_run(benchmark, categories, every, options, RunFolder(out), place)
    show_scores(benchmark, {out.name: made.scores})


# no figure depends on the mark that min_confidence sets
_FILE_OPTIONS = tuple(option for option in options_of(EvalOptions) if option.name != "min_confidence")

EVAL = Command("eval", evaluate, options_of(EvalCommand), _FILE_OPTIONS)
