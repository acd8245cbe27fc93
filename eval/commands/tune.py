"""``tooldecoding tune``."""

from typing import Final

from eval.errors import EvalError
from eval.options import EvalOptions, benchmark_defaults
from eval.tuning.options import TuneOptions
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on, output_console
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

_TUNED: Final = {"order_limit", "orders", "min_confidence", "confidence_offset", "confidence_slope"}
_NOT_HERE: Final = {
    *("ray", "actors", "gpus_per_actor"),
    *("method", "beams", "samples", "sample_temperature"),
}


def tune(given: ParsedArguments) -> None:
    """Choose order limit and confidence for a deployment, on a benchmark."""
    demand_extra("eval", "scipy", "pandas")
    from eval.report.table import show
    from eval.tuning.output import limit_table
    from eval.tuning.tune import DEPLOYMENT, tune_benchmark

    wanted = given.read(TuneOptions)
    benchmark, categories = wanted.find()
    options = given.merge(EvalOptions, benchmark_defaults(benchmark))
    every, out, console = benchmark.load(wanted.data, categories), wanted.folder, output_console()
    with going_on(out):
        record = tune_benchmark(benchmark, categories, every, options, wanted)
    show(console, [limit_table(record)])
    reasons = record["chosen"]["reasons"]
    if record["chosen"]["settings"] is None:
        raise EvalError(
            f"{reasons[-1]} on this machine; no {DEPLOYMENT} is written. The same command with a larger budget "
            f"goes on with what stands in {out}"
        )
    console.print()
    for reason in reasons:
        console.print(f"- {reason}")
    console.print(f"\nwritten: {', '.join(str(out / name) for name in (DEPLOYMENT, 'tune.json'))}")


_FILE_OPTIONS = tuple(option for option in options_of(EvalOptions) if option.name not in _TUNED | _NOT_HERE)

TUNE = Command("tune", tune, options_of(TuneOptions), _FILE_OPTIONS)
