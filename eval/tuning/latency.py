"""Measures prompts one by one with several vote options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd

from eval.tuning.decoded_prompt import VoteOptions
from tooldecoding.batches.requests import decode_requests
from tooldecoding.cli.console import progress_bar
from tooldecoding.decoder import ToolDecoder
from tooldecoding.request import Request

RESAMPLES: Final = 2000


@dataclass(frozen=True)
class Stopwatch:
    """Decodes prompts against the clock.

    Parameters
    ----------
    decoder : ToolDecoder
        Without a prefix cache: measurements must not depend on former ones.
    seed : int
        Seed for the sequence of measurements.
    """

    decoder: ToolDecoder
    seed: int

    def measure(self, requests: Mapping[str, Request], every: Sequence[VoteOptions]) -> pd.DataFrame:
        """Decode every prompt alone with each of the options, in a sequence that is drawn for each prompt.

        A first decode with each of the options is not counted.

        Parameters
        ----------
        requests : mapping
            Id -> prompt; at least one.

        Returns
        -------
        DataFrame
            Columns: prompt ``id``, ``options`` (their label), ``seconds``, ``forward_passes``, ``positions``,
            ``orders`` decoded, and ``text``.
        """
        rows = []
        self._measured(*next(iter(requests.items())), every)  # caches and allocations
        with progress_bar("measuring", len(requests)) as advance:
            for name, request in requests.items():
                rows += self._measured(name, request, every)
                advance(1)
        return pd.DataFrame(rows)

    def _measured(self, name: str, request: Request, every: Sequence[VoteOptions]) -> list[dict[str, Any]]:
        shuffled, measured = list(every), []
        Random(f"{self.seed}/{name}").shuffle(shuffled)
        for options in shuffled:
            asked, start = options.applied(request), perf_counter()
            [result] = decode_requests([asked], self.decoder)
            measured.append(
                {
                    "id": name,
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
