"""What the commands on a benchmark share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.samples import Benchmark
from tooldecoding.cli.console import output_console
from tooldecoding.options.option import option

BENCHMARK_NAMES: Final = "acebench|api-bank|bfcl-live|bfcl-v1|restbench|sgd|stabletoolbench"
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
    if benchmark.note:
        console.print(f"\n{benchmark.note}", soft_wrap=True)
