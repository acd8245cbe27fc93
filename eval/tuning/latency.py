"""Measures latency on this machine. Settings are interleaved, so that drift of the machine affects all alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from eval.errors import EvalError
from eval.tuning.collect import ProgressBar
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.tuning_task import Timing
from eval.tuning.vote_options import VoteOptions
from lookup.text.text_file import read_text
from tooldecoding.cluster.task import Workers
from tooldecoding.decoder import Request
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
        Median of processor time over wall-clock time; far below 1 on a CPU that other processes used as well.
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
    """Measures vote options, and keeps the measurements in a folder.

    Parameters
    ----------
    workers : Workers
        One of them measures, the same for all prompts.
    folder : Path
    seed : int
        Seed for the order of measurements.
    bar : callable
    """

    workers: Workers[Any, Any]
    folder: Path
    seed: int
    bar: ProgressBar

    def measure(
        self, prompts: Sequence[TuningPrompt], every: Sequence[VoteOptions], base: VoteOptions
    ) -> dict[VoteOptions, Latency]:
        """Decode every prompt alone with each of the options, shuffled for each prompt.

        A first decode with each of the options is not counted. Prompts that ``latency.jsonl`` has, measured on this
        machine with the same options, are not measured again.

        Parameters
        ----------
        prompts : sequence of TuningPrompt
            With requests; at least one.
        base : VoteOptions
            The one of the options that ratios are to.

        Raises
        ------
        EvalError
            If one worker of a cluster died, and another machine measured the rest.
        """
        path = self.folder / LATENCY
        about = self.workers.about
        machine = f"{about['machine']}, {about['strategy']}"
        prefix = f"{machine}/{';'.join(v.label for v in every)}/"
        results = ResultFile(str(path), frozenset({"latency"}))
        still = [self._timing(prompt, every) for prompt in prompts if prefix + prompt.id not in results.done]
        try:
            with self.bar("measuring", len(prompts)) as advance:
                advance(len(prompts) - len(still))
                timings = ([timing] for timing in (*still[:1], *still))
                measurements = self.workers.spread(timings, most=1)
                next(measurements, None)  # the first prompt once more: caches and allocations
                for [timing], [measured] in measurements:
                    _demand_machine(measured.machine, about["machine"])
                    results.write([{"id": prefix + timing.id, "latency": measured.by_label}])
                    advance(1)
        finally:
            results.close()
        return _summarise(_read(path, [prefix + prompt.id for prompt in prompts]), every, base, self.seed)

    def _timing(self, prompt: TuningPrompt, every: Sequence[VoteOptions]) -> Timing:
        shuffled = list(every)
        Random(f"{self.seed}/{prompt.id}").shuffle(shuffled)
        return Timing(prompt.id, {options.label: _with(prompt, options) for options in shuffled})


def _demand_machine(measured: str, expected: str) -> None:
    if measured != expected:
        raise EvalError(
            f"a worker died, and another machine went on measuring: {measured}, not {expected}; "
            "the same command measures again"
        )


def draw_prompts(prompts: Sequence[TuningPrompt], count: int, seed: int) -> list[TuningPrompt]:
    """Draw ``count`` prompts with ``seed``."""
    drawn = list(prompts)
    Random(seed).shuffle(drawn)
    return drawn[:count]


def _with(prompt: TuningPrompt, options: VoteOptions) -> Request:
    if prompt.request is None:
        raise ValueError(f"{prompt.id} has no prompt")
    return replace(prompt.request, options=options.applied(prompt.request.options))


def _read(path: Path, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    rows = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        rows[row["id"]] = row["latency"]
    return [rows[i] for i in ids]


def _summarise(
    rows: Sequence[Mapping[str, Any]], every: Sequence[VoteOptions], base: VoteOptions, seed: int
) -> dict[VoteOptions, Latency]:
    def column(options: VoteOptions, name: str) -> np.ndarray:
        return np.array([row[options.label][name] for row in rows])

    summaries = {}
    for options in every:
        seconds = column(options, "seconds")
        low, median, high = 1000 * np.quantile(seconds, [0.25, 0.5, 0.75])
        ratios = seconds / column(base, "seconds")
        ratio_low, ratio_high = _interval_of_median(ratios, seed)
        summaries[options] = Latency(
            float(median),
            float(low),
            float(high),
            float(np.median(ratios)),
            ratio_low,
            ratio_high,
            float(np.mean(column(options, "forward_passes"))),
            float(np.mean(column(options, "positions"))),
            float(np.median(column(options, "processor_seconds") / seconds)),
            len(rows),
        )
    return summaries


def _interval_of_median(values: np.ndarray, seed: int) -> tuple[float, float]:
    """95 % percentile bootstrap."""
    generator = np.random.default_rng(seed)
    drawn = generator.choice(values, size=(RESAMPLES, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return float(low), float(high)
