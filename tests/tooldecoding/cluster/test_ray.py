"""A cluster of two nodes on this machine: the same predictions as in one process, and what dies loses nothing.

All in one file: pytest-xdist gives it to one process, so that there is one cluster at a time.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, assert_bad
from ray_stub import beginning, capitals, no_model
from tooldecoding.errors import ModelError

pytest.importorskip("ray", reason="the extra ray is not installed")

TESTS = Path(__file__).parents[2]
DEMO = TESTS.parent / "tooldecoding" / "demo"
QUICK = ("--order-limit", 2, "--max-value-tokens", 8)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of two nodes with a processor each."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 << 20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # beside other tests, nice workers starve
        patch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)  # workers import the stub
        cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **node})
        cluster.add_node(**node)
        yield cluster.address
        cluster.shutdown()


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with three sets of tools in turns; the last cannot be decoded."""
    tools = (DEMO / "tools.jsonl").read_text().splitlines()
    asked = ("Send the token to Ann.", "Wake me at 7.", "What time is it?", "Tell me about Rome, please.")
    sets = ["\n".join(tools[:count]) for count in (1, 2, 3)]
    rows = [{"id": f"r{n}", "prompt": f"{asked[n % 4]} ({n})", "tools": sets[n % 3]} for n in range(12)]
    path = tmp_path_factory.mktemp("batch") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "bad", "prompt": ""}]))
    return path


def decode(batch: Path, out: Path, *arguments: Any) -> tuple[Any, ...]:
    return ("decode", "--batch", batch, "--out", out, "--batch-size", 2, *QUICK, *arguments)


def results(path: Path) -> dict[str, Any]:
    """Id -> what was predicted; no id may stand twice."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = {row["id"]: predicted(row) for row in rows}
    assert len(found) == len(rows)
    return found


def predicted(value: Any) -> Any:
    """Without what is measured; log-probabilities in six digits, for they depend on what is decoded together."""
    if isinstance(value, dict):
        return {key: predicted(part) for key, part in value.items() if key not in ("counters", "seconds")}
    if isinstance(value, list):
        return [predicted(part) for part in value]
    return pytest.approx(value, abs=1e-4) if isinstance(value, float) else value


def test_a_batch_is_decoded_as_in_one_process(cli: Cli, batch: Path, address: str, tmp_path: Path) -> None:
    alone, out = tmp_path / "alone.jsonl", tmp_path / "out.jsonl"
    assert cli(*decode(batch, alone)).code == 0
    ran = cli(*decode(batch, out, "--ray", address, "--actors", 2))
    assert ran.code == 0, ran.err
    assert ran.out == "" and ran.err.endswith("12 decoded, 0 skipped, 1 failed\n")
    assert results(out) == results(alone)
    ran = cli(*decode(batch, out))  # one process goes on with the same manifest
    assert (ran.code, ran.err.splitlines()[-2]) == (0, "0 decoded, 13 skipped, 0 failed"), ran.err


@pytest.fixture
def spread_by_stub(address: str) -> Iterator[Callable[..., Iterator[tuple[Any, Any]]]]:
    """Two workers that write in capitals: items, and how the workers load -> groups with results."""
    from tooldecoding.cluster.connection import connected
    from tooldecoding.cluster.ray_data import There

    def run(items: Sequence[str], load: Any = no_model) -> Any:
        place: Any = There(None, load, 2)  # type: ignore[arg-type]
        return place.start(capitals, beginning)([[item] for item in items], None)

    with connected(address):
        yield run


def test_a_killed_worker_loses_nothing(spread_by_stub: Callable[..., Any]) -> None:
    items = [f"{letter}wait{number}" for number in range(10) for letter in "ba"]
    answers: list[str] = []
    for _, [(answer, worker)] in spread_by_stub(items):
        answers.append(answer)
        if len(answers) == 5:
            os.kill(worker, signal.SIGKILL)
    assert sorted(answers) == sorted(item.upper() for item in items)


def test_items_that_begin_alike_are_brought_together() -> None:
    from tooldecoding.cluster.ray_data import _portions

    groups = [[f"b{n}", f"a{n}"] for n in range(33)]
    found = list(_portions(groups, lambda item: item[0], 2))
    items = [item for portion in found for group in portion for item in group]
    assert items == [f"{letter}{n}" for letter in "ab" for n in range(33)]
    assert {len(portion) for portion in found} == {4, 1}


@pytest.mark.parametrize(
    ("load", "rows", "said"),
    [
        (partial(no_model, fails="no memory"), ["a1"], "^a worker cannot load the model: no memory$"),
        (no_model, ["a1", "die"], "^workers died too often .* the same command goes on behind"),
    ],
    ids=["cannot load", "die"],
)
def test_workers_that_are_of_no_use_are_one_error(
    spread_by_stub: Callable[..., Any], load: Any, rows: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooldecoding.cluster.ray_data.MOST_RETRIES", 1)
    monkeypatch.setattr("tooldecoding.cluster.ray_data._MOST_RESTARTS", 1)
    with pytest.raises(ModelError, match=said) as caught:
        list(spread_by_stub(rows, load))
    assert "\n" not in str(caught.value)


def test_workers_with_different_models_are_refused() -> None:
    from tooldecoding.cluster.ray_data import _demand_equal

    first = {"weights": "a", "dtype": "b", "version": "1", "node": "here"}
    _demand_equal(first, first | {"node": "there"})
    with pytest.raises(ModelError, match=r"here and there .* different models \(other weights, version\): the same"):
        _demand_equal(first, first | {"node": "there", "weights": "x", "version": "2"})


def test_a_cluster_that_is_too_small(cli: Cli, address: str, batch: Path, tmp_path: Path) -> None:
    start = decode(batch, tmp_path / "out.jsonl", "--ray", address)
    assert_bad(cli(*start, "--actors", 3), "--actors 3 with 1 CPU each", "room for 2")
    assert_bad(cli(*start, "--actors", 1, "--gpus-per-actor", 2), "with 1 CPU and 2 GPUs each", "0 GPUs")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--actors", 2], "--actors is for a Ray cluster"),
        (["--ray", "local"], "--ray needs the number of workers"),
        (["--ray", "local", "--actors", 1, "--gpus-per-actor", 1.5], "a whole number or a share"),
        (["--ray", "ray://127.0.0.1:10001", "--actors", 1], "expected local, auto or the address HOST:PORT"),
        (["--ray", "127.0.0.1:1", "--actors", 1], "--ray 127.0.0.1:1: no answer from there"),
        (["--ray", "local", "--actors", 1, "--model", "./nowhere"], "no model folder at './nowhere'"),
    ],
    ids=str,
)
def test_wrong_options(cli: Cli, batch: Path, tmp_path: Path, arguments: list[Any], said: str) -> None:
    assert_bad(cli(*decode(batch, tmp_path / "out.jsonl", *arguments)), said)
    assert not (tmp_path / "out.jsonl").exists()


def test_the_extra_is_named(cli: Cli, batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = cli(*decode(batch, tmp_path / "out.jsonl", "--ray", "local", "--actors", 1))
    assert_bad(ran, "ray is needed here and not installed; pip install 'tooldecoding[ray]'")
