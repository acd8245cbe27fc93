"""Latency of variants, measured on this machine and never derived: interleaved, so that its drift hits all alike."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import torch
from transformers import PreTrainedModel

from eval.errors import EvalError
from eval.tuning.collect import ProgressBar
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.vote_options import VoteOptions
from lookup.text.text_file import read_text
from tooldecoding.batches.jobs import decode_requests
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.result_file import ResultFile

LATENCY: Final = "latency.jsonl"
RESAMPLES: Final = 2000


@dataclass(frozen=True)
class Latency:
    """Time of one prompt decoded alone, over a sample of prompts.

    Attributes
    ----------
    median_ms, low_ms, high_ms : float
        Median and quartiles in milliseconds.
    ratio, ratio_low, ratio_high : float
        Median over the prompts of the ratio to the base, and its 95 % bootstrap interval.
    passes, positions : float
        Mean forward passes and token positions, which are counted exactly.
    busy : float
        Processor time over wall-clock time, the median; far below 1 on a CPU where other processes took their share.
    prompts : int
    """

    median_ms: float
    low_ms: float
    high_ms: float
    ratio: float
    ratio_low: float
    ratio_high: float
    passes: float
    positions: float
    busy: float
    prompts: int


@dataclass(frozen=True)
class Stopwatch:
    """Measures variants, and keeps what was measured in a folder.

    Parameters
    ----------
    decoder : ToolDecoder
    folder : Path
    seed : int
        Of the sequence of the variants for each prompt.
    bar : callable
    """

    decoder: ToolDecoder
    folder: Path
    seed: int
    bar: ProgressBar

    def measure(
        self, items: Sequence[TuningPrompt], variants: Sequence[VoteOptions], base: VoteOptions
    ) -> dict[VoteOptions, Latency]:
        """Decode every prompt alone with every variant, in a sequence of variants that is shuffled for each prompt.

        One decode with each variant goes before and is not counted. Prompts that were measured on this machine with
        the same variants stand in ``latency.jsonl`` and are not measured again.

        Parameters
        ----------
        items : sequence of TuningPrompt
            With requests; at least one.
        base : VoteOptions
            One of ``variants``, which ratios are to.
        """
        path = self.folder / LATENCY
        machine = f"{machine_name(self.decoder.model)}, {self.decoder.strategy}"
        prefix = f"{machine}/{';'.join(v.label for v in variants)}/"
        results = ResultFile(str(path), frozenset({"latency"}))
        still = [item for item in items if prefix + item.id not in results.done]
        try:
            with self.bar("measuring", len(items)) as advance:
                advance(len(items) - len(still))
                if still:
                    self._measure(still[0], variants)  # warm caches and allocations
                for item in still:
                    results.write([{"id": prefix + item.id, "latency": self._measure(item, variants)}])
                    advance(1)
        finally:
            results.close()
        return _summarise(_read(path, [prefix + item.id for item in items]), variants, base, self.seed)

    def _measure(self, item: TuningPrompt, variants: Sequence[VoteOptions]) -> dict[str, dict[str, float]]:
        sequence = list(variants)
        Random(f"{self.seed}/{item.id}").shuffle(sequence)
        measured = {}
        for variant in sequence:
            request = _with(item, variant)
            start, processor = perf_counter(), process_time()
            [result] = decode_requests([request], self.decoder)
            seconds, processor = perf_counter() - start, process_time() - processor
            counters = result.counters
            measured[variant.label] = {
                "seconds": seconds,
                "processor_seconds": processor,
                "forward_passes": counters.forward_passes,
                "positions": counters.positions,
            }
        return measured


def machine_name(model: PreTrainedModel) -> str:
    """The machine as figures should name it."""
    device = torch.cuda.get_device_name(model.device) if model.device.type == "cuda" else str(model.device)
    cores = f"{cpu_count()} cores, {torch.get_num_threads()} used"
    return f"{platform.processor() or platform.machine()}, {cores}, {device}, {str(model.dtype).removeprefix('torch.')}"


def draw_prompts(items: Sequence[TuningPrompt], count: int, seed: int) -> list[TuningPrompt]:
    """``count`` prompts, drawn with ``seed``."""
    drawn = list(items)
    Random(seed).shuffle(drawn)
    return drawn[:count]


def _with(item: TuningPrompt, variant: VoteOptions) -> Request:
    if item.request is None:
        raise ValueError(f"{item.id} has no prompt")
    return replace(item.request, options=variant.applied(item.request.options))


def _read(path: Path, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    rows = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        rows[row["id"]] = row["latency"]
    return [rows[i] for i in ids]


def _summarise(
    rows: Sequence[Mapping[str, Any]], variants: Sequence[VoteOptions], base: VoteOptions, seed: int
) -> dict[VoteOptions, Latency]:
    def column(variant: VoteOptions, name: str) -> np.ndarray:
        return np.array([row[variant.label][name] for row in rows])

    summaries = {}
    for variant in variants:
        seconds = column(variant, "seconds")
        low, median, high = 1000 * np.quantile(seconds, [0.25, 0.5, 0.75])
        ratios = seconds / column(base, "seconds")
        ratio_low, ratio_high = _interval_of_median(ratios, seed)
        summaries[variant] = Latency(
            float(median),
            float(low),
            float(high),
            float(np.median(ratios)),
            ratio_low,
            ratio_high,
            float(np.mean(column(variant, "forward_passes"))),
            float(np.mean(column(variant, "positions"))),
            float(np.median(column(variant, "processor_seconds") / seconds)),
            len(rows),
        )
    return summaries


def _interval_of_median(values: np.ndarray, seed: int) -> tuple[float, float]:
    """95 % percentile bootstrap."""
    generator = np.random.default_rng(seed)
    drawn = generator.choice(values, size=(RESAMPLES, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return float(low), float(high)
