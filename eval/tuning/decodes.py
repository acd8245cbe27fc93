"""Decodes prompts into files, in batches and against the clock, so that an interrupted command can continue."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd

from eval.bench.machine import describe_machine, machine_line
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.methods.drafts import Draft, predict_all
from eval.methods.prediction import Prediction
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions, read_decoded, to_prediction
from lookup.text.text_file import read_text
from tooldecoding.batches.requests import decode_requests
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.result_file import ResultFile
from tooldecoding.request import Request

CANDIDATES: Final = "candidates.jsonl"
AGAIN: Final = "again.jsonl"
"""Prompts that were decoded again with other vote options; ids are ``OPTIONS/ID``."""
LATENCY: Final = "latency.jsonl"
RESAMPLES: Final = 2000

ProgressBar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Takes a word and a total, and returns a context with a function to report progress."""


@dataclass(frozen=True)
class TuningPrompt:
    """One prompt.

    Attributes
    ----------
    id : str
    request : Request or None
        None if no prompt can be made.
    error : str
        Why there is no request.
    sample : Sample or None
        None for the user's own data.
    """

    id: str
    request: Request | None
    error: str
    sample: Sample | None


@dataclass(frozen=True)
class Decodes:
    """Decodes prompts with any vote options, and keeps what comes of it in a folder.

    Parameters
    ----------
    decoder : ToolDecoder
        Without a prefix cache: measurements must not depend on former ones.
    folder : Path
    batch_size : int
        Number of prompts decoded together.
    seed : int
        Seed for the sequence of measurements.
    bar : callable
    """

    decoder: ToolDecoder
    folder: Path
    batch_size: int
    seed: int
    bar: ProgressBar

    def candidates(self, prompts: Sequence[TuningPrompt], options: VoteOptions) -> dict[str, list[DecodedPrompt]]:
        """Return prompt id -> its decode. Decodes what ``candidates.jsonl`` lacks."""
        decoded = self._decoded(prompts, options, CANDIDATES, "", "decoding")
        return {identifier: [one] for identifier, one in decoded.items()}

    def again(self, prompts: Sequence[TuningPrompt], options: VoteOptions) -> dict[str, DecodedPrompt]:
        """Return prompt id -> its decode with these options. Decodes what ``again.jsonl`` lacks."""
        return self._decoded(prompts, options, AGAIN, f"{options.label}/", "decoding again")

    def _decoded(
        self, prompts: Sequence[TuningPrompt], options: VoteOptions, file: str, prefix: str, word: str
    ) -> dict[str, DecodedPrompt]:
        path = self.folder / file
        with (
            closing(ResultFile(str(path), frozenset({"prediction"}))) as results,
            self.bar(word, len(prompts)) as advance,
        ):
            # whole groups, so that an interrupted run ends in the same candidates
            for start in range(0, len(prompts), self.batch_size):
                group = prompts[start : start + self.batch_size]
                if any(prefix + prompt.id not in results.done for prompt in group):
                    drafts = [Draft(p.id, p.request and _applied(p.request, options), p.error) for p in group]
                    rows = [
                        {"id": prefix + prompt.id, **prediction.to_json()}
                        for prompt, prediction in zip(group, predict_all(self._predict, drafts), strict=True)
                    ]
                    results.write([row for row in rows if row["id"] not in results.done])
                advance(len(group))
        rows_by_id = _read(path)
        return {p.id: read_decoded(*rows_by_id[prefix + p.id], p.request, options) for p in prompts}

    def _predict(self, requests: Sequence[Request]) -> list[Prediction]:
        return [to_prediction(result, len(requests)) for result in self.decoder.run(requests)]

    def measure(self, prompts: Sequence[TuningPrompt], every: Sequence[VoteOptions]) -> pd.DataFrame:
        """Decode every prompt alone with each of the options, in a sequence that is drawn for each prompt.

        A first decode with each of the options is not counted. Prompts that ``latency.jsonl`` has, measured on this
        machine with the same options, are not measured again.

        Parameters
        ----------
        prompts : sequence of TuningPrompt
            With requests; at least one.

        Returns
        -------
        DataFrame
            Columns: prompt ``id``, ``options`` (their label), ``seconds``, ``forward_passes``, ``positions``,
            ``orders`` decoded, and ``text``.
        """
        path = self.folder / LATENCY
        machine = f"{machine_line(describe_machine(self.decoder.model.device))}, {self.decoder.model.dtype}"
        prefix = f"{machine}, {self.decoder.strategy}/{';'.join(v.label for v in every)}/"
        with (
            closing(ResultFile(str(path), frozenset({"latency"}))) as results,
            self.bar("measuring", len(prompts)) as advance,
        ):
            still = [prompt for prompt in prompts if prefix + prompt.id not in results.done]
            advance(len(prompts) - len(still))
            if still:
                self._measured(still[0], every)  # caches and allocations
            for prompt in still:
                results.write([{"id": prefix + prompt.id, "latency": self._measured(prompt, every)}])
                advance(1)
        rows_by_id = _read(path)
        rows = [(prompt.id, row) for prompt in prompts for row in rows_by_id[prefix + prompt.id][0]["latency"]]
        return pd.DataFrame([{"id": identifier, **row} for identifier, row in rows])

    def _measured(self, prompt: TuningPrompt, every: Sequence[VoteOptions]) -> list[dict[str, Any]]:
        if prompt.request is None:
            raise ValueError(f"{prompt.id} has no prompt")
        shuffled, measured = list(every), []
        Random(f"{self.seed}/{prompt.id}").shuffle(shuffled)
        for options in shuffled:
            request, start = _applied(prompt.request, options), perf_counter()
            [result] = decode_requests([request], self.decoder)
            measured.append(
                {
                    "options": options.label,
                    "seconds": perf_counter() - start,
                    "forward_passes": result.counters.forward_passes,
                    "positions": result.counters.positions,
                    "orders": sum(len(call.candidates) for call in result.calls),
                    "text": result.text,
                }
            )
        return measured


def latency(measured: pd.DataFrame, options: VoteOptions, base: VoteOptions, seed: int) -> dict[str, Any]:
    """Return the time of one prompt decoded alone, over the prompts that were measured.

    Returns
    -------
    dict
        ``median_ms`` with quartiles ``low_ms`` and ``high_ms``; the median ``ratio`` to the base, with its 95 %
        bootstrap interval ``ratio_low`` and ``ratio_high``; mean ``passes`` and ``positions``, which are counted
        exactly; the number of ``prompts``.
    """
    by_id = measured.set_index("id")
    rows, bases = by_id[by_id.options == options.label], by_id[by_id.options == base.label]
    low, median, high = 1000 * rows.seconds.quantile([0.25, 0.5, 0.75])
    ratios = (rows.seconds / bases.seconds).to_numpy()
    drawn = np.random.default_rng(seed).choice(ratios, size=(RESAMPLES, len(rows)))
    ratio_low, ratio_high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    found = {"median_ms": median, "low_ms": low, "high_ms": high, "ratio": np.median(ratios)}
    found |= {"ratio_low": ratio_low, "ratio_high": ratio_high}
    found |= {"passes": rows.forward_passes.mean(), "positions": rows.positions.mean()}
    return {name: float(value) for name, value in found.items()} | {"prompts": len(rows)}


def draw_prompts(prompts: Sequence[TuningPrompt], count: int, seed: int) -> list[TuningPrompt]:
    """Draw ``count`` prompts with ``seed``."""
    drawn = list(prompts)
    Random(seed).shuffle(drawn)
    return drawn[:count]


def _applied(request: Request, options: VoteOptions) -> Request:
    return replace(request, options=options.applied(request.options))


def _read(path: Path) -> dict[str, tuple[dict[str, Any], str]]:
    """Id -> row and place."""
    rows = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        rows[row["id"]] = row, f"{path}:{number}"
    return rows
