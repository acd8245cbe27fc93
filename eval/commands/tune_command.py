"""The command ``tooldecoding tune``."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from eval.commands.commands import CATEGORY, TRUST
from eval.commands.settings import EvalOptions
from eval.errors import EvalError
from lookup import DocumentationError
from lookup.text.text_file import read_text
from tooldecoding.cli.config import load_settings, merge_settings
from tooldecoding.cli.display import output_console, progress_columns
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.prompts.documentation import Documentation

if TYPE_CHECKING:
    from eval.tuning.collect import Advance
    from eval.tuning.results import Tuning
    from eval.tuning.session import Plan

_OF_BENCHMARKS = ("shots", "prompt_template", "chat")


def tune_command(
    benchmark: Annotated[
        str, typer.Argument(metavar="api-bank|bfcl-live|bfcl-v1|sgd|batch", help="batch: your own prompts.")
    ],
    data: Annotated[str, typer.Option(metavar="DIR", help="As for eval; for batch the rows of decode --batch.")],
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder; the same command goes on in it. Default: runs/tune-BENCHMARK."),
    ] = None,
    limits: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Order limits to choose from. Default: 1,2,4,6,9,12.")
    ] = None,
    max_latency_ms: Annotated[float | None, typer.Option(help="Budget: most milliseconds of a prompt.")] = None,
    max_slowdown: Annotated[float | None, typer.Option(help="Budget: most times the latency of limit 1.")] = None,
    min_gain: Annotated[
        float | None, typer.Option(help="Budget: points that a larger limit must gain over a smaller one.")
    ] = None,
    rule: Annotated[
        str, typer.Option(metavar="mcnemar|bootstrap", help="Test of a limit against the best one.")
    ] = "mcnemar",
    level: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    margin: Annotated[float, typer.Option(help="Points of a loss that the samples must be able to show.")] = 5.0,
    latency_prompts: Annotated[int, typer.Option(min=1, help="Prompts whose latency is measured.")] = 24,
    model: Annotated[str | None, typer.Option(help="Folder or hub id; reference is the model of this package.")] = None,
    category: CATEGORY = None,
    limit: Annotated[int | None, typer.Option(help="Take so many samples, drawn with --seed.")] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="DOCS", help="For batch: documentation for rows without tools.")
    ] = None,
    stopping_level: Annotated[
        float | None, typer.Option(help="Probability of a change below which posterior stops. Default: 0.05.")
    ] = None,
    shots: Annotated[int | None, typer.Option(help="In-context examples, 0 to 8. Default: 0.")] = None,
    template: Annotated[
        str | None,
        typer.Option(metavar="api-bank|bfcl|raw|chat|auto", help="Shape of the prompt; the last three are for batch."),
    ] = None,
    prompt_template: Annotated[
        str | None, typer.Option(metavar="FILE", help="Text of the prompt, as for eval.")
    ] = None,
    chat: Annotated[bool | None, typer.Option("--chat/--no-chat", help="Use the model's chat template.")] = None,
    format: Annotated[
        str | None, typer.Option(metavar="api-bank|pythonic", help="How calls are written. Default: the benchmark's.")
    ] = None,
    value_constraint: Annotated[
        str | None, typer.Option(metavar="typed|free", help="Refuse wrong types, or only drop them. Default: typed.")
    ] = None,
    tool_choice: Annotated[
        str | None,
        typer.Option(metavar="auto|required", help="Who decides to call. Default: auto; required for batch."),
    ] = None,
    unknown_keys: Annotated[
        str | None, typer.Option(metavar="optional|required", help="Keys not said to be either. Default: optional.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="auto|packed|batched", help="How orders share a pass. Default: auto.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of orders, samples, examples and resamples. Default: 0.")] = None,
    max_value_tokens: Annotated[int | None, typer.Option(help="A value is closed after so many. Default: 128.")] = None,
    max_text_tokens: Annotated[int | None, typer.Option(help="Most tokens of free text. Default: 256.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Most parallel calls. Default: 16.")] = None,
    draft_tokens: Annotated[
        int | None, typer.Option(help="Most expected tokens tried at once; 0: one by one. Default: 32.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Prompts decoded together. Default: 8.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0. Default: a GPU if there is one.")] = None,
    dtype: Annotated[
        str | None,
        typer.Option(metavar="fp32|bf16|fp16|auto", help="Default: fp32 on the CPU, else the checkpoint's own."),
    ] = None,
    trust_remote_code: TRUST = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE.yaml", help="Settings; a bare name is looked up in configs/.")
    ] = None,
) -> None:
    """Choose order limit, optional keys and stopping for a deployment, on a benchmark or on your own prompts."""
    known = {field.name for field in fields(EvalOptions)}
    given = {name: value for name, value in locals().items() if name in known}
    demand_extra("eval", "scipy", "matplotlib")
    from eval.tuning.decision import Decision, read_rule
    from eval.tuning.limit_list import DEFAULT_LIMITS, read_limits
    from eval.tuning.session import OWN_DATA, Plan, show_tuning

    decision = Decision(read_rule(rule), level, margin, max_latency_ms, max_slowdown, min_gain)
    read = read_limits(DEFAULT_LIMITS if limits is None else limits)
    folder = Path(f"runs/tune-{benchmark}" if out is None else out)
    plan = Plan(read, decision, latency_prompts, folder, _progress_bar)
    try:
        if benchmark == OWN_DATA:
            _refuse(
                "benchmarks, not for batch", category=category, **{name: given.pop(name) for name in _OF_BENCHMARKS}
            )
            tuning = _tune_own_data(data, tools, given, config, plan)
        else:
            _refuse("batch, not for benchmarks", tools=tools)
            tuning = _tune_benchmark(benchmark, data, category or [], given, config, plan)
    except KeyboardInterrupt:
        print(f"interrupted: the same command goes on behind what stands in {folder}", file=sys.stderr)
        raise typer.Exit(130) from None
    show_tuning(output_console(), tuning, plan.out)


def _tune_benchmark(
    name: str, data: str, category: Sequence[str], given: Mapping[str, Any], config: str | None, plan: "Plan"
) -> "Tuning":
    from eval.benchmarks.registry import choose_categories, find_benchmark
    from eval.tuning.session import tune_benchmark

    bench = find_benchmark(name)
    categories = choose_categories(bench, category)
    defaults = {"format": bench.call_format, "template": "bfcl" if bench.call_format == "pythonic" else "api-bank"}
    settings = merge_settings(given, config, EvalOptions, defaults)
    if settings.tool_choice not in ("auto", "required"):
        raise ConfigError(f"--tool-choice: expected auto or required, got {settings.tool_choice!r}")
    return tune_benchmark(bench, categories, bench.load(data, categories), settings, plan)


def _tune_own_data(data: str, tools: str | None, given: dict[str, Any], config: str | None, plan: "Plan") -> "Tuning":
    from eval.tuning.session import tune_own_data
    from tooldecoding.batches.batch import read_batch

    limit = given.pop("limit")
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit: limit must be 1 or more, got {limit}")
    settings = load_settings({**given, "batch": data, "tools": tools}, config)
    if settings.tool_choice == "none":
        raise ConfigError("--tool-choice: tune compares calls, and none forbids them")
    documentation = None
    if settings.tools is not None:
        text = read_text(settings.tools, DocumentationError)
        documentation = Documentation.read(text, settings.tools, settings.on_duplicate)
    rows = read_batch(read_text(data, PromptError), data, documentation, settings.on_duplicate)
    return tune_own_data(rows, limit, settings, plan)


def _refuse(use: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise EvalError(f"--{name.replace('_', '-')} is for {use}; leave it out")


@contextmanager
def _progress_bar(word: str, total: int) -> "Iterator[Advance]":
    console = output_console(stderr=True)
    with Progress(*progress_columns(word), console=console, redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task(word, total=total)
        yield lambda count: progress.advance(task, count)
