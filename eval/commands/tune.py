"""``tooldecoding tune``."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import typer

from eval.errors import EvalError
from eval.options import EvalOptions, benchmark_defaults
from eval.tuning.options import OWN_DATA, TuneOptions
from lookup import DocumentationError
from lookup.text.text_file import read_text
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError
from tooldecoding.options.decode_command import read_decode_command
from tooldecoding.options.given import Given, check_given
from tooldecoding.options.option import Option, options_of
from tooldecoding.prompts.documentation import Documentation

if TYPE_CHECKING:
    from eval.tuning.tuner import Tuning

_OF_BENCHMARKS: Final = ("category", "shots", "prompt_template", "chat")
_TUNED: Final = {"order_limit", "orders", "optional_share", "stopping", "min_confidence"}
_NOT_HERE: Final = {
    *("ray", "actors", "gpus_per_actor"),
    *("method", "beams", "tooldec_form", "jump_forward", "samples", "sample_temperature"),
}
_FOR_BATCH: Final[Mapping[str, Mapping[str, Any]]] = {
    "template": {
        "metavar": "api-bank|bfcl|raw|chat|auto",
        "help": "How the prompt is made; the last three are for batch.",
        "default_text": "the benchmark's; auto for batch",
    },
    "tool_choice": {"metavar": "auto|required", "default_text": "auto; required for batch"},
}


def tune(given: Given) -> None:
    """Choose order limit, optional keys and stopping for a deployment, on a benchmark or on your own prompts."""
    demand_extra("eval", "scipy", "matplotlib", "pandas")
    from eval.tuning.session import show_tuning

    command = given.read(TuneOptions)
    try:
        tuning = (_tune_own_data if command.benchmark == OWN_DATA else _tune_benchmark)(command, given)
    except KeyboardInterrupt:
        print(f"interrupted: the same command goes on behind what stands in {command.folder}", file=sys.stderr)
        raise typer.Exit(130) from None
    show_tuning(output_console(), tuning, command)


def _tune_benchmark(command: TuneOptions, given: Given) -> "Tuning":
    from eval.tuning.session import tune_benchmark

    _refuse(given, "batch, not for benchmarks", "tools")
    benchmark, categories = command.find()
    options = given.merge(EvalOptions, benchmark_defaults(benchmark))
    benchmark = benchmark.of_template(options.template)
    every = benchmark.load(command.data, categories)
    return tune_benchmark(benchmark, categories, every, options, command, progress_bar)


def _tune_own_data(command: TuneOptions, given: Given) -> "Tuning":
    from eval.tuning.session import tune_own_data
    from tooldecoding.batches.rows import read_batch
    from tooldecoding.batches.sources import needed_packages, open_source

    _refuse(given, "benchmarks, not for batch", *_OF_BENCHMARKS)
    limit = check_given({"limit": given.values.get("limit")}, EvalOptions).get("limit")
    options = read_decode_command({**given.values, "batch": command.data, "out": None}, given.config)
    if options.tool_choice == "none":
        raise ConfigError("--tool-choice: tune compares calls, and none forbids them")
    documentation = None
    if options.tools is not None:
        text = read_text(options.tools, DocumentationError)
        documentation = Documentation.read(text, options.tools, options.on_duplicate)
    demand_extra("batch", *needed_packages(command.data))
    rows = read_batch(open_source(command.data), documentation, options.on_duplicate)
    return tune_own_data(rows, limit, options, command, progress_bar)


def _refuse(given: Given, use: str, *names: str) -> None:
    for name in names:
        if name in given.values:
            raise EvalError(f"--{name.replace('_', '-')} is for {use}; leave it out")


def _file_options() -> Iterator[Option]:
    for option in options_of(EvalOptions):
        if option.name not in _TUNED | _NOT_HERE:
            yield replace(option, **_FOR_BATCH.get(option.name, {}))


TUNE = Command("tune", tune, options_of(TuneOptions), tuple(_file_options()))
