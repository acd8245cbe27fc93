"""Measures prompts one by one with several order limits, so that an interrupted command can continue."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd

from eval.bench.machine import describe_machine, machine_line
from eval.tuning.decoded_prompt import at_limit
from eval.validation import read_rows
from tooldecoding.batches.requests import memory_errors
from tooldecoding.cli.console import progress_bar
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.result_file import ResultFile
from tooldecoding.request import Request

LATENCY: Final = "latency.jsonl"
RESAMPLES: Final = 2000


def measure(
    decoder: ToolDecoder, folder: Path, seed: int, requests: Mapping[str, Request], limits: Sequence[int]
) -> pd.DataFrame:
    """Decode every prompt alone at each of the order limits, in a sequence that is drawn for each prompt.

    A first decode at each of the limits is not counted. Prompts that ``latency.jsonl`` has, measured on this
    machine with the same limits, are not measured again.

    Parameters
    ----------
    decoder : ToolDecoder
        Without a prefix cache: measurements must not depend on former ones.
    folder : Path
        Of the file with all measurements.
    seed : int
        Seed for the sequence of measurements.
    requests : mapping
        Id -> prompt; at least one.

    Returns
    -------
    DataFrame
        Columns: prompt ``id``, ``limit``, ``seconds``, ``forward_passes``, ``positions``.
    """
    path = folder / LATENCY
    machine = f"{machine_line(describe_machine(decoder.model.device))}, {decoder.model.dtype}"
    prefix = f"{machine}, {decoder.strategy}/{','.join(map(str, limits))}/"
    with (
        closing(ResultFile(str(path), frozenset({"latency"}))) as results,
        progress_bar("measuring", len(requests)) as advance,
    ):
        still = {name: request for name, request in requests.items() if prefix + name not in results.done}
        advance(len(requests) - len(still))
        if still:
            _measured(decoder, seed, *next(iter(still.items())), limits)  # caches and allocations
        for name, request in still.items():
            results.write([{"id": prefix + name, "latency": _measured(decoder, seed, name, request, limits)}])
            advance(1)
    rows = {row["id"]: row["latency"] for _, row in read_rows(path, "delete the line")}
    return pd.DataFrame([{"id": name, **row} for name in requests for row in rows[prefix + name]])


def _measured(
    decoder: ToolDecoder, seed: int, name: str, request: Request, limits: Sequence[int]
) -> list[dict[str, Any]]:
    shuffled, measured = list(limits), []
    Random(f"{seed}/{name}").shuffle(shuffled)
    for limit in shuffled:
        asked, start = at_limit(request, limit), perf_counter()
        with memory_errors():
            [result] = decoder.run([asked])
        measured.append(
            {
                "limit": limit,
                "seconds": perf_counter() - start,
                "forward_passes": result.counters.forward_passes,
                "positions": result.counters.positions,
            }
        )
    return measured


def latency(measured: pd.DataFrame, limit: int, seed: int) -> dict[str, Any]:
    """Return the time of one prompt decoded alone, over the prompts that were measured.

    Returns ``median_ms`` with quartiles ``low_ms`` and ``high_ms``; the median ``ratio`` to limit 1, with its 95 %
    bootstrap interval ``ratio_low`` and ``ratio_high``; mean ``passes`` and ``positions``, which are counted exactly;
    the number of ``prompts``.
    """
    by_id = measured.set_index("id")
    rows, bases = by_id[by_id.limit == limit], by_id[by_id.limit == 1]
    low, median, high = 1000 * rows.seconds.quantile([0.25, 0.5, 0.75])
    ratios = (rows.seconds / bases.seconds).to_numpy()
    drawn = np.random.default_rng(seed).choice(ratios, size=(RESAMPLES, len(rows)))
    ratio_low, ratio_high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    found = {"median_ms": median, "low_ms": low, "high_ms": high, "ratio": np.median(ratios)}
    found |= {"ratio_low": ratio_low, "ratio_high": ratio_high}
    found |= {"passes": rows.forward_passes.mean(), "positions": rows.positions.mean()}
    return {name: float(value) for name, value in found.items()} | {"prompts": len(rows)}
