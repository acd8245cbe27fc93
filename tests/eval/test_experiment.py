"""``tooldecoding experiment``: runs are data, each is made once, and what is missing is said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_bank_folder import write_folder

from command_line import Ran
from eval.benchmarks.api_bank.data import LEVEL_1
from eval.experiment import plan, read_experiment
from test_layers import ROOT

Cli = Callable[..., Ran]
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
def run(cli: Cli, tmp_path: Path) -> Callable[..., Ran]:
    """Run an experiment on a small API-Bank."""
    turns = [("PlayMusic", {"music_name": name}, "ok") for name in ("Yesterday", "Help", "Misery")]
    write_folder(tmp_path / "data" / "api-bank", {"a": turns})

    def run(content: Any = SMALL, *arguments: str) -> Ran:
        file = tmp_path / "file.yaml"
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
        return cli("experiment", file, "--data", tmp_path / "data", "--out", tmp_path / "out", *arguments)

    return run


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_our_experiments_plan_each_run_once(file: Path) -> None:
    experiment = read_experiment(file)
    runs = list(plan(experiment, list(experiment.reports), Path("out")))
    assert len({run.folder for run in runs}) == len(runs)
    assert {run.method for run in runs} == set(experiment.methods)
    assert {run.benchmark for run in runs} == set(experiment.benchmarks)


def test_reports_share_runs_and_the_same_command_goes_on(run: Callable[..., Ran], tmp_path: Path) -> None:
    first = run()
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
    again = run(SMALL, "--report", "orders")
    assert again.code == 0 and again.out.count(", run ") == 1 and "two on bank" in again.out
    other = run(SMALL, "--limit", "1")
    assert other.code == 2 and "this run has limit 2, not 1; choose another --out" in other.err


@pytest.mark.parametrize(
    ("change", "arguments", "error"),
    [
        ("[1, 2]", [], "the file: Input should be"),
        ("{a: [", [], "malformed YAML"),
        ("methods: &a {}\nreports: *a", [], "no anchors"),
        ("", [], "the file: Input should be"),
        ({**SMALL, "method": {}}, [], "method: Extra inputs are not permitted"),
        ({**SMALL, "methods": {"../x": {}}}, [], "methods.../x.[key]: String should match pattern"),
        ({**SMALL, "reports": {"r": {"benchmarks": ["x"]}}}, [], "report r: no benchmark 'x'; known: bank, lost"),
        ({**SMALL, "reports": {"r": {"benchmarks": ["bank"], "methods": ["x"]}}}, [], "no method 'x'; known: one, two"),
        ({**SMALL, "methods": {"m": {"oder_limit": 3}}, "reports": {"r": {"benchmarks": ["bank"]}}}, [],
         "m on bank: eval has no option 'oder_limit'"),
        ({**SMALL, "methods": {"m": {"order_limit": 0}}, "reports": {"r": {"benchmarks": ["bank"]}}}, [],
         "m on bank: --order-limit: expected"),
        (SMALL, ["--report", "x"], "no report 'x'; known: orders, lost, all"),
        (SMALL, ["--order-limit", "3"], "one on bank sets order_limit, so it cannot be given for all runs"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line(run: Callable[..., Ran], change: Any, arguments: list[str], error: str) -> None:
    ran = run(change, *arguments)
    assert ran.code == 2 and ran.err.count("\n") == 1 and error in ran.err
