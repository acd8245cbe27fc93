"""A tuning from its settings to its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from eval.benchmarks.samples import Benchmark, Sample
from eval.commands.settings import EvalOptions
from eval.errors import EvalError
from eval.methods.sample_prompts import Prompter
from eval.report.table import percent
from eval.report.terminal import show
from eval.runs.run import draw
from eval.runs.run_folder import RunFolder, describe_run
from eval.runs.score import write_rows
from eval.tuning.collect import Collector, ProgressBar
from eval.tuning.decision import Decision
from eval.tuning.deployment import DEPLOYMENT, deployment_text, write_text
from eval.tuning.latency import Stopwatch, machine_name
from eval.tuning.reasons import limit_reasons, reasons
from eval.tuning.results import Tuning
from eval.tuning.tuner import Tuner
from eval.tuning.tuning_chart import tuning_chart
from eval.tuning.tuning_json import to_json
from eval.tuning.tuning_prompts import TuningPrompt, benchmark_prompts, draw_rows, own_prompts
from eval.tuning.tuning_tables import tables
from eval.tuning.verdicts import Verdicts
from eval.tuning.vote_options import VoteOptions
from tooldecoding.batches.batch import Row
from tooldecoding.cli.config import DecodeCommand, ModelOptions
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.manifest import digest
from tooldecoding.models.loading import load_quietly

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

OWN_DATA = "batch"
"""What the command line calls prompts without answers."""

_PACKAGES = ("tooldecoding", "torch", "transformers")


@dataclass(frozen=True)
class Plan:
    """What a tuning was asked for.

    Attributes
    ----------
    limits : tuple of int
        Ascending.
    decision : Decision
    latency_prompts : int
    out : Path
    bar : callable
    """

    limits: tuple[int, ...]
    decision: Decision
    latency_prompts: int
    out: Path
    bar: ProgressBar


def tune_benchmark(
    benchmark: Benchmark, categories: Sequence[str], every: Sequence[Sample], settings: EvalOptions, plan: Plan
) -> Tuning:
    """Tune on a benchmark's samples; see ``_tune``."""
    samples = draw(every, settings.limit, settings.seed)
    plan.decision.demand_enough(len(samples), answers=True)
    settings = replace(settings, **_before_tuning(settings, plan))
    decoder, tokenizer = _load(settings)
    prompter = Prompter(settings, every, tokenizer)
    prompter.request(samples[0])  # a wrong template shows before anything is written
    prompts = [prompter.text(sample) for sample in samples]
    manifest = describe_run(benchmark, settings, categories, samples, len(every), str(decoder.model.device), prompts)
    items = benchmark_prompts(benchmark, samples, prompter)
    about = _about(benchmark.name, settings, decoder) | {"categories": list(categories), "drawn_from": len(every)}
    return _tune(items, Verdicts(benchmark, items), settings, decoder, plan, about, manifest)


def tune_own_data(rows: Sequence[Row], limit: int | None, settings: DecodeCommand, plan: Plan) -> Tuning:
    """Tune on prompts without answers; see ``_tune``."""
    drawn = draw_rows(rows, limit, settings.seed)
    plan.decision.demand_enough(len(drawn), answers=False)
    settings = replace(settings, **_before_tuning(settings, plan))
    decoder, tokenizer = _load(settings)
    items = own_prompts(drawn, settings, tokenizer)
    about = _about(OWN_DATA, settings, decoder) | {"drawn_from": len(rows)}
    manifest = about | {
        "categories": [OWN_DATA],
        "samples": len(items),
        "prompts": digest([f"{item.id} {item.request.prompt if item.request else item.error}" for item in items]),
        "settings": {**settings.__dict__, "limit": limit},
    }
    return _tune(items, None, settings, decoder, plan, about, manifest)


def _before_tuning(settings: ModelOptions, plan: Plan) -> dict[str, Any]:
    """What is tuned, as it stands before; the largest limit gives the candidates of all others."""
    if settings.orders != "shuffled":
        raise EvalError(f"tune compares limits of shuffled orders, but orders is {settings.orders}; leave it out")
    return {"order_limit": plan.limits[-1], "stopping": "none", "calibration": None}


def _load(settings: ModelOptions) -> tuple[ToolDecoder, "PreTrainedTokenizerBase"]:
    model, tokenizer = load_quietly(settings.model, settings.device, settings.dtype, settings.trust_remote_code)
    return ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0), tokenizer


def _about(data: str, settings: ModelOptions, decoder: ToolDecoder) -> dict[str, Any]:
    return {
        "benchmark": data,
        "model": settings.model,
        "machine": machine_name(decoder.model),
        "strategy": decoder.strategy,
        "versions": {name: version(name) for name in _PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
        "settings": dict(settings.__dict__),
    }


def _tune(
    items: Sequence[TuningPrompt],
    verdicts: Verdicts | None,
    settings: ModelOptions,
    decoder: ToolDecoder,
    plan: Plan,
    about: Mapping[str, Any],
    manifest: Mapping[str, Any],
) -> Tuning:
    """Tune, and write all files.

    Raises
    ------
    EvalError
        If there are too few samples for a decision, or the folder holds something else.
    """
    folder = RunFolder(plan.out)
    folder.begin(manifest)
    with folder.locked():
        (plan.out / DEPLOYMENT).unlink(missing_ok=True)  # one of an earlier choice would be taken for this one's
        tuner, tuning = _run(items, verdicts, settings, decoder, plan, about)
        _write_files(tuner, tuning, settings, plan.out)
    return tuning


def _run(
    items: Sequence[TuningPrompt],
    verdicts: Verdicts | None,
    settings: ModelOptions,
    decoder: ToolDecoder,
    plan: Plan,
    about: Mapping[str, Any],
) -> tuple[Tuner, Tuning]:
    tuner = Tuner(
        items,
        plan.limits,
        VoteOptions(plan.limits[-1], settings.optional_share, "none", settings.stopping_level),
        verdicts,
        plan.decision,
        Collector(decoder, plan.out, settings.batch_size, plan.bar),
        Stopwatch(decoder, plan.out, settings.seed, plan.bar),
        plan.latency_prompts,
        settings.seed,
    )
    return tuner, tuner.run(about)


def _write_files(tuner: Tuner, tuning: Tuning, settings: ModelOptions, out: Path) -> None:
    _write_predictions(tuner, tuning, out)
    write_text(out / "tune.json", json.dumps(to_json(tuning), indent=2, ensure_ascii=False) + "\n")
    title = f"{tuning.about['benchmark']}, {tuning.about['model']}"
    tuning_chart(title, tuning, out / "tune.png")
    if tuning.deployed is not None:
        write_text(out / DEPLOYMENT, deployment_text(tuning, settings, _comments(tuning)))


def _write_predictions(tuner: Tuner, tuning: Tuning, out: Path) -> None:
    """The predictions of each limit, which ``score`` reads."""
    names = {prompt.id: prompt.names for prompt in tuner.prompts}
    for row in tuning.limits:
        outcomes = tuner.evidence.outcomes(row.options)
        lines = [
            {**names[i], "prediction": o.text} | ({"error": o.error} if o.error else {}) for i, o in outcomes.items()
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
