"""Agreement with the official scorers: recorded verdicts, ceilings, and what must hold for every entry of the data."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest

from data import DATA, needs_data, rows
from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Benchmark, Sample
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS

pytestmark = needs_data

FIXTURES = DATA.parent / "fixtures"
PYTHONIC = CALL_FORMATS["pythonic"]
FOLDERS = {"acebench": "acebench", "api-bank": "api-bank", "bfcl-live": "bfcl", "bfcl-v1": "bfcl"}
RECORDED = {"acebench": ("acebench", 4105), "api_bank": ("api-bank", 1505), "bfcl": ("bfcl-live", 5666)}
"""Fixture -> benchmark, and how many verdicts there are."""

NEVER_RIGHT = {
    "bfcl-live": {"simple": 2, "multiple": 2},
    "acebench": {
        "normal_single_turn_single_function": 5,
        "normal_single_turn_parallel_function": 8,
        "normal_similar_api": 1,
        "normal_atom_object_deep": 12,
    },
}
"""Entries whose own answer is wrong, by category; shared/docs/SCORING.md and ACEBENCH.md name them."""


@cache
def loaded(name: str) -> tuple[Benchmark, Mapping[str, Sample]]:
    benchmark = find_benchmark(name)
    return benchmark, {s.id: s for s in benchmark.load(str(DATA / FOLDERS[name]), benchmark.categories)}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_verdicts(name: str) -> None:
    recorded = rows(FIXTURES / f"{name}_official_verdicts.jsonl")
    assert len(recorded) == RECORDED[name][1]
    benchmark, samples = loaded(RECORDED[name][0])
    for row in recorded:
        judgement = benchmark.judge(samples[benchmark.identify(row)], row["prediction"])
        official = row.get("valid", row.get("correct")), row.get("error_type", row.get("error")) or None
        assert (judgement.correct, judgement.error_type) == official, f"{row['prediction']}: {judgement}"
        assert bool(judgement.message) is not judgement.correct, row["prediction"]


@pytest.mark.parametrize("name", ["acebench", "bfcl-live", "bfcl-v1"])
def test_references(name: str) -> None:
    """A reference is right but for the entries named above; with its keys reversed too; a key or call more is wrong."""
    benchmark, samples = loaded(name)
    wrong: Counter[str] = Counter()
    for sample in samples.values():
        if not benchmark.satisfiable(sample):
            wrong[sample.category.removeprefix("live_")] += 1
        elif sample.calls:
            found = benchmark.judge(sample, PYTHONIC.render(sample.calls))
            assert (found.correct, found.error_type, found.message) == (True, None, "")
            turned = [Call(c.name, dict(reversed(list(c.arguments.items())))) for c in sample.calls]
            assert benchmark.judge(sample, PYTHONIC.render(turned)).correct
            invented = [Call(c.name, {**c.arguments, "invented_": 1}) for c in sample.calls]
            for more in (invented, [*sample.calls, sample.calls[0]], []):
                assert not benchmark.judge(sample, PYTHONIC.render(more)).correct
    assert wrong == NEVER_RIGHT.get(name, {})


def test_open_keys_may_be_left_out() -> None:
    benchmark, samples = loaded("acebench")
    count = 0
    for sample in samples.values():
        if len(sample.calls) == 1 and benchmark.satisfiable(sample):
            [call] = sample.calls
            kept = {key: value for key, value in call.arguments.items() if key not in benchmark.open_keys(sample)}
            if 0 < len(kept) < len(call.arguments):
                count += 1
                assert benchmark.judge(sample, PYTHONIC.render([Call(call.name, kept)])).correct
    assert count > 50


@pytest.mark.parametrize(("category", "called"), [("live_relevance", True), ("live_irrelevance", False)])
def test_awareness(category: str, called: bool) -> None:
    benchmark, samples = loaded("bfcl-live")
    sample = next(s for s in samples.values() if s.category == category)
    wrong = "relevance_error:decoder_failed" if called else "irrelevance_error:decoder_success"
    calls = {"[f(a=1)]": True, "[f(1)]": True, "[]": False, "": False, "```python\n[f(a=1)]\n```": False}
    for text, is_call in calls.items():
        found = benchmark.judge(sample, text)
        assert (found.correct, found.error_type) == ((True, None) if is_call is called else (False, wrong)), text
