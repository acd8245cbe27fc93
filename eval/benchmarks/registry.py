"""The benchmarks by the names that the command line knows."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from eval.benchmarks.api_bank.benchmark import API_BANK
from eval.benchmarks.bfcl.benchmark import BFCL_LIVE, BFCL_V1
from eval.benchmarks.bfcl.data import NEWER_NAMES
from eval.benchmarks.samples import Benchmark
from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError

BENCHMARKS: Mapping[str, Benchmark] = {b.name: b for b in (API_BANK, BFCL_LIVE, BFCL_V1, SGD)}
"""Name -> benchmark."""


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name; EvalError, with the nearest one, for an unknown name."""
    if name not in BENCHMARKS:
        close = get_close_matches(name, BENCHMARKS, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise EvalError(f"unknown benchmark {name!r}; known: {', '.join(BENCHMARKS)}{hint}")
    return BENCHMARKS[name]


def choose_categories(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[str, ...]:
    """The wanted categories in the benchmark's sequence, all where none is named; EvalError for unknown ones."""
    wanted = [NEWER_NAMES.get(category, category) for category in wanted]
    for category in wanted:
        if category not in benchmark.categories:
            raise EvalError(f"{benchmark.name} has no category {category!r}; known: {', '.join(benchmark.categories)}")
    return tuple(c for c in benchmark.categories if not wanted or c in wanted)
