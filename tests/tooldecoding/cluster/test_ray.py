"""A cluster of two nodes on this machine: the same predictions as in one process, and what dies loses nothing.

All in one file: pytest-xdist gives it to one process, so that there is one cluster at a time.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest

from command_line import Ran, assert_bad
from eval_data import write_sgd
from ray_stub import Capitals, NoModel
from tooldecoding.batches.batch_results import BatchResults
from tooldecoding.cluster.crew import Crew, Died
from tooldecoding.errors import ConfigError, ModelError
from tooldecoding.options.ray_options import RayOptions

pytest.importorskip("ray", reason="the extra ray is not installed")

Cli = Callable[..., Ran]
TESTS = Path(__file__).parents[2]
DEMO = TESTS.parent / "tooldecoding" / "demo"
STORE = 100 << 20
QUICK = ("--order-limit", 6, "--max-value-tokens", 16)
AGENTS = ("ray::Dashboard", "ray::RuntimeEnv")
"""Ray's own small processes, which wait for a minute for a killed head before they end."""
MARK = "TOOLDECODING_TEST_MARK"


class Nodes:
    """Two nodes with a processor each; the second may be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        self._second = self._cluster.add_node(num_cpus=1, object_store_memory=STORE)

    def kill_second(self) -> None:
        self._cluster.remove_node(self._second, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # beside other tests, nice workers starve
        patch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)  # workers import the stub
        made = Nodes()
        yield made
        made.close()


@pytest.fixture(scope="module")
def spread(nodes: Nodes) -> tuple[Any, ...]:
    return ("--ray", nodes.address, "--actors", 2)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with three sets of tools in turns; the last cannot be decoded."""
    tools = (DEMO / "tools.jsonl").read_text().splitlines()
    asked = ("Send the token to Ann.", "Wake me at 7.", "What time is it?", "Tell me about Rome, please.")
    rows = [
        {"id": f"r{n}", "prompt": f"{asked[n % 4]} ({n})", "tools": "\n".join(tools[: 1 + n % 3])} for n in range(12)
    ]
    path = tmp_path_factory.mktemp("batch") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "bad", "prompt": ""}]))
    return path


def decode(batch: Path, out: Path, *arguments: Any, size: int = 2) -> tuple[Any, ...]:
    return ("decode", "--batch", batch, "--out", out, "--batch-size", size, *QUICK, *arguments)


@pytest.fixture(scope="module")
def expected(cli: Cli, batch: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("alone") / "out.jsonl"
    ran = cli(*decode(batch, out))
    assert ran.code == 0, ran.err
    return results(out)


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


def test_a_batch_is_decoded_as_in_one_process(
    cli: Cli, batch: Path, expected: dict[str, Any], spread: tuple[Any, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    ran = cli(*decode(batch, out, *spread))
    assert ran.code == 0, ran.err
    assert ran.out == "" and ran.err.endswith("12 decoded, 0 skipped, 1 failed\n")
    assert results(out) == expected
    ran = cli(*decode(batch, out))  # one process goes on with the same manifest
    assert (ran.code, ran.err.splitlines()[-2]) == (0, "0 decoded, 13 skipped, 0 failed"), ran.err


def wait_for_rows(out: Path, count: int) -> int:
    """Wait until a file has lines; return their number."""
    for _ in range(6000):
        found = out.read_bytes().count(b"\n") if out.exists() else 0
        if found >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {count} rows in {out}")


@contextmanager
def crew_of(nodes: Nodes, actors: int, source: NoModel) -> Iterator[Any]:
    from tooldecoding.cluster.cluster import joined

    with (
        joined(RayOptions(ray=nodes.address, actors=actors)) as cluster,
        cluster.crew(Capitals(), source) as crew,  # type: ignore[arg-type]
    ):
        yield crew


def test_a_row_that_kills_its_worker_becomes_an_error(nodes: Nodes) -> None:
    items = ["a1", "a2", "die1", "a3", "b1", "b2", "b3", "b4"]
    with crew_of(nodes, 2, NoModel()) as crew:
        got: dict[str, str] = {}
        for group, answers in crew.spread([items[:4], items[4:]]):
            got |= dict(zip(group, answers, strict=True))
    reason = "die1: the worker died 3 times while it decoded this row"
    assert got == {item: reason if item == "die1" else item.upper() for item in items}


def test_a_killed_worker_loses_nothing(nodes: Nodes) -> None:
    items = [f"wait{number}" for number in range(30)]
    answers: list[str] = []
    with crew_of(nodes, 2, NoModel()) as crew:
        for _, results in crew.spread([[item] for item in items]):
            answers += results
            if len(answers) == 5:
                os.kill(crew.about["pid"], signal.SIGKILL)
    assert sorted(answers) == sorted(item.upper() for item in items)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (NoModel(fails="out of memory on the device"), "^a worker cannot load the model: out of memory on the device$"),
        (NoModel(dies=True), "^4 workers in a row died while they loaded the model; the last: "),
    ],
    ids=["error", "death"],
)
def test_a_worker_that_cannot_load_is_one_error(nodes: Nodes, source: NoModel, said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught, crew_of(nodes, 2, source) as crew:
        _ = crew.about
    assert "\n" not in str(caught.value)


def test_a_cluster_that_is_too_small(cli: Cli, nodes: Nodes, batch: Path, tmp_path: Path) -> None:
    start = decode(batch, tmp_path / "out.jsonl", "--ray", nodes.address)
    assert_bad(cli(*start, "--actors", 3), "--actors 3 with 1 CPU each", "room for 2")
    assert_bad(cli(*start, "--actors", 1, "--gpus-per-actor", 2), "with 1 CPU and 2 GPUs each", "0 GPUs")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--actors", 2], "--actors is for a Ray cluster"),
        (["--gpus-per-actor", 1], "--gpus-per-actor is for a Ray cluster"),
        (["--ray", "local"], "--ray needs the number of workers"),
        (["--ray", "local", "--actors", 0], "1 or more"),
        (["--ray", "local", "--actors", 1, "--gpus-per-actor", 1.5], "a whole number or a share"),
        (["--ray", "somewhere", "--actors", 1], "got 'somewhere'"),
        (["--ray", "ray://127.0.0.1:10001", "--actors", 1], "expected local, auto or the address HOST:PORT"),
        (["--ray", "127.0.0.1:1", "--actors", 1], "--ray 127.0.0.1:1: no answer from there"),
        (["--ray", "local", "--actors", 1, "--model", "./nowhere"], "no model folder at './nowhere'"),
    ],
    ids=str,
)
def test_wrong_options(cli: Cli, batch: Path, tmp_path: Path, arguments: list[Any], said: str) -> None:
    assert_bad(cli(*decode(batch, tmp_path / "out.jsonl", *arguments)), said)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_single_prompt_needs_no_cluster(cli: Cli) -> None:
    assert_bad(cli("decode", "--prompt", "x", "--ray", "local", "--actors", 1), "rows of a --batch")


def test_the_extra_is_named(cli: Cli, batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = cli(*decode(batch, tmp_path / "out.jsonl", "--ray", "local", "--actors", 1))
    assert_bad(ran, "ray is needed here and not installed; pip install 'tooldecoding[ray]'")


@pytest.mark.parametrize(
    ("says", "said"),
    [(None, "no answer from there: timed out"), (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Ray cluster")],
    ids=["nothing", "http"],
)
def test_nobody_waits_long_for_what_is_no_cluster(
    says: bytes | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tooldecoding.cluster import cluster
    from tooldecoding.cluster import connection as joining

    monkeypatch.setattr(joining, "_CONNECT_S", 0.5)

    def answer() -> None:
        connection, _ = server.accept()
        if says is None:
            done.wait()
        else:
            connection.sendall(says)
        connection.close()

    done = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer, daemon=True)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        try:
            with pytest.raises(ConfigError, match=said), cluster.joined(RayOptions(ray=address, actors=1)):
                raise AssertionError("joined")
        finally:
            done.set()
            thread.join()


class Driver:
    """``decode`` in a process of its own, marked so that all its children are found."""

    def __init__(self, *arguments: Any) -> None:
        self._mark = uuid4().hex
        command = [sys.executable, "-m", "tooldecoding", *map(str, arguments)]
        environment = {**os.environ, MARK: self._mark}
        # a shell that runs the tests in the background has SIGINT ignored, and a process inherits that
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(
                command, env=environment, text=True, stdout=-1, stderr=-1, start_new_session=True
            )
        finally:
            signal.signal(signal.SIGINT, before)

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal as a terminal does, to all; return exit code and standard error."""
        target = os.kill if number == signal.SIGKILL else os.killpg
        target(self.process.pid, number)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err

    def left(self) -> list[str]:
        """Names of the processes that it has left behind, at most 30 seconds after its end."""
        for _ in range(150):
            found = self._marked()
            if not found:
                return []
            time.sleep(0.2)
        return found

    def _marked(self) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                name = (process / "comm").read_text().strip()
                if self._mark.encode() in (process / "environ").read_bytes() and not name.startswith(AGENTS):
                    found.append(name)
            except OSError:
                continue
        return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_a_driver_is_killed_and_resumed(cli: Cli, batch: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    driver = Driver(*decode(batch, out, "--ray", "local", "--actors", 1, size=1))
    assert 2 <= wait_for_rows(out, 2) < len(expected)
    driver.end(signal.SIGKILL)
    assert driver.left() == []
    ran = cli(*decode(batch, out))
    assert ran.code == 0, ran.err
    assert results(out) == expected


@pytest.mark.slow  # a cluster of its own
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_ctrl_c_ends_as_on_one_machine(
    cli: Cli, batch: Path, expected: dict[str, Any], spread: tuple[Any, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    driver = Driver(*decode(batch, out, "--ray", "local", "--actors", 1, size=1))
    wait_for_rows(out, 2)
    code, err = driver.end(signal.SIGINT)
    said = err.splitlines()
    assert (code, said[-1]) == (130, f"interrupted: the same command goes on behind what stands in {out}")
    assert len(said) == 2 and said[0].startswith("decoding")  # and no word of Ray's
    assert driver.left() == []
    assert cli(*decode(batch, out, "--retry-failed", *spread)).code == 0
    assert results(out) == expected


def test_eval_predicts_as_in_one_process(cli: Cli, spread: tuple[Any, ...], tmp_path: Path) -> None:
    data = write_sgd(tmp_path / "sgd")
    start = ("eval", "sgd", "--data", data, "--tool-choice", "required", "--batch-size", 1, *QUICK)
    found = []
    for name, where in (("alone", ()), ("spread", spread)):
        ran = cli(*start, *where, "--out", tmp_path / name)
        assert ran.code == 0, ran.err
        rows = [json.loads(line) for line in (tmp_path / name / "predictions.jsonl").read_text().splitlines()]
        passes = {row["id"]: row["counters"]["forward_passes"] for row in rows}
        scores = sorted((tmp_path / name / "scores.jsonl").read_text().splitlines())
        found.append(({row["id"]: predicted(row) for row in rows}, passes, scores))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_node_is_killed(
    cli: Cli,
    nodes: Nodes,
    batch: Path,
    expected: dict[str, Any],
    spread: tuple[Any, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # the last test of all: the cluster has one node from here on
    out = tmp_path / "out.jsonl"
    note, write = Crew._note, BatchResults.write
    died: list[Died] = []

    def noted(self: Crew[Any, Any], event: Any) -> None:
        if isinstance(event, Died):
            died.append(event)
        note(self, event)

    def slowly(self: BatchResults, found: Any) -> None:
        time.sleep(0.2)  # the node dies before the batch ends, however fast the machine is
        write(self, found)

    def kill() -> None:
        wait_for_rows(out, 2)
        nodes.kill_second()

    monkeypatch.setattr(Crew, "_note", noted)
    monkeypatch.setattr(BatchResults, "write", slowly)
    killer = Thread(target=kill)
    killer.start()
    try:
        ran = cli(*decode(batch, out, *spread, size=1))
    finally:
        killer.join()
    assert ran.code == 0, ran.err
    assert len(died) == 1
    assert results(out) == expected
