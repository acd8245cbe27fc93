"""A tuning from its options to its files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.bench.machine import describe_machine, machine_line
from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.prompt_format import settled
from eval.methods.sample_prompts import Prompter
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from eval.report.terminal import show
from eval.runs.run import draw
from eval.runs.run_folder import RunFolder, describe_run
from eval.tuning.choice import demand_enough
from eval.tuning.decoded_prompt import VoteOptions
from eval.tuning.decodes import Decodes, ProgressBar, TuningPrompt
from eval.tuning.options import OWN_DATA, TuneOptions
from eval.tuning.output import deployment_text, draw_chart, tables
from eval.tuning.tuner import Tuner, Tuning
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import make_request
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.manifest import digest, write_whole
from tooldecoding.models.loading import load_quietly
from tooldecoding.models.places import input_device
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.ray_options import RayOptions
from tooldecoding.request import Request

DEPLOYMENT: Final = "deployment.yaml"


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
    prompts = [TuningPrompt(sample.id, *_made(prompter.request, sample), sample) for sample in samples]
    return _tune(benchmark, prompts, options, wanted, (model, tokenizer), about, manifest, bar)


def tune_own_data(
    rows: Sequence[Row | BadRow], limit: int | None, options: DecodeCommand, wanted: TuneOptions, bar: ProgressBar
) -> Tuning:
    """Tune on prompts without answers; see ``_tune``."""
    drawn = draw(rows, limit, options.seed)
    demand_enough(len(drawn), wanted, answers=False)
    options = replace(options, **_before_tuning(options, wanted))
    model, tokenizer = load_quietly(options.model, **options.loading)
    if len({str(row.id) for row in drawn}) < len(drawn):
        raise EvalError("--data: two rows have ids that differ by type alone (1 and '1'); tell them apart")
    prompts = []
    for row in drawn:
        made: tuple[Request | None, str] = None, row.error if isinstance(row, BadRow) else ""
        if isinstance(row, Row):
            made = _made(make_request, row.content, row.documentation, options, tokenizer)
        prompts.append(TuningPrompt(str(row.id), *made, None))
    manifest = {
        "benchmark": OWN_DATA,
        "categories": [OWN_DATA],
        "samples": len(prompts),
        "prompts": digest([f"{p.id} {p.request.prompt if p.request else p.error}" for p in prompts]),
        "settings": {**options.to_json(), "limit": limit},
    }
    return _tune(None, prompts, options, wanted, (model, tokenizer), {"drawn_from": len(rows)}, manifest, bar)


def _made(make: Callable[..., Request], *given: Any) -> tuple[Request | None, str]:
    """Return the request, or why there is none."""
    try:
        return make(*given), ""
    except ToolDecodingError as cause:
        return None, str(cause)


def _before_tuning(options: ModelOptions, wanted: TuneOptions) -> dict[str, Any]:
    """Return the options that are tuned as they are before; the largest limit gives the candidates of all others."""
    if options.orders != "shuffled":
        raise EvalError(f"tune compares limits of shuffled orders, but orders is {options.orders}; leave it out")
    if isinstance(options, RayOptions) and options.ray is not None:
        raise EvalError("tune decodes on this machine; leave ray out")
    return {"order_limit": wanted.limits[-1], "stopping": "none"}


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
                "machine": machine_line(describe_machine(decoder.model.device)),
                "strategy": decoder.strategy,
                "date": datetime.now(UTC).date().isoformat(),
                "settings": options.to_json(),
            }
        )
        _write_files(tuning, options, wanted.folder)
    return tuning


def _write_files(tuning: Tuning, options: ModelOptions, out: Path) -> None:
    draw_chart(tuning.record, out / "tune.png")
    texts = {"tune.json": json.dumps(tuning.record, indent=2, ensure_ascii=False) + "\n"}
    if tuning.deployed is not None:
        texts[DEPLOYMENT] = deployment_text(tuning.record, tuning.deployed, options)
    for name, text in texts.items():
        try:
            write_whole(out / name, text.encode())
        except OSError as error:
            raise EvalError(f"{out / name}: cannot be written: {error.strerror}") from None


def show_tuning(console: Console, tuning: Tuning, wanted: TuneOptions) -> None:
    """Print the tables, the reasons and the files.

    Raises
    ------
    EvalError
        If no limit fits the budget.
    """
    show(console, tables(tuning.record))
    reasons, out = tuning.record["chosen"]["reasons"], wanted.folder
    if tuning.deployed is None:
        raise EvalError(
            f"{reasons[-1]} on this machine; no {DEPLOYMENT} is written. The same command with a larger budget "
            f"goes on with what stands in {out}"
        )
    console.print()
    for reason in reasons:
        console.print(f"- {reason}")
    console.print(f"\nwritten: {', '.join(str(out / name) for name in (DEPLOYMENT, 'tune.json', 'tune.png'))}")
