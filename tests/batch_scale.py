"""Batches of growing size with a stub for the decoding: time and memory a row. ``make batch-scale`` runs it."""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from batch_echo import Echo, decode_with
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.cli import decode
from tooldecoding.cluster import decode_task
from tooldecoding.options.given import Given

SIZES = (10_000, 100_000, 1_000_000)
SETS_OF_TOOLS = 50
GROUP = 64


def stub(group: Sequence[Row | BadRow], decoder: Any, options: Any) -> list[dict[str, Any]]:
    """In place of ``decode_group``."""
    return [{"id": row.id, "text": "x" * 100, "calls": []} for row in group if isinstance(row, Row)]


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Prompts with tools; rows share sets of tools, half of them have no id."""
    for number in range(count):
        tools = f"weather_{number % SETS_OF_TOOLS}(city: str, day: str)"
        row = {"prompt": f"How is the weather in city {number}?", "tools": tools}
        yield {"id": number, **row} if number % 2 else row


def write_rows(path: Path, count: int) -> None:
    """Write rows to a file."""
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(count))


def run_once(rows: Path, out: Path) -> tuple[float, str]:
    """Run ``decode --batch``; returns seconds of the processor and what was said last."""
    options = {"batch": str(rows), "out": str(out), "tool_choice": "none", "template": "raw", "batch_size": GROUP}
    start, said = time.process_time(), StringIO()
    with redirect_stderr(said):
        decode.decode(Given(options))
    return time.process_time() - start, said.getvalue().strip().splitlines()[-1]


def measure(count: int, suffix: str) -> dict[str, Any]:
    """Decode all rows of a batch, then skip them all; bytes are those above what a small batch takes."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        decode_with(Echo(), patch)
        patch.setattr(decode_task, "decode_group", stub)
        small, large = Path(folder, "small_rows.jsonl"), Path(folder, "large_rows.jsonl")
        write_rows(small, 200)
        run_once(small, Path(folder, f"small{suffix}"))
        write_rows(large, count)
        before = peak_bytes()
        decoded, first = run_once(large, Path(folder, f"large{suffix}"))
        skipped, second = run_once(large, Path(folder, f"large{suffix}"))
        assert (first, second) == (f"{count} decoded, 0 skipped, 0 failed", f"0 decoded, {count} skipped, 0 failed")
        return {
            "rows": count,
            "decode_cpu_us_a_row": round(1e6 * decoded / count, 1),
            "skip_cpu_us_a_row": round(1e6 * skipped / count, 1),
            "peak_mb": round(peak_bytes() / 1e6, 1),
            "above_small_mb": round((peak_bytes() - before) / 1e6, 1),
        }


def peak_bytes() -> int:
    """The largest resident set so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Print a line for each size; each has a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=".jsonl", help="how the results end: .jsonl or .parquet")
    parser.add_argument("--rows", type=int, nargs="*", default=SIZES)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    asked = parser.parse_args()
    for count in asked.rows:
        if asked.here:
            print(json.dumps(measure(count, asked.out)), flush=True)
        else:
            command = [sys.executable, "-m", "batch_scale", "--here", "--out", asked.out, "--rows", str(count)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
