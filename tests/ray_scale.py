"""Rows a second with workers of one thread each against one process, and what Ray costs. ``make ray-scale`` runs it."""

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ray_stub import NoModel, Nothing
from tooldecoding.batches.batch_rows import read_batch
from tooldecoding.batches.open_source import open_source
from tooldecoding.cluster.cluster import Cluster, joined
from tooldecoding.cluster.decode_task import DecodeTask
from tooldecoding.cluster.model_source import ModelSource
from tooldecoding.cluster.place import Here
from tooldecoding.cluster.resources import Share
from tooldecoding.cluster.task import Workers
from tooldecoding.options.decode_command import DecodeCommand

TOOLS = Path(__file__).parents[1] / "tooldecoding" / "demo" / "tools.jsonl"
WAYS = ("one process", "1 worker", "2 workers")
ONE_THREAD = Share(1, 0.0)
STUB_ROUNDS = 50


def groups_of(rows: int, size: int) -> list[Sequence[Any]]:
    """Groups of prompts, all with the tools of the demo."""
    lines = [{"id": n, "prompt": f"Send Ann the token {n}.", "tools": TOOLS.read_text()} for n in range(rows)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        read = read_batch(open_source(str(path)), None)
    return [read[start : start + size] for start in range(0, rows, size)]


def seconds(workers: Workers[Any, Any], groups: Sequence[Sequence[Any]], most: int | None = None) -> float:
    """Return how long all groups take; every item must have a result."""
    start = time.perf_counter()
    done = sum(len(results) for _, results in workers.spread(groups, most))
    assert done == sum(map(len, groups))
    return time.perf_counter() - start


def measure(rows: int, size: int, repeats: int) -> dict[str, Any]:
    """Measure the ways in turns; models are loaded and have decoded a group before."""
    torch.set_num_threads(1)
    options = DecodeCommand(batch="rows.jsonl", batch_size=size, prompt_cache_mb=0, ray="local", actors=2)
    task = DecodeTask(options)
    source = ModelSource("reference", "cpu", None, False)
    groups = groups_of(rows, size)
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    with joined(options), ExitStack() as stack:
        workers: dict[str, Workers[Any, Any]] = {
            "one process": stack.enter_context(Here(options).workers(task)),
            "2 workers": stack.enter_context(Cluster(2, ONE_THREAD).crew(task, source)),
        }
        seconds(workers["2 workers"], groups[:2] * 2)
        seconds(workers["one process"], groups[:1])
        for _ in range(repeats):
            taken["one process"].append(seconds(workers["one process"], groups))
            taken["1 worker"].append(seconds(workers["2 workers"], groups, most=1))
            taken["2 workers"].append(seconds(workers["2 workers"], groups))
        stub = stack.enter_context(Cluster(1, Share(0, 0.0)).crew(Nothing(), NoModel()))  # type: ignore[arg-type]
        seconds(stub, groups * 10)
        ray = seconds(stub, groups * STUB_ROUNDS) / len(groups) / STUB_ROUNDS
    return {
        "rows": rows,
        "batch_size": size,
        "rows_a_second": {way: round(rows / median(times), 2) for way, times in taken.items()},
        "times_one_process": {
            way: round(median(one / own for one, own in zip(taken["one process"], times, strict=True)), 2)
            for way, times in taken.items()
        },
        "ray_ms_a_row": round(1e3 * ray / size, 2),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print(json.dumps(measure(asked.rows, asked.batch_size, asked.repeats)))


if __name__ == "__main__":
    main()
