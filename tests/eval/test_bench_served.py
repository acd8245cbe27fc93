"""``tooldecoding bench served``: right calls, failures and the engine's own figures, of both who answer; it goes on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from eval_data import SMALL, write_files
from running_server import Running, running
from tooldecoding.decoder import ToolDecoder
from tooldecoding.models.loading import load_model
from upstream_servers import StandIn, standing_in


@pytest.fixture(scope="module")
def vllm() -> Iterator[StandIn]:
    with standing_in("vllm", *load_model("reference"), "reference") as server:
        yield server


@pytest.fixture(scope="module")
def proxy(vllm: StandIn) -> Iterator[Running]:
    with running(ToolDecoder.from_upstream(vllm.address), upstream=vllm.address, model="qwen") as server:
        yield server


def command(folder: Path, url: str, *more: object) -> list[object]:
    data = write_files(folder / "data", SMALL["bfcl-live"])
    begun: list[object] = ["bench", "served", "bfcl-live", "--data", data, "--category", "live_simple"]
    return [*begun, "--url", url + "/v1", "--model", "qwen", "--out", folder / "rows.jsonl", *more]


def rows(folder: Path) -> dict[str, Any]:
    found = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    return {row["id"]: row for row in found}


def test_both_are_asked_and_a_run_goes_on(cli: Cli, tmp_path: Path, proxy: Running, vllm: StandIn) -> None:
    given = command(tmp_path, proxy.url, "--in-flight", 1, "--engine", vllm.address)
    ran = cli(*given, "--method", "own", "--method", "one-order")
    assert not ran.code and "own" in ran.out
    found = rows(tmp_path)
    assert list(found) == ["own/1", "one-order/1"]
    assert found["own/1"]["right"] == 0, "the stand-in makes no calls"
    assert all("(" in text for text in found["one-order/1"]["samples"].values())
    assert found["one-order/1"]["failed"] == 0 and found["one-order/1"]["figures"]["written"] > 0
    asked = len(vllm.asked)
    assert not cli(*given, "--method", "own", "--method", "one-order").code
    assert len(vllm.asked) == asked


def test_failures_are_counted_and_a_server_that_only_fails_is_told(
    cli: Cli, tmp_path: Path, proxy: Running, vllm: StandIn
) -> None:
    given = command(tmp_path, proxy.url, "--in-flight", 1, "--method", "one-order")
    vllm.refuse[:] = [400]
    assert not cli(*given).code
    row = rows(tmp_path)["one-order/1"]
    assert row["failed"] == 1 and "refused a request" in row["errors"][0]
    (tmp_path / "rows.jsonl").unlink()
    wrong = cli(*command(tmp_path, "http://127.0.0.1:9", "--in-flight", 1, "--method", "own"))
    assert wrong.code and "no request was answered" in wrong.err
