"""A tuning from its options to its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from eval.bench.machine import describe_machine, machine_line
from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError, writing
from eval.methods.choose import Draft, Method, make_method, predict_all
from eval.methods.prediction import ScoredText
from eval.options import EvalOptions
from eval.runs.run import Made, draw, make_run
from eval.runs.run_folder import PREDICTIONS, RunFolder
from eval.tuning.choice import demand_enough
from eval.tuning.decoded_prompt import DecodedPrompt, at_limit, read_decoded
from eval.tuning.evidence import DecodeAgain, Evidence
from eval.tuning.latency import measure
from eval.tuning.options import TuneOptions
from eval.tuning.output import deployment_text
from eval.tuning.tuner import tuned
from tooldecoding.cli.console import stderr_line
from tooldecoding.cluster.workers import LocalWorker
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.manifest import write_whole
from tooldecoding.models.loading import load_quietly
from tooldecoding.request import Request

DEPLOYMENT: Final = "deployment.yaml"


def tune_benchmark(
    benchmark: Benchmark, categories: Sequence[str], every: Sequence[Sample], options: EvalOptions, wanted: TuneOptions
) -> dict[str, Any]:
    """Tune on a benchmark's samples, write all files, and return the record in ``tune.json``.

    EvalError if there are too few samples for a decision, or the folder holds something else.

    ``every``: all samples of the categories.
    """
    demand_enough(len(draw(every, options.limit, options.seed)), wanted)
    if options.orders != "shuffled":
        raise EvalError(f"tune compares limits of shuffled orders, but orders is {options.orders}; leave it out")
    if options.ray is not None:
        raise EvalError("tune decodes on this machine; leave ray out")
    # the largest limit gives the candidates of all others
    options = replace(options, order_limit=wanted.limits[-1])
    worker = LocalWorker(*load_quietly(options.model, tell=stderr_line, **options.loading))
    folder = RunFolder(wanted.folder)
    made = make_run(benchmark, categories, every, options, folder, worker)
    with folder.locked():
        (wanted.folder / DEPLOYMENT).unlink(missing_ok=True)  # of an earlier choice; it would be taken for this one's
        options = made.prompter.settings
        decoder = ToolDecoder(worker.model, worker.tokenizer, options.strategy, prompt_cache_mb=0)
        method = make_method(options, worker.model, worker.tokenizer, benchmark.call_format)
        evidence = Evidence(
            {row.sample.id: row.sample for row in made.predictions.rows},
            decoded_prompts(made, str(folder.path / PREDICTIONS)),
            decoding_again(method, options.batch_size),
            benchmark,
            ScoredText.of(options, benchmark.call_format),
        )
        measuring = partial(measure, decoder, wanted.folder, options.seed)
        record = tuned(
            evidence,
            wanted,
            measuring,
            options.seed,
            {
                "categories": list(categories),
                "drawn_from": len(every),
                "benchmark": wanted.benchmark,
                "model": options.model,
                "machine": machine_line(describe_machine(decoder.model.device)),
                "strategy": decoder.strategy,
                "date": datetime.now(UTC).date().isoformat(),
                "settings": options.to_json(),
            },
        )
        _write_files(record, options, wanted.folder)
    return record


def decoded_prompts(made: Made, place: str) -> dict[str, list[DecodedPrompt]]:
    """Return id -> what the run wrote for the prompt."""
    found = {}
    for sample, _, row in made.predictions.rows:
        request = None if row.get("error") else made.prompter.request(sample)
        found[sample.id] = [read_decoded(row, f"{place}, {sample.id}", request)]
    return found


def decoding_again(method: Method, batch_size: int) -> DecodeAgain:
    """Return what decodes prompts at another order limit, ``batch_size`` at a time."""

    def again(requests: Mapping[str, Request], order_limit: int) -> dict[str, DecodedPrompt]:
        found = {}
        waiting = [Draft(identifier, at_limit(request, order_limit)) for identifier, request in requests.items()]
        for start in range(0, len(waiting), batch_size):
            drafts = waiting[start : start + batch_size]
            for draft, prediction in zip(drafts, predict_all(method, drafts), strict=True):
                found[draft.id] = read_decoded(prediction.to_json(), draft.id, draft.request)
        return found

    return again


def _write_files(record: Mapping[str, Any], options: EvalOptions, out: Path) -> None:
    texts: dict[str, Any] = {"tune.json": json.dumps(record, indent=2, ensure_ascii=False) + "\n"}
    if record["chosen"]["settings"]:
        texts[DEPLOYMENT] = deployment_text(record, options)
    for name, text in texts.items():
        with writing(out / name):
            write_whole(out / name, text.encode())
