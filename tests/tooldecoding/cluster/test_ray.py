"""A cluster of two nodes on this machine: the same predictions as in one process, and what dies loses nothing.

All in one file: pytest-xdist gives it to one process, so that there is one cluster at a time.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_line import Cli, assert_bad
from tooldecoding.errors import ModelError

pytest.importorskip("ray", reason="the extra ray is not installed")

DEMO = Path(__file__).parents[3] / "tooldecoding" / "demo"


def capitals(model: Any, tokenizer: Any) -> Callable[[Sequence[str]], Iterable[tuple[int, tuple[str, int]]]]:
    """Items are texts. ``die`` kills the worker, ``wait`` takes a tenth of a second."""

    def run(items: Sequence[str]) -> Iterable[tuple[int, tuple[str, int]]]:
        if any(item.startswith("die") for item in items):
            os._exit(1)
        time.sleep(0.1 * sum(item.startswith("wait") for item in items))
        return enumerate((item.upper(), os.getpid()) for item in items)

    return run


def no_model(device: str, fails: str = "") -> tuple[Any, Any]:
    """In place of a model; it may be one that cannot be loaded."""
    if fails:
        raise ModelError(fails)
    model = SimpleNamespace(config=SimpleNamespace(to_diff_dict=dict), dtype="")
    return model, SimpleNamespace(get_vocab=dict, special_tokens_map={}, chat_template=None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of two nodes with a processor each."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 << 20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # beside other tests, nice workers starve
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # workers import this file
        cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **node})
        cluster.add_node(**node)
        yield cluster.address
        cluster.shutdown()


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with three sets of tools in turns; the last cannot be decoded."""
    tools = (DEMO / "tools.jsonl").read_text().splitlines()
    sets = ["\n".join(tools[:count]) for count in (1, 2, 3)]
    rows = [{"id": f"r{n}", "prompt": f"Wake me at {n}, please.", "tools": sets[n % 3]} for n in range(12)]
    path = tmp_path_factory.mktemp("batch") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "bad", "prompt": ""}]))
    return path


def decode(batch: Path, out: Path, *arguments: Any) -> tuple[Any, ...]:
    quick = ("--batch-size", 2, "--order-limit", 2, "--max-value-tokens", 8)
    return ("decode", "--batch", batch, "--out", out, *quick, *arguments)


def results(path: Path) -> dict[str, Any]:
    """Id -> what was predicted, without what is measured; no id may stand twice."""

    def near(number: str) -> Any:  # log-probabilities depend on what is decoded together
        return pytest.approx(float(number), abs=1e-4)

    rows = [json.loads(line, parse_float=near) for line in path.read_text().splitlines()]
    found = {row["id"]: row | {"counters": None} for row in rows}
    assert len(found) == len(rows)
    return found


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
    from tooldecoding.cluster.ray_data import RayWorkers

    def run(items: Sequence[str], load: Any = no_model) -> Any:
        workers: Any = RayWorkers(None, load, 2)  # type: ignore[arg-type]
        return workers.start(capitals)([[item] for item in items], None)

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


LOCAL = ("--ray", "local")


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("decode", ["--ray", None, "--actors", 3], ["--actors 3 with 1 CPU each", "room for 2"]),
        ("decode", ["--ray", None, "--actors", 1, "--gpus-per-actor", 2], ["with 1 CPU and 2 GPUs each", "0 GPUs"]),
        ("decode", ["--actors", 2], ["--actors is for a Ray cluster"]),
        ("decode", [*LOCAL], ["--ray needs the number of workers"]),
        ("decode", [*LOCAL, "--actors", 1, "--gpus-per-actor", 1.5], ["a whole number or a share"]),
        (
            "decode",
            ["--ray", "ray://127.0.0.1:10001", "--actors", 1],
            ["expected local, auto or the address HOST:PORT"],
        ),
        ("decode", ["--ray", "127.0.0.1:1", "--actors", 1], ["--ray 127.0.0.1:1: no answer from there"]),
        ("decode", [*LOCAL, "--actors", 1, "--model", "./nowhere"], ["no model folder at './nowhere'"]),
    ],
    ids=str,
)
def test_wrong_options(
    cli: Cli, address: str, batch: Path, tmp_path: Path, command: str, arguments: list[Any], said: list[str]
) -> None:
    begun = decode(batch, tmp_path / "out.jsonl")
    assert_bad(cli(*begun, *(address if each is None else each for each in arguments)), *said)
    assert not (tmp_path / "out.jsonl").exists()
