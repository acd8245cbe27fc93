"""A tuning from its options to its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from rich.console import Console
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.prompt_format import settled
from eval.methods.sample_prompts import Prompter
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from eval.report.terminal import show
from eval.runs.run import draw
from eval.runs.run_folder import RunFolder, describe_run
from eval.runs.score import write_rows
from eval.tuning.choice import demand_enough
from eval.tuning.decoded_prompt import VoteOptions
from eval.tuning.decodes import Decodes, ProgressBar, machine_name
from eval.tuning.options import OWN_DATA, TuneOptions
from eval.tuning.output import DEPLOYMENT, deployment_text, draw_chart, tables, to_json, write_text
from eval.tuning.prompts import TuningPrompt, benchmark_prompts, own_prompts
from eval.tuning.reasons import limit_reasons, reasons
from eval.tuning.tuner import Tuner, Tuning
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.manifest import digest
from tooldecoding.models.loading import load_quietly
from tooldecoding.models.places import input_device
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.ray_options import RayOptions

_PACKAGES = ("tooldecoding", "torch", "transformers")


def tune_benchmark(
    benchmark: Benchmark,
    categories: Sequence[str],
    every: Sequence[Sample],
    options: EvalOptions,
    wanted: TuneOptions,
    bar: ProgressBar,
) -> Tuning:
    """Tune on a benchmark's samples; see ``_tune``."""
    samples = draw(every, options.limit, options.seed)
    demand_enough(len(samples), wanted, answers=True)
    options = replace(options, **_before_tuning(options, wanted))
    model, tokenizer = load_quietly(options.model, **options.loading)
    options = settled(options, benchmark, tokenizer)
    prompter = Prompter(options, every, tokenizer)
    if options.chat:
        prompter.request(samples[0])  # a missing chat template shows before anything is written
    texts = [prompter.text(sample) for sample in samples]
    device = str(input_device(model))
    manifest = describe_run(benchmark, options, categories, samples, len(every), device, texts)
    about = {"categories": list(categories), "drawn_from": len(every)}
    prompts = benchmark_prompts(benchmark, samples, prompter)
    return _tune(benchmark, prompts, options, wanted, (model, tokenizer), about, manifest, bar)


def tune_own_data(
    rows: Sequence[Row | BadRow], limit: int | None, options: DecodeCommand, wanted: TuneOptions, bar: ProgressBar
) -> Tuning:
    """Tune on prompts without answers; see ``_tune``."""
    drawn = draw(rows, limit, options.seed)
    demand_enough(len(drawn), wanted, answers=False)
    options = replace(options, **_before_tuning(options, wanted))
    model, tokenizer = load_quietly(options.model, **options.loading)
    prompts = own_prompts(drawn, options, tokenizer)
    manifest = {
        "benchmark": OWN_DATA,
        "categories": [OWN_DATA],
        "samples": len(prompts),
        "prompts": digest([f"{p.id} {p.request.prompt if p.request else p.error}" for p in prompts]),
        "settings": {**options.to_json(), "limit": limit},
    }
    return _tune(None, prompts, options, wanted, (model, tokenizer), {"drawn_from": len(rows)}, manifest, bar)


def _before_tuning(options: ModelOptions, wanted: TuneOptions) -> dict[str, Any]:
    """Return the options that are tuned as they are before; the largest limit gives the candidates of all others."""
    if options.orders != "shuffled":
        raise EvalError(f"tune compares limits of shuffled orders, but orders is {options.orders}; leave it out")
    if isinstance(options, RayOptions) and options.ray is not None:
        raise EvalError("tune decodes on this machine; leave ray out")
    return {"order_limit": wanted.order_limits[-1], "stopping": "none"}


def _tune(
    benchmark: Benchmark | None,
    prompts: Sequence[TuningPrompt],
    options: ModelOptions,
    wanted: TuneOptions,
    loaded: tuple[PreTrainedModel, PreTrainedTokenizerBase],
    about: Mapping[str, Any],
    manifest: Mapping[str, Any],
    bar: ProgressBar,
) -> Tuning:
    """Tune, and write all files.

    Raises
    ------
    EvalError
        If there are too few samples for a decision, or the folder holds something else.
    """
    decoder = ToolDecoder(*loaded, options.strategy, prompt_cache_mb=0)
    folder = RunFolder(wanted.folder)
    folder.begin(manifest)
    with folder.locked():
        (wanted.folder / DEPLOYMENT).unlink(missing_ok=True)  # of an earlier choice; it would be taken for this one's
        base = VoteOptions(options.order_limit, options.optional_share, "none", options.stopping_level)
        decodes = Decodes(decoder, wanted.folder, options.batch_size, options.seed, bar)
        scored = None
        if benchmark is not None and isinstance(options, EvalOptions):
            scored = ScoredText.of(options, benchmark.call_format)
        tuner = Tuner(prompts, wanted, base, benchmark, scored, decodes, options.seed)
        tuning = tuner.run(
            {
                **about,
                "benchmark": wanted.benchmark,
                "model": options.model,
                "machine": machine_name(decoder.model),
                "strategy": decoder.strategy,
                "versions": {name: version(name) for name in _PACKAGES},
                "date": datetime.now(UTC).date().isoformat(),
                "settings": options.to_json(),
            }
        )
        _write_files(tuner, tuning, options)
    return tuning


def _write_files(tuner: Tuner, tuning: Tuning, options: ModelOptions) -> None:
    out = tuning.wanted.folder
    names = {prompt.id: prompt.names for prompt in tuner.prompts}
    for row in tuning.limits:
        voted = replace(tuner.base, optional_share=tuning.optional_share, order_limit=row.limit)
        lines = [
            {**names[i], "prediction": o.text}
            | ({"error": o.error} if o.error else {})
            | ({"written": o.written} if o.written != o.text else {})
            for i, o in tuner.evidence.outcomes(voted).items()
        ]
        write_rows(lines, out / "predictions" / f"order_limit_{row.limit}.jsonl")
    write_text(out / "tune.json", json.dumps(to_json(tuning), indent=2, ensure_ascii=False) + "\n")
    draw_chart(f"{tuning.about['benchmark']}, {tuning.about['model']}", tuning, out / "tune.png")
    if tuning.deployed is not None:
        write_text(out / DEPLOYMENT, deployment_text(tuning, options))


def show_tuning(console: Console, tuning: Tuning) -> None:
    """Print the tables, the reasons and the files.

    Raises
    ------
    EvalError
        If no limit fits the budget.
    """
    show(console, tables(tuning))
    out = tuning.wanted.folder
    if tuning.deployed is None:
        [reason] = limit_reasons(tuning.choice, tuning.wanted, tuning.answers)
        raise EvalError(
            f"{reason} on this machine; no {DEPLOYMENT} is written. The same command with a larger budget "
            f"goes on with what stands in {out}"
        )
    console.print()
    for reason in reasons(tuning):
        console.print(f"- {reason}")
    console.print(f"\nwritten: {', '.join(str(out / name) for name in (DEPLOYMENT, 'tune.json', 'tune.png'))}")
