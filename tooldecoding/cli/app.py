"""The command line: ``lookup``, ``decode``, ``bench``, and the commands of evaluation (``eval/commands.py``).

Exit codes: 0, also where rows of a batch failed; 1 where nobody reads the output any more; 2 for input that cannot be
used and output that cannot be written; 130 after SIGINT, 143 after SIGTERM.
"""

import sys
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from eval.commands.bench_command import bench_command
from eval.commands.commands import TRUST, eval_command, export_command, report_command, score_command
from eval.commands.tune_command import tune_command
from lookup import DocumentationError, extract
from lookup.errors import ToolDecodingError
from lookup.text.text_file import read_text
from tooldecoding.cli.config import DecodeCommand, Template, load_settings, read_on_duplicate
from tooldecoding.cli.display import (
    output_console,
    print_uncarried,
    print_unread,
    progress_columns,
    show_lookup,
    show_readings,
    show_result,
)
from tooldecoding.cli.ending import end_well
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.prompts.dialogue import Turn, read_dialogue
from tooldecoding.prompts.documentation import Documentation

if TYPE_CHECKING:
    from tooldecoding.batches.batch import Row, Write
    from tooldecoding.decoder import ToolDecoder

# torch and transformers take seconds to import: the functions that need them import them

app = typer.Typer(
    help="Tool calls from any causal language model, decoded under constraint and voted over several orders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
bench.callback(invoke_without_command=True)(bench_command)
app.add_typer(bench, name="bench")


def main() -> None:
    """The console script: one line on standard error for what a user can get wrong."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    sys.exit(end_well(app))


@app.command("lookup")
def lookup_command(
    docs: Annotated[str, typer.Argument(metavar="DOCS", help="File with tool documentation; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show where each tool stands and which rule decided for each key.")
    ] = False,
    on_duplicate: Annotated[
        str, typer.Option(metavar="error|rename", help="What happens to two tools of one name. Default: error.")
    ] = "error",
) -> None:
    """Show what the documentation says of each tool: keys, types, required or optional, enums, defaults."""
    text, origin = _read(docs, DocumentationError)
    dictionary = extract(text, origin=origin, on_duplicate=read_on_duplicate(on_duplicate))
    if as_json:
        print(json_line(dictionary.to_json(explain)))
    else:
        show_lookup(output_console(), dictionary, explain)
    if not explain:
        print_unread(dictionary)


@app.command()
def decode(
    model: Annotated[str | None, typer.Option(help="Folder or hub id; reference is the model of this package.")] = None,
    tools: Annotated[str | None, typer.Option(metavar="DOCS", help="File with tool documentation.")] = None,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="The prompt; - reads stdin.")] = None,
    dialogue: Annotated[str | None, typer.Option(metavar="FILE.jsonl", help="Dialogue; - reads stdin.")] = None,
    batch: Annotated[str | None, typer.Option(metavar="FILE.jsonl", help="Rows of prompts or dialogues.")] = None,
    out: Annotated[str | None, typer.Option(metavar="OUT.jsonl", help="Append batch results here; resumes.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Decode failed rows of --out again.")] = False,
    template: Annotated[
        str | None,
        typer.Option(metavar="auto|raw|api-bank|bfcl|chat", help="How the prompt is made. Default: auto."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="api-bank|pythonic", help="How calls are written. Default: api-bank; pythonic for bfcl."),
    ] = None,
    order_limit: Annotated[int | None, typer.Option(help="Most orders of the required keys. Default: 12.")] = None,
    orders: Annotated[
        str | None,
        typer.Option(
            metavar="shuffled|documented|reversed|shuffled-once|aggregated", help="Which orders. Default: shuffled."
        ),
    ] = None,
    optional_share: Annotated[
        float | None,
        typer.Option(help="An optional key is kept if a larger share of the orders writes it. Default: 0.5."),
    ] = None,
    stopping: Annotated[
        str | None,
        typer.Option(metavar="none|exact|posterior", help="End orders once the vote is settled. Default: none."),
    ] = None,
    stopping_level: Annotated[
        float | None, typer.Option(help="Probability of a change below which posterior stops. Default: 0.05.")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(metavar="P", help="Mark parameters whose confidence is below P.")
    ] = None,
    value_constraint: Annotated[
        str | None,
        typer.Option(metavar="typed|free", help="Refuse values of a wrong type, or only drop them. Default: typed."),
    ] = None,
    tool_choice: Annotated[
        str | None,
        typer.Option(metavar="auto|required|none|NAME", help="Whether, or which tool, is called. Default: required."),
    ] = None,
    unknown_keys: Annotated[
        str | None,
        typer.Option(metavar="optional|required", help="Keys not said to be either count as this. Default: optional."),
    ] = None,
    on_duplicate: Annotated[
        str | None, typer.Option(metavar="error|rename", help="Two tools of one name. Default: error.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="auto|packed|batched", help="How orders share a pass. Default: auto.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the orders. Default: 0.")] = None,
    max_value_tokens: Annotated[int | None, typer.Option(help="A value is closed after so many. Default: 128.")] = None,
    max_text_tokens: Annotated[int | None, typer.Option(help="Most tokens of free text. Default: 256.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Most parallel calls. Default: 16.")] = None,
    draft_tokens: Annotated[
        int | None, typer.Option(help="Most expected tokens tried at once; 0: one by one. Default: 32.")
    ] = None,
    prompt_cache_mb: Annotated[
        int | None, typer.Option(help="MiB for KV caches of former prompts; 0: none. Default: 1024.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Prompts decoded together in a batch. Default: 8.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0. Default: a GPU if there is one.")] = None,
    dtype: Annotated[
        str | None,
        typer.Option(metavar="fp32|bf16|fp16|auto", help="Default: fp32 on the CPU, else the checkpoint's own."),
    ] = None,
    trust_remote_code: TRUST = None,
    json: Annotated[bool | None, typer.Option("--json/--no-json", help="Print one JSON object a prompt.")] = None,
    show_orders: Annotated[
        bool | None, typer.Option("--show-orders/--no-show-orders", help="Print every candidate call.")
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE.yaml", help="Settings; a bare name is looked up in configs/.")
    ] = None,
) -> None:
    """Decode tool calls: documentation in, voted call out. Options go before the file, the file before defaults."""
    given = {name: value for name, value in locals().items() if name not in ("config", "retry_failed")}
    settings = load_settings(given, config)
    if retry_failed and settings.out is None:
        raise ConfigError("--retry-failed takes failed rows from the results in --out; name the file")
    if [settings.tools, settings.prompt, settings.dialogue, settings.batch].count("-") > 1:
        raise ConfigError("standard input can be read once: - stands for two inputs")
    documentation = None
    if settings.tools is not None:
        documentation = Documentation.read(*_read(settings.tools, DocumentationError), settings.on_duplicate)
        print_unread(documentation.lookup)
        print_uncarried(settings.call_format, documentation.lookup)
    if settings.batch is not None:
        _decode_batch(settings.batch, documentation, settings, retry_failed)
    else:
        _decode_one(documentation, settings)


@bench.command("lookup")
def bench_lookup_command(
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each text; the best counts.")] = 5,
    megabytes: Annotated[float, typer.Option(min=0.01, max=60, help="Largest text.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a text.")] = False,
) -> None:
    """Time the reading of documentation: 128 tools in each form, and how the time grows with the text."""
    from eval.bench.documentation.speed import growing, read_forms, read_growing

    console = output_console(stderr=True)
    texts = growing()
    with Progress(*progress_columns("reading"), console=console, redirect_stdout=False) as progress:
        task = progress.add_task("reading", total=len(texts) + 1)
        forms = list(read_forms(repeats))
        progress.advance(task)
        grown = []
        for name, text in texts.items():
            grown.append(read_growing(name, text, megabytes, min(repeats, 2)))
            progress.advance(task)
    if as_json:
        for reading in [*forms, *(reading for row in grown for reading in row)]:
            print(json_line(reading.to_json()))
    else:
        show_readings(output_console(), forms, grown)


def _decode_one(documentation: Documentation | None, settings: DecodeCommand) -> None:
    content: str | tuple[Turn, ...]
    if settings.dialogue is not None:
        identifier = "dialogue" if settings.dialogue == "-" else Path(settings.dialogue).stem
        content = read_dialogue(*_read(settings.dialogue, PromptError))
    else:
        identifier = "prompt"
        content = _read("-", PromptError)[0] if settings.prompt == "-" else settings.prompt or ""
    from tooldecoding.batches.jobs import Job, decode_requests, make_request

    decoder = _decoder(settings)
    job = Job(identifier, content, documentation)
    request = make_request(job, settings, decoder.tokenizer)
    _templates([job], settings, decoder)
    if documentation is None:
        print_uncarried(settings.call_format, request.tools)
    result = decode_requests([request], decoder)[0]
    if settings.json:
        print(json_line(result.to_json(identifier)))
    else:
        show_result(output_console(), str(request.prompt), result, settings.show_orders)


def _decode_batch(
    source: str, documentation: Documentation | None, settings: DecodeCommand, retry_failed: bool
) -> None:
    from tooldecoding.batches.batch import read_batch
    from tooldecoding.batches.batch_results import BatchResults, lock_results
    from tooldecoding.models.identity import identify

    rows = read_batch(*_read(source, PromptError), documentation, settings.on_duplicate)
    if settings.out is None:
        decoder = _decoder(settings)
        _templates(rows, settings, decoder)
        _run_batch(rows, decoder, settings, set(), _print_results)
        return
    with lock_results(settings.out) as path:
        standing = BatchResults(path, rows, settings, documentation, retry_failed)
        decoder = _decoder(settings)
        templates = _templates(rows, settings, decoder)
        with closing(standing.begin(identify(decoder.model, decoder.tokenizer), templates)) as results:
            _run_batch(rows, decoder, settings, standing.done, results.write)
    for note in standing.notes():
        print(f"note: {note}", file=sys.stderr)


def _templates(rows: "Sequence[Row]", settings: DecodeCommand, decoder: "ToolDecoder") -> Mapping[str | int, Template]:
    """Id -> template; a warning on standard error for each that does not fit the call format or the model."""
    from tooldecoding.batches.batch import row_templates
    from tooldecoding.prompts.templates import misfits

    templates = row_templates(rows, settings, decoder.tokenizer)
    for misfit in misfits(templates.values(), settings, decoder.tokenizer):
        print(f"warning: {misfit}", file=sys.stderr)
    return templates


def _run_batch(
    rows: "Sequence[Row]", decoder: "ToolDecoder", settings: DecodeCommand, done: Set[str | int], write: "Write"
) -> None:
    """Decode with a progress bar, and say how many rows of each kind there were."""
    from tooldecoding.batches.batch import run_batch

    console = output_console(stderr=True)
    progress = Progress(*progress_columns("decoding"), console=console, redirect_stdout=False, redirect_stderr=False)
    task = progress.add_task("decoding", total=len(rows))
    try:
        with progress:
            summary = run_batch(rows, decoder, settings, done, write, lambda count: progress.advance(task, count))
    except KeyboardInterrupt:
        resume = "use --out to resume"
        if settings.out is not None:
            resume = f"the same command goes on behind what stands in {settings.out}"
        print(f"interrupted: {resume}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(summary, file=sys.stderr)


def _print_results(results: Sequence[Mapping[str, Any]]) -> None:
    for result in results:
        print(json_line(result), flush=True)


def _decoder(settings: DecodeCommand) -> "ToolDecoder":
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly

    model, tokenizer = load_quietly(settings.model, settings.device, settings.dtype, settings.trust_remote_code)
    return ToolDecoder(model, tokenizer, settings.strategy, prompt_cache_mb=settings.prompt_cache_mb)


def _read(path: str, error: type[ToolDecodingError]) -> tuple[str, str]:
    """The text of a file or of standard input (``-``), and its name for messages."""
    if path != "-":
        return read_text(path, error), path
    try:
        return sys.stdin.read().removeprefix("\ufeff"), "<stdin>"
    except UnicodeDecodeError:
        raise error("<stdin>: expected UTF-8 text") from None


for name, command in (
    ("eval", eval_command),
    ("score", score_command),
    ("report", report_command),
    ("export", export_command),
    ("tune", tune_command),
):
    app.command(name)(command)
