"""``eval``, ``score`` and ``report`` as a user types them, and what can be wrong in commands of the evaluation."""

import json
import sys
from pathlib import Path
from shutil import copytree

import pytest

from chat.chat_models import HERMES
from command_line import Cli, assert_bad
from data import rows
from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.methods.scored_text import ScoredText
from eval.options import PEER_METHODS
from eval_data import REFERENCES, prediction_rows, write_files
from tiny_models import byte_level_tokenizer
from tooldecoding.formats.dialects import dialect_of
from tooldecoding.formats.known_formats import CALL_FORMATS


@pytest.fixture
def run(cli: Cli, data: Path, tiny_model_path: str) -> Cli:
    """Decode the benchmark into a folder by a method."""
    start = ("eval", "sgd", "--data", data, "--model", tiny_model_path, "--tool-choice", "required")
    bounds = ("--max-text-tokens", 32, "--max-value-tokens", 8)
    return lambda out, *method: cli(*start, *bounds, "--out", out, "--method", *method)


METHODS = [
    *(["greedy"], ["beam"], ["tooldec", "--tooldec-form", "react"], ["draft-first"], ["xgrammar"], ["llguidance"]),
    *(["self-consistency"], ["tool-decoding"], ["tool-decoding", "--order-limit", "1"]),
    ["tool-decoding", "--orders", "aggregated"],
]


@pytest.mark.parametrize("method", METHODS, ids=" ".join)
def test_every_method_runs_is_scored_and_goes_on(run: Cli, tmp_path: Path, method: list[str]) -> None:
    if method[0] in PEER_METHODS:
        pytest.importorskip(method[0])
    out = tmp_path / "run"
    ran = run(out, *method)
    assert ran.code == 0, ran.err
    predictions, scores = rows(out / "predictions.jsonl"), rows(out / "scores.jsonl")
    assert [r["id"] for r in predictions] == [r["id"] for r in scores] == list(REFERENCES)
    assert all(r["seconds"] > 0 and r["counters"]["forward_passes"] > 0 for r in predictions)
    manifest = json.loads((out / "run.json").read_text())
    assert (manifest["method"], manifest["samples"]) == (method[0], 4)
    if method[0] == "tool-decoding":
        assert not any(r["structural"] for r in scores)
        assert all(len(r["candidates"]) == (1 if "--order-limit" in method else 2) for r in predictions)
        chosen = {r["id"] for r in predictions if r["candidates"][0]["name"] == REFERENCES[r["id"]].split("(")[0][1:]}
        assert {r["id"] for r in rows(out / "values.jsonl")} == chosen
    if method[0] in (*PEER_METHODS, "draft-first", "greedy"):
        broken = out / "predictions.jsonl"
        broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
        assert run(out, *method, "--batch-size", "1").code == 0
        assert [r["prediction"] for r in rows(broken)] == [r["prediction"] for r in predictions]


@pytest.mark.parametrize("method", PEER_METHODS)
def test_a_missing_library(run: Cli, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, method, None)
    said = f"{method} is needed here and not installed; pip install 'tooldecoding[bench]'"
    assert_bad(run(tmp_path / "run", method), said)
    assert not (tmp_path / "run").exists()


def test_several_files_are_compared(cli: Cli, data: Path, tmp_path: Path) -> None:
    texts = {"good": REFERENCES, "few": {"a/1": REFERENCES["a/1"], "c/1": "no"}}
    texts["odd\x1b[31m"] = REFERENCES | {"a/1": "no"}
    write_files(tmp_path, {f"{name}.jsonl": prediction_rows(text) for name, text in texts.items()})
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
        own = dialect_of(CALL_FORMATS[settings["format"]], row.get("opening", ""))
        written = ScoredText(own, CALL_FORMATS[SGD.call_format], as_it_stands=False)
        assert SGD.judge(sample, row["prediction"]).error_type in ("wrong_name", "wrong_value", "wrong_count", None)
        assert written.of_text(row["written"], sample.documentation.lookup) == row["prediction"]


EVAL = "eval sgd --data DATA --model MODEL --out y"
TUNE = "tune sgd --data DATA --level 0.49 --margin 100 --out y"
BENCH = "bench --shape tiny --out y"


def test_a_report_of_runs(cli: Cli, run: Cli, tmp_path: Path) -> None:
    runs = [tmp_path / method for method in ("greedy", "tool-decoding")]
    assert [run(out, out.name).code for out in runs] == [0, 0]
    ran = cli("report", *runs, "--out", tmp_path / "report")
    assert ran.code == 0, ran.err
    assert "tool-decoding, 12 orders" in (tmp_path / "report" / "report.md").read_text()
    assert list((tmp_path / "report").glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (f"{EVAL} --template chat", "no chat template; leave out --template chat"),
        ("score sdg --data . --predictions x --out y", "did you mean sgd?"),
        ("score sgd --data DATA --predictions P --out P", "predictions, which would be lost"),
        ("score sgd --data bfcl-eval --predictions x --out y", "--data for sgd is the folder"),
        ("score sgd --data DATA --category all --predictions x --out y", "known: seen"),
        ("score sgd --data DATA --predictions P --predictions P --out y", "two files of one name"),
        ("score sgd --data DATA --predictions P --out p.jsonl/y", "p.jsonl/y: cannot be written"),
        (f"{EVAL} --shots 9", "shots: expected a whole number from 0 to 8, got 9"),
        (f"{EVAL} --template bfcl --format hermes", "the template bfcl does not ask the model for calls in the format"),
        (f"{EVAL} --template chat --shots 1", "--shots has no place in --template chat"),
        (f"{EVAL} --template chat --method tooldec --tooldec-form react", "--tooldec-form react has no place"),
        (f"{TUNE} --level 0", "level: expected a number between 0 and 0.5, got 0.0"),
        (f"{TUNE} --max-slowdown 2 --max-latency-ms 1", "one budget, got --max-latency-ms and --max-slowdown"),
        (f"{TUNE} --limits 0,1", "limits"),
        ("tune sgd --data DATA --out y", "too few samples for a decision: 4, but 100 are needed"),
        (f"{TUNE} --config spread.yaml", "tune decodes on this machine; leave ray out"),
        (f"{TUNE} --config documented.yaml", "but orders is documented; leave it out"),
        ("bench --out y", "bench needs --model or --shape, not both; shapes: tiny, llama-134m"),
        (f"{BENCH} --against greedy,luck", "--against: unknown method 'luck'; known: greedy, beamN"),
        (f"{BENCH} --prompt-tokens 60", " tokens, so that a prompt of 60 is too short"),
        (f"{BENCH} --dtype auto", "unknown dtype 'auto' for a shape; known: fp32, bf16, fp16"),
        (f"{BENCH} --tokenizer ./nowhere", "--tokenizer: expected a folder with a tokenizer's files"),
        ("bench --model reference --tokenizer . --out y", "--tokenizer belongs to --shape; a model has its own"),
        ("bench --shape tiny schemas --data x", "--shape belongs to bench alone, not to bench schemas"),
        ("bench schemas --data empty", "there is no empty/maskbench/data/*.json"),
        ("bench schemas --data . --peers luck --out y", "--peers: expected 'xgrammar' or 'llguidance'"),
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
    write_files(tmp_path, {"p.jsonl": prediction_rows(REFERENCES), "documented.yaml": "orders: documented"})
    write_files(tmp_path, {"spread.yaml": "ray: local\nactors: 2"})
    places = {"DATA": data, "P": tmp_path / "p.jsonl", "MODEL": tiny_model_path}
    assert_bad(cli(*(places.get(a, a) for a in arguments.split())), said)
    assert not any((tmp_path / "y").glob("*"))
    assert arguments.startswith("bench") or not (tmp_path / "y").exists()
