"""Finds benchmarks by name."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from eval.benchmarks.acebench import ACEBENCH
from eval.benchmarks.api_bank.benchmark import API_BANK
from eval.benchmarks.bfcl import BFCL_LIVE, BFCL_V1
from eval.benchmarks.samples import Benchmark
from eval.benchmarks.sgd import SGD
from eval.errors import EvalError

_ALL: Final = (ACEBENCH, API_BANK, BFCL_LIVE, BFCL_V1, SGD)

BENCHMARKS: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _ALL}
"""Name -> benchmark."""


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name; EvalError, with the nearest name, if there is none."""
    if name not in BENCHMARKS:
        close = get_close_matches(name, BENCHMARKS, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise EvalError(f"unknown benchmark {name!r}; known: {', '.join(BENCHMARKS)}{hint}")
    return BENCHMARKS[name]


def choose_categories(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the wanted categories in the benchmark's order, all if none is named; EvalError for unknown ones."""
    for category in wanted:
        if category not in benchmark.categories:
            raise EvalError(f"{benchmark.name} has no category {category!r}; known: {', '.join(benchmark.categories)}")
    return tuple(c for c in benchmark.categories if c in (wanted or benchmark.categories))
