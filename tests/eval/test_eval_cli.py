"""``eval``, ``score`` and ``report`` as a user types them."""

import json
import sys
from pathlib import Path
from shutil import copytree

import pytest

from chat.chat_models import HERMES
from command_line import Cli, Ran, assert_bad
from data import rows
from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.methods.scored_text import ScoredText
from eval.options import PEER_METHODS, EvalOptions
from eval_data import REFERENCES, prediction_rows
from tiny_models import byte_level_tokenizer


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


METHODS = [
    *(["greedy"], ["beam"], ["tooldec", "--tooldec-form", "react"], ["draft-first"], ["xgrammar"], ["llguidance"]),
    *(["self-consistency"], ["tool-decoding"], ["tool-decoding", "--order-limit", "1"]),
    ["tool-decoding", "--orders", "aggregated"],
]


@pytest.mark.parametrize("method", METHODS, ids=" ".join)
def test_every_method_runs_is_scored_and_goes_on(runs: Runs, tmp_path: Path, method: list[str]) -> None:
    if method[0] in PEER_METHODS:
        pytest.importorskip(method[0])
    run = runs(*method)
    predictions, scores = rows(run / "predictions.jsonl"), rows(run / "scores.jsonl")
    assert [r["id"] for r in predictions] == [r["id"] for r in scores] == list(REFERENCES)
    assert all(r["seconds"] > 0 and r["counters"]["forward_passes"] > 0 for r in predictions)
    manifest = json.loads((run / "run.json").read_text())
    assert (manifest["method"], manifest["samples"]) == (method[0], 4)
    if method[0] == "tool-decoding":
        assert not any(r["structural"] for r in scores)
        assert all(len(r["candidates"]) == (1 if "--order-limit" in method else 2) for r in predictions)
        chosen = {r["id"] for r in predictions if r["candidates"][0]["name"] == REFERENCES[r["id"]].split("(")[0][1:]}
        assert {r["id"] for r in rows(run / "values.jsonl")} == chosen
    if method[0] in (*PEER_METHODS, "draft-first", "greedy"):
        broken = copytree(run, tmp_path / "run") / "predictions.jsonl"
        broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
        assert runs.go(tmp_path / "run", *method, "--batch-size", "1").code == 0
        assert [r["prediction"] for r in rows(broken)] == [r["prediction"] for r in predictions]


@pytest.mark.parametrize("method", PEER_METHODS)
def test_a_library_that_is_not_installed(
    runs: Runs, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, method, None)
    said = f"{method} is needed here and not installed; pip install 'tooldecoding[bench]'"
    assert_bad(runs.go(tmp_path / "run", method), said)
    assert not (tmp_path / "run").exists()


def test_several_files_are_compared(cli: Cli, data: Path, tmp_path: Path) -> None:
    texts = {"good": prediction_rows(REFERENCES), "few": prediction_rows({"a/1": REFERENCES["a/1"], "c/1": "no"})}
    texts["odd\x1b[31m"] = prediction_rows(REFERENCES | {"a/1": "no"})
    for name, text in texts.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    given = [part for name in texts for part in ("--predictions", tmp_path / f"{name}.jsonl")]
    ran = cli("score", "sgd", "--data", data, *given, "--out", tmp_path / "scores")
    assert ran.code == 0, ran.err
    assert {p.name for p in (tmp_path / "scores").iterdir()} == {f"{name}.scores.jsonl" for name in texts}
    assert "75.0" in ran.out and all(f" {name}" in ran.out for name in ("good", "few", "odd"))
    assert "\x1b" not in ran.out
    assert "2 of 4 samples have no prediction and count as wrong (seen, unseen)" in ran.err
    assert [r["correct"] for r in rows(tmp_path / "scores" / "few.scores.jsonl")] == [True, False, False, False]


@pytest.fixture(scope="module")
def chat_model(tiny_model_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = copytree(tiny_model_path, tmp_path_factory.mktemp("chat") / "model")
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = HERMES
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.parametrize("method", ["greedy", "tooldec", "tool-decoding"])
@pytest.mark.parametrize("form", [[], ["--format", "qwen-xml"]], ids=["auto", "qwen-xml"])
def test_calls_of_a_chat_template_are_scored_in_the_benchmarks_format(
    cli: Cli, chat_model: Path, data: Path, samples: list[Sample], tmp_path: Path, method: str, form: list[str]
) -> None:
    command = ["eval", "sgd", "--data", data, "--model", chat_model, "--out", tmp_path / "run", "--limit", "2"]
    command += ["--template", "chat", "--tool-choice", "required", "--max-text-tokens", "8", "--max-value-tokens", "4"]
    ran = cli(*command, "--max-thinking-tokens", "2", "--method", method, *form)
    assert ran.code == 0, ran.err
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["format"] == (form[1] if form else "hermes")
    for row in rows(tmp_path / "run" / "predictions.jsonl") if method == "tool-decoding" else ():
        sample = next(s for s in samples if s.id == row["id"])
        written = ScoredText.of(EvalOptions(template="chat", format=settings["format"]), SGD.call_format)
        assert SGD.judge(sample, row["prediction"]).error_type in ("wrong_name", "wrong_value", "wrong_count", None)
        assert written.of_text(row["written"], sample.documentation.lookup) == row["prediction"]


def test_a_report_of_runs(cli: Cli, runs: Runs, tmp_path: Path) -> None:
    ran = cli("report", runs("greedy"), runs("tool-decoding"), "--out", tmp_path / "report")
    assert ran.code == 0, ran.err
    assert "tool-decoding, 12 orders" in (tmp_path / "report" / "report.md").read_text()
    assert list((tmp_path / "report").glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("eval sgd --data DATA --model MODEL --template chat --out y", "no chat template; leave out --template chat"),
        ("score sdg --data . --predictions x --out y", "did you mean sgd?"),
        ("score sgd --data DATA --predictions P --out P", "predictions, which would be lost"),
        ("score sgd --data bfcl-eval --predictions x --out y", "--data for sgd is the folder"),
        ("score sgd --data DATA --category all --predictions x --out y", "known: seen"),
        ("score sgd --data DATA --predictions P --predictions P --out y", "two files of one name"),
        ("score sgd --data DATA --predictions P --out p.jsonl/y", "p.jsonl/y: cannot be written"),
    ],
)
def test_what_a_user_can_get_wrong(
    cli: Cli,
    data: Path,
    tiny_model_path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_text(prediction_rows(REFERENCES))
    places = {"DATA": data, "P": tmp_path / "p.jsonl", "MODEL": tiny_model_path}
    assert_bad(cli(*(places.get(a, a) for a in arguments.split())), said)
    assert not (tmp_path / "y").exists()
