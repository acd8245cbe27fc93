"""``eval``, ``score``, ``report`` and ``experiment`` as a user types them, and what can be wrong in their commands."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chat.chat_models import HERMES, decoder_of, says
from command_line import Cli, Ran, assert_bad
from data import rows
from eval.benchmarks.api_bank.benchmark import LEVEL_1
from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd import SGD
from eval.commands.experiment import read_experiment
from eval.methods.prediction import ScoredText
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval_data import REFERENCES, bank, prediction_rows, write_files
from test_layers import ROOT
from tooldecoding.formats.dialects import dialect_of
from tooldecoding.formats.known_formats import CALL_FORMATS


@pytest.fixture
def run(cli: Cli, data: Path, tiny_model_path: str) -> Cli:
    """Decode the benchmark into a folder by a method."""
    start = ("eval", "sgd", "--data", data, "--model", tiny_model_path, "--tool-choice", "required")
    bounds = ("--max-text-tokens", 32, "--max-value-tokens", 8)
    return lambda out, *method: cli(*start, *bounds, "--out", out, "--method", *method)


@pytest.mark.parametrize(
    "method",
    [
        "greedy",
        "self-consistency",
        "tool-decoding",
        "tool-decoding --order-limit 1",
        "tool-decoding --orders aggregated",
    ],
)
def test_a_run_is_scored(run: Cli, tmp_path: Path, method: str) -> None:
    """``test_every_method.py`` has the others."""
    name, *options = method.split()
    out = tmp_path / "run"
    ran = run(out, name, *options)
    assert ran.code == 0, ran.err
    predictions, scores = rows(out / "predictions.jsonl"), rows(out / "scores.jsonl")
    assert [r["id"] for r in predictions] == [r["id"] for r in scores] == list(REFERENCES)
    assert all(r["seconds"] > 0 and r["counters"]["forward_passes"] > 0 for r in predictions)
    manifest = json.loads((out / "run.json").read_text())
    assert (manifest["method"], manifest["samples"]) == (name, 4)
    if name == "tool-decoding":
        orders = {"1": "1 order", "aggregated": "three orders aggregated"}.get(method.split()[-1], "4 orders")
        assert manifest["label"] == f"tool-decoding, {orders}" and not any(r["structural"] for r in scores)
        assert all(len(r["candidates"]) == (1 if "--order-limit" in method else 2) for r in predictions)
        chosen = {r["id"] for r in predictions if r["candidates"][0]["name"] == REFERENCES[r["id"]].split("(")[0][1:]}
        assert {r["id"] for r in rows(out / "values.jsonl")} == chosen


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


@pytest.mark.parametrize("method", ["greedy", "tooldec", "tool-decoding"])
@pytest.mark.parametrize("form", [[], ["--format", "qwen-xml"]], ids=["auto", "qwen-xml"])
def test_calls_of_a_chat_template_are_scored_in_the_benchmarks_format(
    cli: Cli, chat_model_path: Path, data: Path, samples: list[Sample], tmp_path: Path, method: str, form: list[str]
) -> None:
    command = ["eval", "sgd", "--data", data, "--model", chat_model_path, "--out", tmp_path / "run", "--limit", "2"]
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


def test_a_chat_model_that_would_say_nothing_answers_without_tools(samples: list[Sample]) -> None:
    decoder = decoder_of(HERMES)
    says(decoder, lambda prompt: "" if "<tools>" in prompt else "No.")
    request = Prompter(EvalOptions(template="chat", format="hermes"), samples, decoder.tokenizer).request(samples[0])
    assert [result.content for result in decoder.run([request])] == ["No."]


EVAL = "eval sgd --data DATA --model MODEL --out y"
TUNE = "tune sgd --data DATA --level 0.49 --margin 100 --out y"
BENCH = "bench --shape tiny --out y"


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


FILES = sorted((ROOT / "configs" / "experiments").glob("*.yaml"))
SMALL = {
    "methods": {
        "one": {"order_limit": 1},
        "two": {"order_limit": 2},
        "plain": {"method": "greedy", "max_text_tokens": 8},
    },
    "benchmarks": {
        "bank": {"benchmark": "api-bank", "data": "api-bank", "category": [LEVEL_1], "options": {"limit": 2}},
        "lost": {"benchmark": "sgd", "data": "nowhere", "source": "a download"},
    },
    "reports": {
        "orders": {"benchmarks": ["bank"], "methods": ["one", "two"]},
        "lost": {"benchmarks": ["lost"]},
        "all": {"benchmarks": ["bank"]},
    },
}


@pytest.fixture
def experiment(cli: Cli, tmp_path: Path, tiny_model_path: str) -> Cli:
    """Run an experiment on a small API-Bank."""
    turns = [("PlayMusic", {"music_name": name}, "ok") for name in ("Yesterday", "Help", "Misery")]
    write_files(tmp_path / "data" / "api-bank", bank(a=turns))

    def make(content: Any = SMALL, *arguments: str) -> Ran:
        file = tmp_path / "file.yaml"
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
        places = ["--data", tmp_path / "data", "--out", tmp_path / "out", "--model", tiny_model_path]
        return cli("experiment", file, *places, *arguments)

    return make


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_our_experiments_use_all_that_they_name(file: Path) -> None:
    read = read_experiment(file)
    plans = [read.plan(report) for report in read.reports]
    assert all(len(set(runs)) == len(runs) for runs in plans)
    benchmarks, methods = zip(*(run for runs in plans for run in runs), strict=True)
    assert (set(benchmarks), set(methods)) == (set(read.benchmarks), set(read.methods))


def test_reports_share_runs_and_the_same_command_goes_on(experiment: Cli, tmp_path: Path) -> None:
    first = experiment()
    assert first.code == 0, first.err
    assert f"lost is left out: no {tmp_path}/data/nowhere; get it: a download" in first.out
    assert [line for line in first.out.splitlines() if ", run " in line] == [
        "orders, run 1 of 2: one on bank",
        "orders, run 2 of 2: two on bank",
        "all, run 3 of 3: plain on bank",
    ]
    written = tmp_path / "out" / "bank" / "two"
    settings = json.loads((written / "run.json").read_text())["settings"]
    assert (settings["order_limit"], settings["limit"]) == (2, 2)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bank", "report-orders", "report-all"}
    (written / "scores.jsonl").unlink()
    again = experiment(SMALL, "--report", "orders")
    assert again.code == 0 and again.out.count(", run ") == 1 and "two on bank" in again.out
    other = experiment(SMALL, "--limit", "1")
    assert other.code == 2 and "begun with limit 2, not 1; choose another --out" in other.err


BANK = {"r": {"benchmarks": ["bank"]}}
ORDERS = "one on bank sets order_limit, so it cannot be given for all runs"


@pytest.mark.parametrize(
    ("content", "arguments", "error"),
    [
        ("[1, 2]", [], "expected a valid dictionary"),
        ("methods: &a {}\nreports: *a", [], "no anchors"),
        ({"methods": {"../x": {}}}, [], "'methods.../x.[key]' otherwise: String should match pattern"),
        ({"reports": {"r": {"benchmarks": ["x"]}}}, [], "report r: 'x' is not in the file; known: bank, lost"),
        ({"methods": {"m": {"oder_limit": 3}}, "reports": BANK}, [], "m on bank: eval has no option 'oder_limit'"),
        ({}, ["--report", "x"], "no report 'x'; known: orders, lost, all"),
        ({}, ["--order-limit", "3"], ORDERS),
    ],
)
def test_a_wrong_file_is_one_line(experiment: Cli, content: Any, arguments: list[str], error: str) -> None:
    assert_bad(experiment(content if isinstance(content, str) else SMALL | content, *arguments), error)
