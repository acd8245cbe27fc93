"""``eval``, ``score``, ``report`` and ``export`` as a user types them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from command_line import Ran
from eval.options import PEER_METHODS
from eval_data import REFERENCES, prediction_rows, write_sgd

Cli = Callable[..., Ran]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sgd(tmp_path_factory.mktemp("data") / "sgd")


class Runs:
    """Runs of several methods on the benchmark, each decoded once."""

    def __init__(self, cli: Cli, data: Path, model: str, folder: Path) -> None:
        self._cli, self._folder = cli, folder
        self._command = ["eval", "sgd", "--data", data, "--model", model, "--tool-choice", "required"]
        self._command += ["--max-text-tokens", "32", "--max-value-tokens", "8"]
        self._made: dict[tuple[str, ...], Path] = {}

    def go(self, out: Path, *method: str) -> Ran:
        return self._cli(*self._command, "--out", out, "--method", *method)

    def __call__(self, *method: str) -> Path:
        if method not in self._made:
            out = self._folder / str(len(self._made)) / method[0]
            ran = self.go(out, *method)
            assert ran.code == 0, ran.err
            self._made[method] = out
        return self._made[method]


@pytest.fixture(scope="module")
def runs(cli: Cli, data: Path, tiny_model_path: str, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(cli, data, tiny_model_path, tmp_path_factory.mktemp("runs"))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


METHODS = [
    ["greedy"],
    ["beam", "--beams", "2"],
    ["tooldec"],
    ["tooldec", "--tooldec-form", "react"],
    ["draft-first"],
    ["xgrammar"],
    ["llguidance", "--jump-forward"],
    ["self-consistency", "--samples", "2"],
    ["tool-decoding"],
    ["tool-decoding", "--order-limit", "1"],
    ["tool-decoding", "--orders", "aggregated"],
]


@pytest.mark.parametrize("method", METHODS, ids=" ".join)
def test_every_method_runs_and_is_scored(runs: Runs, method: list[str]) -> None:
    if method[0] in PEER_METHODS:
        pytest.importorskip(method[0])
    run = runs(*method)
    predictions, scores = rows(run / "predictions.jsonl"), rows(run / "scores.jsonl")
    assert [r["id"] for r in predictions] == [r["id"] for r in scores] == list(REFERENCES)
    assert all(r["seconds"] > 0 and r["counters"]["forward_passes"] > 0 for r in predictions)
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["method"] == method[0]
    assert manifest["samples"] == 4
    if method[0] == "tool-decoding":
        assert not any(r["structural"] for r in scores)
        assert all(len(r["candidates"]) == (1 if "--order-limit" in method else 2) for r in predictions)
        chosen = {r["id"] for r in predictions if r["candidates"][0]["name"] == REFERENCES[r["id"]].split("(")[0][1:]}
        assert {r["id"] for r in rows(run / "values.jsonl")} == chosen


def test_a_switch_of_other_methods_is_refused(runs: Runs, tmp_path: Path) -> None:
    ran = runs.go(tmp_path / "run", "greedy", "--jump-forward")
    assert ran.code == 2 and "--jump-forward is for " in ran.err and "not greedy; leave it out" in ran.err


@pytest.mark.parametrize("method", PEER_METHODS)
def test_a_library_that_is_not_installed(
    runs: Runs, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, method, None)
    ran = runs.go(tmp_path / "run", method)
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert f"{method} is needed here and not installed; pip install 'tooldecoding[bench]'" in ran.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", [*PEER_METHODS, "draft-first"])
def test_an_interrupted_run_of_another_method_goes_on(runs: Runs, tmp_path: Path, method: str) -> None:
    if method in PEER_METHODS:
        pytest.importorskip(method)
    ran = runs.go(tmp_path / "run", method)
    assert ran.code == 0, ran.err
    path = tmp_path / "run" / "predictions.jsonl"
    whole = rows(path)
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:2]))
    assert runs.go(tmp_path / "run", method).code == 0
    assert [r["prediction"] for r in rows(path)] == [r["prediction"] for r in whole]


def test_the_same_command_goes_on(runs: Runs, tmp_path: Path) -> None:
    run = copytree(runs("greedy"), tmp_path / "run")
    whole = (run / "predictions.jsonl").read_bytes()
    (run / "predictions.jsonl").write_bytes(whole[: len(whole) // 2])
    assert runs.go(run, "greedy", "--batch-size", "1").code == 0
    again = rows(run / "predictions.jsonl")
    assert [r["prediction"] for r in again] == [json.loads(line)["prediction"] for line in whole.splitlines()]
    ran = runs.go(run, "greedy", "--shots", "1")
    assert ran.code == 2
    assert "begun with shots 0, not 1" in ran.err


def test_limit_and_category(cli: Cli, data: Path, tmp_path: Path, tiny_model_path: str) -> None:
    command = ["eval", "sgd", "--data", data, "--model", tiny_model_path, "--method", "greedy"]
    assert cli(*command, "--out", tmp_path / "a", "--category", "unseen", "--max-text-tokens", "4").code == 0
    assert [r["category"] for r in rows(tmp_path / "a" / "scores.jsonl")] == ["unseen", "unseen"]
    assert cli(*command, "--out", tmp_path / "b", "--limit", "1", "--max-text-tokens", "4").code == 0
    assert len(rows(tmp_path / "b" / "scores.jsonl")) == 1


def test_scores_of_anybodys_predictions(cli: Cli, data: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "p.jsonl", tmp_path / "s.jsonl"
    path.write_text(prediction_rows({"a/1": REFERENCES["a/1"], "c/1": "nonsense"}))
    ran = cli("score", "sgd", "--data", data, "--predictions", path, "--out", out)
    assert ran.code == 0
    assert "2 of 4 samples have no prediction and count as wrong (seen, unseen)" in ran.err
    assert [r["correct"] for r in rows(out)] == [True, False, False, False]
    assert cli("score", "sgd", "--data", data, "--predictions", path, "--out", out, "--partial").code == 0
    assert len(rows(out)) == 2


def test_several_files_are_compared(cli: Cli, data: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(prediction_rows(REFERENCES))
    bad.write_text(prediction_rows(dict.fromkeys(REFERENCES, "no")))
    out = tmp_path / "scores"
    ran = cli("score", "sgd", "--data", data, "--predictions", good, "--predictions", bad, "--out", out)
    assert ran.code == 0
    assert {p.name for p in out.iterdir()} == {"good.scores.jsonl", "bad.scores.jsonl"}
    assert "good" in ran.out
    assert "100.0" in ran.out


def test_a_report_of_runs(cli: Cli, runs: Runs, tmp_path: Path) -> None:
    ran = cli("report", runs("greedy"), runs("tool-decoding"), "--out", tmp_path / "report")
    assert ran.code == 0, ran.err
    assert "tool-decoding, 12 orders" in (tmp_path / "report" / "report.md").read_text()
    assert list((tmp_path / "report").glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "sdg", "--data", ".", "--predictions", "x", "--out", "y"], "did you mean sgd?"),
        (["score", "sgd", "--data", "DATA", "--predictions", "P", "--out", "P"], "predictions, which would be lost"),
        (["score", "sgd", "--data", "none", "--predictions", "x", "--out", "y"], "none: no such folder"),
        (["score", "sgd", "--data", "bfcl-eval", "--predictions", "x", "--out", "y"], "--data for sgd is the folder"),
        (["score", "sgd", "--data", "DATA", "--predictions", "none.jsonl", "--out", "y"], "none.jsonl: no such file"),
        (["score", "sgd", "--data", "DATA", "--category", "all", "--predictions", "x", "--out", "y"], "known: seen"),
        (["score", "sgd", "--data", "DATA", "--predictions", "P", "--out", "DATA"], "found a folder; add a name"),
        (["score", "sgd", "--data", "DATA", "--predictions", "P", "--predictions", "P", "--out", "y"], "twice"),
        (["eval", "sgd", "--data", "DATA", "--out", "DATA", "--method", "greedy"], "something else than a run"),
        (["eval", "sgd", "--data", "DATA", "--out", "y", "--method", "magic"], "expected 'greedy', 'beam'"),
        (["eval", "sgd", "--data", "DATA", "--out", "y", "--tool-choice", "none"], "'auto' or 'required', got"),
        (["eval", "sgd", "--data", "DATA", "--out", "y", "--prompt-template", "none.txt"], "none.txt: no such file"),
        (["export", "sgd", "--data", "DATA", "--predictions", "P", "--out", "y"], "sgd has no official format"),
        (["report", "none", "--out", "y"], "none"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_a_user_can_get_wrong(
    cli: Cli, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_text(prediction_rows(REFERENCES))
    places = {"DATA": data, "P": tmp_path / "p.jsonl"}
    ran = cli(*(places.get(a, a) for a in arguments))
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
