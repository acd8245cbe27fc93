"""``tooldecoding tune`` as a user types it."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from command_line import CASES, Cli, assert_bad
from eval.options import EvalOptions
from tooldecoding.cli.agent import AgentCommand
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.parsed_arguments import read_config
from tooldecoding.options.serve_command import ServeCommand

QUICK = ("--max-value-tokens", 4, "--max-text-tokens", 8, "--latency-prompts", 2)
FEW = ("--level", 0.49, "--margin", 100)
LIMITS = ("--limits", "1,2")


@pytest.fixture(scope="module")
def start(data: Path, tiny_model_path: str) -> tuple[Any, ...]:
    some = ("tune", "sgd", "--data", data, "--model", tiny_model_path, "--tool-choice", "required")
    return (*some, *QUICK, *FEW, *LIMITS, "--batch-size", 1)


@pytest.fixture(scope="module")
def tuned(cli: Cli, start: tuple[Any, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished tuning of the benchmark."""
    folder = tmp_path_factory.mktemp("tuned") / "tuned"
    ran = cli(*start, "--out", folder)
    assert ran.code == 0 and "Order limit" in ran.out, ran.err
    return folder


@pytest.fixture
def command(start: tuple[Any, ...], tmp_path: Path) -> tuple[Any, ...]:
    return (*start, "--out", tmp_path / "tuned")


def found(folder: Path) -> Any:
    return json.loads((folder / "tune.json").read_text())


def test_a_benchmark(cli: Cli, tuned: Path, data: Path, tmp_path: Path, tiny_model_path: str) -> None:
    out, result = tuned, found(tuned)
    assert [row["limit"] for row in result["limits"]] == [1, 2]
    assert all(row["total"] == 4 and row["latency"]["median_ms"] > 0 for row in result["limits"])

    deployed = read_config(str(out / "deployment.yaml"), DecodeCommand)
    for other in (EvalOptions, ServeCommand, AgentCommand):
        assert deployed == read_config(str(out / "deployment.yaml"), other)
    assert (deployed["order_limit"], deployed["model"]) == (result["chosen"]["order_limit"], tiny_model_path)
    DecodeCommand(**deployed)
    tools, dialogue = CASES / "tools.jsonl", tmp_path / "dialogue.jsonl"
    dialogue.write_text('{"role": "User", "text": "Cancel table 7."}\n')
    ran = cli("decode", "--config", out / "deployment.yaml", "--tools", tools, "--dialogue", dialogue, "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["candidates"]) == 1 == deployed["order_limit"]


def test_the_same_command_goes_on(cli: Cli, command: tuple[Any, ...], tuned: Path, tmp_path: Path) -> None:
    out = copytree(tuned, tmp_path / "tuned")
    whole = found(out)
    measured = (out / "latency.jsonl").read_bytes().splitlines()
    for name in ("predictions.jsonl", "latency.jsonl"):
        text = (out / name).read_bytes()
        (out / name).write_bytes(text[: len(text) * 3 // 4])
    (out / "deployment.yaml").write_text("seed: 7\n")
    ran = cli(*command, "--max-slowdown", 1000)
    assert ran.code == 0, ran.err
    again = found(out)
    after = (out / "latency.jsonl").read_bytes().splitlines()
    assert len(after) == len(measured)
    assert after[0] == measured[0]  # nothing is measured twice
    for row, other in zip(whole["limits"], again["limits"], strict=True):
        assert row | {"latency": None} == other | {"latency": None}
    assert again["decision"]["max_slowdown"] == 1000
    assert read_config(str(out / "deployment.yaml"), DecodeCommand)["seed"] == 0
    assert_bad(cli(*command, "--max-value-tokens", 5), "begun with max_value_tokens 4, not 5")

    ran = cli(*command, "--max-latency-ms", 0.001)
    assert ran.code == 2 and "no limit keeps within 0.001 ms: the nearest is limit" in ran.err
    assert found(out)["chosen"]["order_limit"] is None and not (out / "deployment.yaml").exists()
