"""Finds benchmarks by name. Each folder beside this file holds a module ``benchmark`` with a tuple ``BENCHMARKS``."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

import eval.benchmarks as folders
from eval.benchmarks.samples import Benchmark
from eval.errors import EvalError


def _collect() -> dict[str, Benchmark]:
    folder_names = sorted(module.name for module in iter_modules(folders.__path__) if module.ispkg)
    modules = [import_module(f"{folders.__name__}.{name}.benchmark") for name in folder_names]
    return {benchmark.name: benchmark for module in modules for benchmark in module.BENCHMARKS}


BENCHMARKS: Mapping[str, Benchmark] = _collect()
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
    wanted = [benchmark.newer_names.get(category, category) for category in wanted]
    for category in wanted:
        if category not in benchmark.categories:
            raise EvalError(f"{benchmark.name} has no category {category!r}; known: {', '.join(benchmark.categories)}")
    return tuple(c for c in benchmark.categories if c in (wanted or benchmark.categories))
