"""The commands of evaluation: ``tooldecoding eval``, ``score``, ``report`` and ``export``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from eval.commands.settings import EvalOptions
from eval.errors import EvalError
from eval.runs.run_folder import RunFolder, describe_run
from tooldecoding.cli.config import merge_settings
from tooldecoding.cli.display import output_console, progress_columns
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError
from tooldecoding.files.result_file import ResultFile

if TYPE_CHECKING:
    from eval.benchmarks.samples import Benchmark, Sample
    from eval.methods.choose import Method
    from eval.methods.sample_prompts import Prompter

BENCHMARK = Annotated[str, typer.Argument(metavar="api-bank|bfcl-live|bfcl-v1|sgd")]
DATA = Annotated[str, typer.Option(metavar="DIR", help="Folder of the benchmark, hub:OWNER/NAME, or bfcl-eval.")]
TRUST = Annotated[
    bool | None, typer.Option("--trust-remote-code", help="Run Python code of the model's folder; it can do anything.")
]
CATEGORY = Annotated[list[str] | None, typer.Option(help="Only this category; may be repeated.")]


def eval_command(
    benchmark: BENCHMARK,
    data: DATA,
    out: Annotated[str, typer.Option(metavar="RUN/", help="Folder of the run; the same command goes on in it.")],
    model: Annotated[str | None, typer.Option(help="Folder or hub id; reference is the model of this package.")] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="greedy|beam|tooldec|tool-decoding", help="Default: tool-decoding."),
    ] = None,
    category: CATEGORY = None,
    limit: Annotated[int | None, typer.Option(help="Decode so many samples, drawn with --seed.")] = None,
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
    beams: Annotated[int | None, typer.Option(help="Beams of --method beam. Default: 6.")] = None,
    tooldec_form: Annotated[
        str | None, typer.Option(metavar="call|react", help="What --method tooldec writes. Default: call.")
    ] = None,
    shots: Annotated[int | None, typer.Option(help="In-context examples, 0 to 8. Default: 0.")] = None,
    template: Annotated[
        str | None, typer.Option(metavar="api-bank|bfcl", help="Shape of the prompt. Default: the benchmark's.")
    ] = None,
    prompt_template: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Text of the prompt, with {tools}, {examples} and {dialogue} where it likes."
        ),
    ] = None,
    chat: Annotated[bool | None, typer.Option("--chat/--no-chat", help="Use the model's chat template.")] = None,
    format: Annotated[
        str | None, typer.Option(metavar="api-bank|pythonic", help="How calls are written. Default: the benchmark's.")
    ] = None,
    value_constraint: Annotated[
        str | None, typer.Option(metavar="typed|free", help="Refuse wrong types, or only drop them. Default: typed.")
    ] = None,
    tool_choice: Annotated[
        str | None, typer.Option(metavar="auto|required", help="Who decides that there is a call. Default: auto.")
    ] = None,
    unknown_keys: Annotated[
        str | None, typer.Option(metavar="optional|required", help="Keys not said to be either. Default: optional.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="auto|packed|batched", help="How orders share a pass. Default: auto.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of orders, samples and examples. Default: 0.")] = None,
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
    """Decode a benchmark with one method, and score it. An interrupted run goes on with the same command."""
    given = {k: v for k, v in locals().items() if k not in ("benchmark", "data", "out", "category", "config")}
    demand_extra("eval", "scipy")
    from eval.benchmarks.registry import choose_categories, find_benchmark

    bench = find_benchmark(benchmark)
    categories = choose_categories(bench, category or [])
    defaults = {"format": bench.call_format, "template": "bfcl" if bench.call_format == "pythonic" else "api-bank"}
    settings = merge_settings(given, config, EvalOptions, defaults)
    if settings.tool_choice not in ("auto", "required"):
        raise ConfigError(f"--tool-choice: expected auto or required, got {settings.tool_choice!r}")
    every = bench.load(data, categories)
    _decode(bench, categories, every, settings, RunFolder(Path(out)))


def score_command(
    benchmark: BENCHMARK,
    data: DATA,
    predictions: Annotated[
        list[str], typer.Option(metavar="FILE.jsonl", help="Predictions; may be repeated to compare several.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE.jsonl", help="Scores; a folder where there are several files.")],
    category: CATEGORY = None,
    partial: Annotated[bool, typer.Option("--partial", help="Score the rows given, each by itself.")] = False,
    tool_server: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Checkout of API-Bank whose tool manager judges. Executes its code."),
    ] = None,
) -> None:
    """Score predictions, ours or any other, as the official scorers do. Missing predictions count as wrong."""
    demand_extra("eval", "scipy")
    from eval.benchmarks.registry import choose_categories, find_benchmark
    from eval.runs.predictions import read_predictions
    from eval.runs.score import Scorer, write_rows

    bench = find_benchmark(benchmark)
    samples = bench.load(data, choose_categories(bench, category or []))
    targets = _targets(predictions, Path(out))
    read = {p: read_predictions(p, bench, samples, repeats=partial) for p in predictions}
    with _judge(bench, data, tool_server) as judge:
        scorer = Scorer(bench, judge)
        scored = {}
        for path, target in targets.items():
            rows = scorer.score(read[path], partial)
            write_rows(rows, target)
            scored[path] = rows
            _say_missing(path, rows)
    _show(bench, scored)


def report_command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder for report.md and its pictures.")],
) -> None:
    """Write a report of runs: accuracy with intervals, significance, error classes, costs."""
    demand_extra("eval", "scipy", "matplotlib")
    from eval.report import write_report

    for path in write_report(runs, Path(out)):
        print(path)


def export_command(
    benchmark: BENCHMARK,
    data: DATA,
    predictions: Annotated[str, typer.Option(metavar="FILE.jsonl", help="Predictions, such as RUN/predictions.jsonl.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder for the official files.")],
    model_name: Annotated[
        str | None,
        typer.Option(help="For BFCL: a model whose answers bfcl reads as Python calls, such as Qwen/Qwen3-8B."),
    ] = None,
    category: CATEGORY = None,
) -> None:
    """Write predictions as the official scorers read them: for ``bfcl evaluate``, or API-Bank's evaluator_by_json."""
    from eval.benchmarks.registry import choose_categories, find_benchmark
    from eval.runs.predictions import read_predictions

    bench = find_benchmark(benchmark)
    samples = bench.load(data, choose_categories(bench, category or []))
    read = read_predictions(predictions, bench, samples, repeats=False)
    if read.missing:
        print(
            f"{predictions}: {len(read.missing)} of {len(samples)} samples have no prediction: "
            "empty in API-Bank's files, left out of BFCL's (bfcl evaluate --partial-eval)",
            file=sys.stderr,
        )
    rows = [r.row for r in read.rows]
    for path in bench.export(rows, samples, Path(out), model_name):
        print(path)


def _decode(
    bench: "Benchmark",
    categories: Sequence[str],
    every: "Sequence[Sample]",
    settings: EvalOptions,
    folder: RunFolder,
) -> None:
    from eval.methods.choose import make_method
    from eval.methods.sample_prompts import Prompter
    from eval.runs.run import draw
    from tooldecoding.models.loading import load_quietly

    samples = draw(every, settings.limit, settings.seed)
    if not samples:
        raise EvalError(f"{bench.name}: there are no samples of {', '.join(categories)}")
    model, tokenizer = load_quietly(settings.model, settings.device, settings.dtype, settings.trust_remote_code)
    prompter = Prompter(settings, every, tokenizer)
    prompter.request(samples[0])  # a missing chat template shows before anything is written
    prompts = [prompter.text(sample) for sample in samples]
    folder.begin(describe_run(bench, settings, categories, samples, len(every), str(model.device), prompts))
    with folder.locked():
        _fill(folder, samples, bench, make_method(settings, model, tokenizer), prompter)
        _score_run(bench, samples, folder)


def _fill(
    folder: RunFolder, samples: "Sequence[Sample]", bench: "Benchmark", method: "Method", prompter: "Prompter"
) -> None:
    """Decode what the folder's predictions lack, with a progress bar."""
    from eval.runs.run import run

    results = ResultFile(str(folder.predictions), frozenset({"prediction"}))
    console = output_console(stderr=True)
    progress = Progress(*progress_columns("decoding"), console=console, redirect_stdout=False, redirect_stderr=False)
    try:
        with progress:
            task = progress.add_task("decoding", total=len(samples))
            batch_size = prompter.settings.batch_size
            run(samples, bench, method, prompter, results, batch_size, lambda count: progress.advance(task, count))
    except KeyboardInterrupt:
        print(f"interrupted: the same command goes on behind what stands in {folder.path}", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        results.close()


def _score_run(bench: "Benchmark", samples: "Sequence[Sample]", folder: RunFolder) -> None:
    from eval.runs.predictions import read_predictions
    from eval.runs.score import Scorer, write_rows

    predictions = read_predictions(folder.predictions, bench, samples, repeats=False)
    rows = Scorer(bench, bench.judge).score(predictions, partial=False)
    write_rows(rows, folder.scores)
    failed = [r for r in rows if r["error_type"] == "not_decoded"]
    if failed:
        print(
            f"{len(failed)} of {len(rows)} samples could not be decoded and count as wrong; "
            f"the first: {failed[0]['id']}: {failed[0]['message']}",
            file=sys.stderr,
        )
    _show(bench, {folder.path.name: rows})


def _targets(predictions: Sequence[str], out: Path) -> dict[str, Path]:
    """Where the scores of each file of predictions go."""
    if len(set(predictions)) < len(predictions):
        raise EvalError("--predictions names one file twice")
    if out.resolve() in {Path(path).resolve() for path in predictions}:
        raise EvalError(f"--out {out} is a file of predictions, which would be lost; name another")
    if len(predictions) == 1:
        if out.is_dir():
            raise EvalError(f"{out}: expected a file for the scores, found a folder; add a name")
        return {predictions[0]: out}
    if out.is_file():
        raise EvalError(f"{out}: the scores of several files need a folder, found a file")
    targets = {path: out / f"{_label(path)}.scores.jsonl" for path in predictions}
    if len(set(targets.values())) < len(targets):
        raise EvalError("--predictions: two files of one name; rename one, so that their scores can be told apart")
    return targets


def _label(path: str) -> str:
    """A run's folder, or a file's own name."""
    return Path(path).resolve().parent.name if Path(path).name == "predictions.jsonl" else Path(path).stem


def _judge(bench: "Benchmark", data: str, tool_server: str | None) -> Any:
    """A context with the benchmark's own judge, or the official tool manager's."""
    from contextlib import nullcontext

    if tool_server is None:
        return nullcontext(bench.judge)
    if bench.name != "api-bank":
        raise EvalError(f"--tool-server is API-Bank's; {bench.name} has none")
    from eval.benchmarks.api_bank.tool_server import ToolServer

    return ToolServer(tool_server)


def _say_missing(path: str, rows: Sequence[dict[str, Any]]) -> None:
    missing = [r for r in rows if r["missing"]]
    if missing:
        categories = sorted({r["category"] for r in missing})
        print(
            f"{path}: {len(missing)} of {len(rows)} samples have no prediction and count as wrong "
            f"({', '.join(categories)}); --partial scores the rows given, --category one category",
            file=sys.stderr,
        )


def _show(bench: "Benchmark", scored: dict[str, list[dict[str, Any]]]) -> None:
    from eval.report.comparison import show_comparison

    show_comparison(output_console(), bench.name, scored)
