"""``tooldecoding bench`` as a user types it."""

import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from command_line import Cli
from eval.bench.methods import EngineMethod, Run
from eval.options import PEER_METHODS

QUICK = ("--prompt-tokens", 320, "--value-tokens", 3, "--repeat", 2, "--required", 3)


@pytest.fixture
def command(tmp_path: Path) -> tuple[Any, ...]:
    return ("bench", "--shape", "tiny", *QUICK, "--out", tmp_path)


def found(folder: Path) -> Any:
    return json.loads((folder / "bench.json").read_text())


def test_a_bench(cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.bench.methods.version", Mock(side_effect=PackageNotFoundError))
    ran = cli(*command, "--order-limit", "1,6", "--batch", "1,2", "--draft-tokens", 0)
    assert ran.code == 0, ran.err
    missing = [f"Not measured: {peer}: not installed" for peer in PEER_METHODS]
    for text in ("tiny, float32, batch 1, rounds 2", "2 of 3 values stand in the prompt; no drafts", *missing):
        assert text in " ".join(ran.out.split())
    bench = found(tmp_path)
    assert bench["settings"]["shapes"] == ["tiny"]
    assert {"cpu", "cores", "threads", "device", "versions"} <= bench["machine"].keys()
    assert [cell["batch"] for cell in bench["cells"]] == [1, 2]
    for cell in bench["cells"]:
        assert cell["rounds"] == 2
        methods = {m["name"]: m for m in cell["methods"]}
        assert list(methods) == ["1 order", "6 orders", "greedy", "beam6"]
        assert (methods["1 order"]["passes"], methods["6 orders"]["passes"]) == (12, 13)
        for method in methods.values():
            assert len(method["runs"]) == 2
            ratios = [r["decode"] / g["decode"] for r, g in zip(method["runs"], methods["greedy"]["runs"], strict=True)]
            assert method["decode_to_greedy"]["median"] == pytest.approx(sum(ratios) / 2)
            assert method["decode_to_greedy"]["p10"] == pytest.approx(0.9 * min(ratios) + 0.1 * max(ratios))
            outside = [r["outside"] / (r["passes"] - 1) for r in method["runs"]]
            assert method["outside_us_per_pass"] == pytest.approx(1e6 * sum(outside) / 2)
            assert 0 <= method["constraint_us_per_token"] < method["outside_us_per_pass"]


def test_stopping_saves_positions(cli: Cli, command: tuple[Any, ...], tmp_path: Path) -> None:
    positions = {}
    for stopping in ("none", "exact"):
        given = ("--order-limit", 12, "--against", "greedy", "--repeat", 1, "--stopping", stopping)
        assert f"stopping {stopping}" in " ".join(cli(*command, *given).out.split())
        positions[stopping] = found(tmp_path)["cells"][0]["methods"][0]["positions"]
    assert positions["exact"] < positions["none"]


def test_a_model_and_a_tokenizer(cli: Cli, tmp_path: Path, tiny_model_path: str) -> None:
    options = ("--value-tokens", 12, "--required", 2, "--prompt-tokens", 1000, "--repeat", 1, "--against", "")
    label = f"tiny with {Path(tiny_model_path).name}"
    for subject, name in (("--model",), tiny_model_path), (("--shape", "tiny", "--tokenizer"), label):
        ran = cli("bench", *subject, tiny_model_path, *options, "--out", tmp_path)
        assert ran.code == 0, ran.err
        [cell] = found(tmp_path)["cells"]
        assert (cell["model"], cell["prompt_tokens"]) == (name, [1000])
        assert cell["methods"][0]["decode_to_greedy"] is None  # greedy was not asked for


def test_an_interrupt_leaves_the_finished_rounds(
    cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = iter(range(3))

    def run(method: EngineMethod, real: Callable[[EngineMethod], Run] = EngineMethod.run) -> Run:
        if next(some, None) is None:
            raise KeyboardInterrupt
        return real(method)

    monkeypatch.setattr(EngineMethod, "run", run)
    assert cli(*command, "--order-limit", 1, "--against", "greedy", "--repeat", 5).code == 130
    [cell] = found(tmp_path)["cells"]
    assert cell["rounds"] == 2 and [len(m["runs"]) for m in cell["methods"]] == [2, 2]
