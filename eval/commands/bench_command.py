"""``tooldecoding bench``: what its options are, and what it prints."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from eval.commands.commands import TRUST
from eval.errors import EvalError
from tooldecoding.cli.display import output_console, progress_columns
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.json_lines import json_line

if TYPE_CHECKING:
    from eval.bench.bench_record import Record
    from eval.bench.store import Store


def bench_command(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="Folder or hub id; reference is the model of this package.")] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            metavar="tiny|llama-134m|llama-1b|llama-7b|mistral-7b,…", help="Random weights of these shapes, one by one."
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Tokenizer, in a folder, that shapes are built around; else one is trained."),
    ] = None,
    prompt_tokens: Annotated[int, typer.Option(help="Tokens of the prompt; in a batch 20 % more or less.")] = 1000,
    required: Annotated[int, typer.Option(help="Required keys of the tool.")] = 4,
    value_tokens: Annotated[int, typer.Option(help="Tokens of each value.")] = 8,
    copied: Annotated[float, typer.Option(metavar="SHARE", help="Share of the values that stand in the prompt.")] = 0.5,
    order_limit: Annotated[str, typer.Option(metavar="N,N,…", help="Order limits of Tool Decoding.")] = "1,4,12",
    against: Annotated[
        str, typer.Option(metavar="METHOD,…", help="greedy, beamN, and libraries of the extra bench.")
    ] = "greedy,beam6,xgrammar,llguidance,outlines,lm-format-enforcer",
    batch: Annotated[str, typer.Option(metavar="N,N,…", help="Prompts that are decoded together.")] = "1",
    repeat: Annotated[int, typer.Option(help="Rounds that count; all methods run once in each.")] = 5,
    minutes: Annotated[float | None, typer.Option(help="No round begins later.")] = None,
    draft_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of a draft of Tool Decoding; 0 for none. Default: that of decode.")
    ] = None,
    format: Annotated[str, typer.Option(metavar="api-bank|pythonic", help="How calls are written.")] = "api-bank",
    seed: Annotated[int, typer.Option(help="Of weights, prompts, values, orders, and the sequence of methods.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads of the processor. Default: torch's.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0. Default: a GPU if there is one.")] = None,
    dtype: Annotated[
        str | None, typer.Option(metavar="fp32|bf16|fp16|auto", help="Default: fp32 on the CPU; bf16 for a shape.")
    ] = None,
    trust_remote_code: TRUST = None,
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder; bench.json there gets one bench more.")
    ] = "runs/bench",
    as_json: Annotated[bool, typer.Option("--json", help="Print the bench as JSON instead of tables.")] = False,
) -> None:
    """Measure Tool Decoding against other methods that write the same call, or what a sub-command measures."""
    given = {name: value for name, value in locals().items() if name not in ("context", "out", "as_json")}
    if context.invoked_subcommand is not None:
        _demand_defaults(context)
        return
    demand_extra("eval", "scipy", "matplotlib")
    from eval.bench.bench_session import Session
    from eval.bench.peers import PEERS
    from eval.bench.plan import make_plan
    from eval.bench.shapes import SHAPES
    from eval.bench.store import Store

    plan = make_plan(given, tuple(SHAPES), tuple(PEERS))
    store = Store(Path(out))
    record = Session(plan, store, _progress_bar).run()
    _show(record, store, as_json)
    if record.state == "interrupted":
        raise typer.Exit(130)


def _demand_defaults(context: typer.Context) -> None:
    for parameter in context.command.params:
        if parameter.name in context.params and context.params[parameter.name] != parameter.default:
            raise EvalError(f"{parameter.opts[0]} belongs to bench alone, not to bench {context.invoked_subcommand}")


def _show(record: "Record", store: "Store", as_json: bool) -> None:
    from eval.bench.bench_pictures import bench_picture
    from eval.bench.bench_tables import tables
    from eval.report.terminal import show

    found = tables(record)
    files = [str(store.path)] if record.cells else []
    if bench_picture(record, store.picture):
        files.append(str(store.picture))
    if as_json:
        print(json_line(record.to_json()))
    else:
        show(output_console(), found)
    notes = output_console(stderr=True)
    for name in record.skipped:
        notes.print(f"not measured: {name}")
    if record.state == "interrupted":
        notes.print(f"interrupted: {'no round was' if not found else 'only these rounds were'} finished")
    if files:
        notes.print(f"written: {', '.join(files)}")


@contextmanager
def _progress_bar(word: str, total: int) -> Iterator[Callable[[int], Any]]:
    console = output_console(stderr=True)
    with Progress(*progress_columns(word), console=console, redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task(word, total=total)
        yield lambda count: progress.advance(task, count)
