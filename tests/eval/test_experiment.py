"""``tooldecoding experiment``: runs are data, each is made once, and what is missing is said."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import Cli, Ran, assert_bad
from eval.benchmarks.api_bank.data import LEVEL_1
from eval.commands.experiment import read_experiment
from eval_data import bank, write_files
from test_layers import ROOT

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
def run(cli: Cli, tmp_path: Path, tiny_model_path: str) -> Cli:
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
    experiment = read_experiment(file)
    plans = [experiment.plan(report, Path("out")) for report in experiment.reports]
    assert all(len({run.folder for run in runs}) == len(runs) for runs in plans)
    assert {run.method for runs in plans for run in runs} == set(experiment.methods)
    assert {run.benchmark for runs in plans for run in runs} == set(experiment.benchmarks)


def test_reports_share_runs_and_the_same_command_goes_on(run: Cli, tmp_path: Path) -> None:
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
def test_a_wrong_file_is_one_line(run: Cli, content: Any, arguments: list[str], error: str) -> None:
    assert_bad(run(content if isinstance(content, str) else SMALL | content, *arguments), error)
