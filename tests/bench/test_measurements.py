"""Ratios, spreads, and the file that benches are added to."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.bench.measurements import Cell, MeasuredMethod, Record, Spread
from eval.bench.method import Run
from eval.bench.store import Store


def run(decode: float, total: float, **changes: Any) -> Run:
    fields = {"outside": 0.5, "longest": 0.002, "constraint": 0.1, "teacher": 0.0, "passes": 11, "model_calls": 11}
    fields |= {"positions": 5, "padding": 0, "written": 20, "cache_bytes": 7}
    return Run(decode, total, **(fields | changes))


def made() -> Record:
    rounds = [
        {"greedy": run(2, 4), "1 order": run(1, 3)},
        {"greedy": run(10, 20), "1 order": run(4, 5)},
        {"greedy": run(1, 2), "1 order": run(3, 3)},
    ]
    cell = Cell(
        {"model": "m"},
        [MeasuredMethod("1 order", 9, {}), MeasuredMethod("greedy", None, {})],
        {"xgrammar": "gone"},
        rounds,
    )
    return Record({"repeat": 3}, {"cpu": "x"}, "now", [cell])


def test_ratios_are_to_greedy_of_the_same_round() -> None:
    [cell] = made().cells
    assert cell.ratios("1 order", "decode") == [0.5, 0.4, 3.0]
    assert cell.ratios("1 order", "total") == [0.75, 0.25, 1.5]
    assert cell.ratios("greedy", "decode") == [1, 1, 1]


def test_without_greedy_there_are_no_ratios() -> None:
    cell = Cell({}, [MeasuredMethod("1 order", 9, {})], {}, [{"1 order": run(1, 2)}])
    assert cell.ratios("1 order", "decode") == []
    assert cell.to_json()["methods"][0]["decode_to_greedy"] is None


def test_spread() -> None:
    assert Spread.of([]) is None
    assert Spread.of([3.0]) == (3, 3, 3)
    assert Spread.of([float(n) for n in range(11)]) == (5, 1, 9)


def test_costs_of_the_constraint() -> None:
    [cell] = made().cells
    one, _ = cell.methods
    assert cell.median(one, Run.constraint_us) == pytest.approx(1e6 * 0.1 / 20)
    assert cell.median(one, Run.outside_us) == pytest.approx(1e6 * 0.5 / 10)
    assert cell.median(one, Run.longest_ms) == pytest.approx(2)
    untimed = run(1, 2, outside=None, constraint=None, longest=None)
    on_gpu = Cell({}, [one], {}, [{"1 order": untimed}])
    assert on_gpu.median(one, Run.constraint_us) is None
    one.timed = run(1, 2)  # on a GPU passes are timed in a run of their own
    assert on_gpu.median(one, Run.constraint_us) == pytest.approx(5000)


def test_the_file_is_the_bench(tmp_path: Path) -> None:
    Store(tmp_path).save(Record({}, {}, "yesterday"))
    Store(tmp_path).save(made())
    bench = json.loads((tmp_path / "bench.json").read_text())
    assert bench["state"] == "running"
    [cell] = bench["cells"]
    assert cell["missing"] == [{"method": "xgrammar", "reason": "gone"}]
    assert [m["name"] for m in cell["methods"]] == ["1 order", "greedy"]
    assert [r["decode"] for r in cell["methods"][0]["runs"]] == [1, 4, 3]
    assert cell["methods"][0]["decode_to_greedy"]["median"] == 0.5
