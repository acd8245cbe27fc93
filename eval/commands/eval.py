"""``tooldecoding eval``, and what the commands on a benchmark share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.benchmarks.samples import Benchmark
from eval.options import PEER_METHODS, EvalOptions, benchmark_defaults
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on, output_console, stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

BENCHMARK_NAMES: Final = "acebench|api-bank|bfcl-live|bfcl-v1|sgd"
"""For the help, which is to need no import of all benchmarks; ``tests/eval/test_benchmark_data.py`` compares it."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkCommand:
    """A benchmark, and where it lies."""

    benchmark: str = option(..., "The benchmark.", metavar=BENCHMARK_NAMES, positional=True)
    data: str = option(..., "Folder of the benchmark, or bfcl-eval.", metavar="DIR")
    category: tuple[str, ...] = option(
        (), "Only this category; may be repeated.", metavar="NAME", expected="a category"
    )

    def find(self) -> tuple[Benchmark, tuple[str, ...]]:
        """Return the benchmark and its chosen categories; EvalError for an unknown one."""
        from eval.benchmarks.registry import choose_categories, find_benchmark

        benchmark = find_benchmark(self.benchmark)
        return benchmark, choose_categories(benchmark, self.category)


def show_scores(benchmark: Benchmark, scored: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Print tables that compare the scores of files or runs: name -> rows."""
    from pandas import DataFrame

    from eval.report.score_tables import score_tables
    from eval.report.table import show
    from eval.runs.score import Score

    heads = ("predictions",)
    scores = DataFrame(
        [{heads[0]: name, **Score.model_validate(row).model_dump()} for name, rows in scored.items() for row in rows]
    )
    categories = [category for category in benchmark.categories if (scores["category"] == category).any()]
    console = output_console()
    show(console, score_tables(scores, heads, categories), turn_small=True)


@dataclass(frozen=True, kw_only=True)
class EvalCommand(BenchmarkCommand):
    """Which benchmark is decoded into which folder."""

    out: str = option(..., "Folder of the run; the same command goes on in it.", metavar="RUN/")


def evaluate(given: ParsedArguments) -> None:
    """Decode a benchmark with one method, and score it. An interrupted run goes on with the same command."""
    demand_extra("eval", "scipy", "pandas")
    from eval.runs.run import make_run
    from eval.runs.run_folder import RunFolder
    from tooldecoding.cluster.workers import workers_of

    command = given.read(EvalCommand)
    benchmark, categories = command.find()
    options = given.merge(EvalOptions, benchmark_defaults(benchmark))
    if options.ray is not None:
        demand_extra("ray", "ray")
    if options.method in PEER_METHODS:
        demand_extra("bench", options.method)
    every, out = benchmark.load(command.data, categories), Path(command.out)
    with going_on(out), workers_of(options, stderr_line) as workers:
        made = make_run(benchmark, categories, every, options, RunFolder(out), workers)
    show_scores(benchmark, {out.name: made.scores})


# no figure depends on the mark that min_confidence sets
_FILE_OPTIONS = tuple(option for option in options_of(EvalOptions) if option.name != "min_confidence")

EVAL = Command("eval", evaluate, options_of(EvalCommand), _FILE_OPTIONS)
