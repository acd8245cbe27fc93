"""A tuning from its options to its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.prompt_format import settled
from eval.methods.sample_prompts import Prompter
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from eval.report.table import percent
from eval.report.terminal import show
from eval.runs.run import draw
from eval.runs.run_folder import RunFolder, describe_run
from eval.runs.score import write_rows
from eval.tuning.collect import Collector, ProgressBar
from eval.tuning.deployment import DEPLOYMENT, deployment_text, write_text
from eval.tuning.latency import Stopwatch
from eval.tuning.options import OWN_DATA, TuneOptions
from eval.tuning.reasons import limit_reasons, reasons
from eval.tuning.results import Tuning
from eval.tuning.shorter_documentation import DetailPrompts, DetailRow, choose_detail, compare_details
from eval.tuning.tuner import Tuner
from eval.tuning.tuning_chart import tuning_chart
from eval.tuning.tuning_json import to_json
from eval.tuning.tuning_prompts import TuningPrompt, benchmark_prompts, draw_rows, own_prompts
from eval.tuning.tuning_tables import tables
from eval.tuning.tuning_task import TuningTask
from eval.tuning.verdicts import Verdicts
from eval.tuning.vote_options import VoteOptions
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.cluster.place import place_of
from tooldecoding.cluster.task import Workers
from tooldecoding.files.manifest import digest
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.decode_options import Detail
from tooldecoding.options.model_options import ModelOptions

_PACKAGES = ("tooldecoding", "torch", "transformers")


def tune_benchmark(
    benchmark: Benchmark,
    categories: Sequence[str],
    every: Sequence[Sample],
    options: EvalOptions,
    command: TuneOptions,
    bar: ProgressBar,
) -> Tuning:
    """Tune on a benchmark's samples; see ``_tune``."""
    samples = draw(every, options.limit, options.seed)
    command.decision.demand_enough(len(samples), answers=True)
    options = replace(options, **_before_tuning(options, command))
    with place_of(options) as place:
        options = settled(options, benchmark, place.tokenizer)
        details: Sequence[Detail] = get_args(Detail) if command.compare_documentation else (options.documentation,)
        prompters = [Prompter(replace(options, documentation=d), every, place.tokenizer) for d in details]
        if options.chat:
            prompters[0].request(samples[0])  # a missing chat template shows before anything is written
        prompts = [prompter.text(sample) for prompter in prompters for sample in samples]
        by_detail = {d: _detailed(benchmark, samples, p) for d, p in zip(details, prompters, strict=True)}
        items = by_detail[details[0]].prompts
        verdicts = Verdicts(benchmark, items, ScoredText.of(options, benchmark.call_format))
        with place.workers(TuningTask(options)) as workers:
            device = str(workers.about["device"])
            manifest = describe_run(benchmark, options, categories, samples, len(every), device, prompts)
            about = _about(benchmark.name, options, workers)
            about |= {"categories": list(categories), "drawn_from": len(every)}
            return _tune(items, verdicts, options, workers, command, bar, about, manifest, by_detail)


def _detailed(benchmark: Benchmark, samples: Sequence[Sample], prompter: Prompter) -> DetailPrompts:
    prompts = benchmark_prompts(benchmark, samples, prompter)
    return DetailPrompts(prompts, [prompter.tokens(each.request) if each.request else 0 for each in prompts])


def tune_own_data(
    rows: Sequence[Row | BadRow], limit: int | None, options: DecodeCommand, command: TuneOptions, bar: ProgressBar
) -> Tuning:
    """Tune on prompts without answers; see ``_tune``."""
    drawn = draw_rows(rows, limit, options.seed)
    command.decision.demand_enough(len(drawn), answers=False)
    options = replace(options, **_before_tuning(options, command))
    with place_of(options) as place:
        items = own_prompts(drawn, options, place.tokenizer)
        with place.workers(TuningTask(options)) as workers:
            about = _about(OWN_DATA, options, workers) | {"drawn_from": len(rows)}
            texts = [f"{item.id} {item.request.prompt if item.request else item.error}" for item in items]
            manifest = about | {
                "categories": [OWN_DATA],
                "samples": len(items),
                "prompts": digest(texts),
                "settings": {**options.to_json(), "limit": limit},
            }
            return _tune(items, None, options, workers, command, bar, about, manifest)


def _before_tuning(options: ModelOptions, command: TuneOptions) -> dict[str, Any]:
    """Return the options that are tuned as they are before; the largest limit gives the candidates of all others."""
    if options.orders != "shuffled":
        raise EvalError(f"tune compares limits of shuffled orders, but orders is {options.orders}; leave it out")
    return {"order_limit": command.order_limits[-1], "stopping": "none", "calibration": None}


def _about(data: str, options: ModelOptions, workers: Workers[Any, Any]) -> dict[str, Any]:
    return {
        "benchmark": data,
        "model": options.model,
        "machine": workers.about["machine"],
        "strategy": workers.about["strategy"],
        "versions": {name: version(name) for name in _PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
        "settings": options.to_json(),
    }


def _tune(
    items: Sequence[TuningPrompt],
    verdicts: Verdicts | None,
    options: ModelOptions,
    workers: Workers[Any, Any],
    command: TuneOptions,
    bar: ProgressBar,
    about: Mapping[str, Any],
    manifest: Mapping[str, Any],
    by_detail: Mapping[Detail, DetailPrompts] | None = None,
) -> Tuning:
    """Tune, and write all files.

    Parameters
    ----------
    by_detail : mapping, optional
        The prompts with each documentation that may be chosen.

    Raises
    ------
    EvalError
        If there are too few samples for a decision, or the folder holds something else.
    """
    out, limits = command.folder, command.order_limits
    folder = RunFolder(out)
    folder.begin(manifest)
    with folder.locked():
        (out / DEPLOYMENT).unlink(missing_ok=True)  # of an earlier choice; it would be taken for this one's
        base = VoteOptions(limits[-1], options.optional_share, "none", options.stopping_level)
        collector = Collector(workers, out, options.batch_size, bar)
        rows: list[DetailRow] = []
        if verdicts is not None and by_detail is not None and len(by_detail) > 1:
            rows = compare_details(by_detail, verdicts, base, command.decision, collector, options.seed)
            options = replace(options, documentation=choose_detail(rows, command.decision.level))
            items, about = by_detail[options.documentation].prompts, {**about, "settings": options.to_json()}
        tuner = Tuner(
            items,
            limits,
            base,
            verdicts,
            command.decision,
            collector,
            Stopwatch(workers, out, options.seed, bar),
            command.latency_prompts,
            options.seed,
        )
        tuning = replace(tuner.run(about), details=rows)
        _write_files(tuner, tuning, options, out)
    return tuning


def _write_files(tuner: Tuner, tuning: Tuning, options: ModelOptions, out: Path) -> None:
    _write_predictions(tuner, tuning, out)
    write_text(out / "tune.json", json.dumps(to_json(tuning), indent=2, ensure_ascii=False) + "\n")
    title = f"{tuning.about['benchmark']}, {tuning.about['model']}"
    tuning_chart(title, tuning, out / "tune.png")
    if tuning.deployed is not None:
        write_text(out / DEPLOYMENT, deployment_text(tuning, options, _comments(tuning)))


def _write_predictions(tuner: Tuner, tuning: Tuning, out: Path) -> None:
    """The predictions of each limit, which ``score`` reads."""
    names = {prompt.id: prompt.names for prompt in tuner.prompts}
    for row in tuning.limits:
        outcomes = tuner.evidence.outcomes(row.options)
        lines = [
            {**names[i], "prediction": o.text}
            | ({"error": o.error} if o.error else {})
            | ({"written": o.written} if o.written != o.text else {})
            for i, o in outcomes.items()
        ]
        write_rows(lines, out / "predictions" / f"order_limit_{row.options.order_limit}.jsonl")


def _comments(tuning: Tuning) -> list[str]:
    about = tuning.about
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    chosen = next(row for row in tuning.limits if row.options.order_limit == tuning.choice.limit)
    measure = "right" if tuning.answers else f"as at limit {tuning.largest_limit} (not accuracy)"
    template = about["settings"].get("template")
    latency = chosen.latency
    comments = [
        f"Written by `tooldecoding tune {about['benchmark']}` on {about['date']} with {versions}.",
        f"Machine: {about['machine']}; branches {about['strategy']}.",
        f"Order limit {tuning.choice.limit}: {percent(chosen.right.estimate)} % of {chosen.right.total} {measure}",
        f"Latency: {latency.median_ms:.0f} ms (median of {latency.prompts} prompts), {latency.ratio:.2f} times limit 1",
    ]
    if template not in (None, "auto"):
        comments.append(
            f"Prompts had the template {template}, which is not set here: it is another one for each input."
        )
    return comments


def show_tuning(console: Console, tuning: Tuning, out: Path) -> None:
    """Print the tables, the reasons and the files.

    Raises
    ------
    EvalError
        If no limit fits the budget.
    """
    show(console, tables(tuning))
    if tuning.answers and tuning.study is None:
        console.print("\nConfidence: too few right or wrong values, or dialogues, for a study.")
    if tuning.deployed is None:
        [reason] = limit_reasons(tuning.choice, tuning.decision, tuning.answers)
        raise EvalError(
            f"{reason} on this machine; no {DEPLOYMENT} is written. The same command with a larger budget "
            f"goes on with what stands in {out}"
        )
    console.print()
    for reason in reasons(tuning):
        console.print(f"- {reason}")
    files = [DEPLOYMENT, "tune.json", "tune.png"]
    console.print(f"\nwritten: {', '.join(str(out / name) for name in files)}")
