"""``tooldecoding bench``."""

from eval.bench.options import BenchOptions
from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.given import Given
from tooldecoding.options.option import options_of


def bench(given: Given) -> None:
    """Measure Tool Decoding against other methods that write the same call, or what a sub-command measures."""
    if given.subcommand is not None:
        for option in options_of(BenchOptions):
            if option.name in given.values:
                raise EvalError(f"{option.written} belongs to bench alone, not to bench {given.subcommand}")
        return
    demand_extra("eval", "scipy", "pandas")
    from eval.bench.runner import BenchRunner
    from eval.bench.tables import tables
    from eval.report.table import show

    options = given.read(BenchOptions)
    runner = BenchRunner(options, progress_bar)
    record = runner.run()
    show(output_console(), tables(record))
    output_console(stderr=True).print(f"written: {runner.path}")


BENCH = Command("bench", bench, options_of(BenchOptions))
