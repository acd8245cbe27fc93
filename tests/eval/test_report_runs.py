"""Run folders that no report can be made of: one clear message each."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.errors import EvalError
from eval.report import write_report
from eval.report.finished_run import read_run
from eval.report.run_list import read_runs
from made_up_runs import lines, made_up_scores, prediction_row, score_row, write_run

SCORES = [score_row("a", "seen"), score_row("b", "seen", "value"), score_row("c", "seen", "key")]


def refused(folder: Path) -> str:
    with pytest.raises(EvalError) as error:
        read_run(folder)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", SCORES)


def test_what_was_written_is_read(run: Path) -> None:
    read = read_run(run)
    assert (read.benchmark, read.method, read.model, read.drawn_from) == ("api-bank", "greedy", "reference", 3)
    assert [s.error_class for s in read.scores.values()] == [None, "value", "key"]
    assert read.costs["a"].counters.positions == 340


def test_no_folder_no_run_and_a_file(tmp_path: Path) -> None:
    assert "found none" in refused(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    assert "found a file" in refused(tmp_path / "file")
    assert "no run.json" in refused(tmp_path)
    with pytest.raises(EvalError, match="one or more runs"):
        read_runs([])


@pytest.mark.parametrize("name", ["predictions.jsonl", "scores.jsonl"])
def test_an_unfinished_run_says_how_to_go_on(run: Path, name: str) -> None:
    path = run / name
    text = path.read_text()
    path.write_text("".join(text.splitlines(keepends=True)[:2]))
    assert f"--out {run} again" in refused(run)
    path.write_text(text[:-20])
    message = refused(run)
    assert f"{path}:3:" in message and "ends within this line" in message and "again" in message
    path.unlink()
    assert "not finished" in refused(run)


@pytest.mark.parametrize("name", ["predictions.jsonl", "scores.jsonl"])
def test_malformed_lines(run: Path, name: str) -> None:
    path = run / name
    good = path.read_text()
    path.write_text(good.replace('"id": "b"', '"id": b', 1))
    assert f"{path}:2:8: malformed JSON" in refused(run)
    for bad in ("[1]\n", "[" * 1_000_000 + "\n", "9" * 10_000 + "\n", '{"id": NaN}\n', '{"id": {}}\n'):
        path.write_text(bad)
        assert f"{path}:1" in refused(run)
    path.write_bytes(b"\xff\xfe\n")
    assert "UTF-8" in refused(run)
    path.unlink()
    path.mkdir()
    assert "cannot be read" in refused(run)


def test_rows_that_do_not_belong_together(run: Path) -> None:
    scores = run / "scores.jsonl"
    scores.write_text(lines([*SCORES[:2], score_row("z", "seen")]))
    assert "no score for c" in refused(run)
    scores.write_text(lines([*SCORES[:2], SCORES[0]]))
    assert "scores.jsonl:3: a second score for a" in refused(run)
    scores.write_text(lines([*SCORES[:2], score_row("c", "elsewhere")]))
    assert "'elsewhere'" in refused(run)
    scores.write_text(lines([*SCORES, score_row("d", "seen")]))
    assert "found 4" in refused(run)
    scores.write_text(lines(SCORES))
    predictions = run / "predictions.jsonl"
    predictions.write_text(lines([prediction_row(s) for s in [*SCORES, SCORES[0]]]))
    assert "a second prediction for a" in refused(run)
    predictions.write_text(lines([prediction_row(s) for s in [*SCORES, score_row("d", "seen")]]))
    assert "found 4 rows" in refused(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("counters"), "expected 'counters', found none"),
        (lambda row: row.update(seconds="fast"), "'seconds'"),
        (lambda row: row.update(seconds=-1), "'seconds'"),
        (lambda row: row.pop("seconds"), "'seconds'"),
        (lambda row: row["counters"].update(positions=10**400), "'counters.positions'"),
        (lambda row: row["counters"].update(positions=True), "'counters.positions'"),
    ],
)
def test_costs_that_are_no_numbers(run: Path, change: Callable[[dict[str, Any]], Any], message: str) -> None:
    rows = [prediction_row(s) for s in SCORES]
    change(rows[1])
    (run / "predictions.jsonl").write_text(lines(rows))
    assert "predictions.jsonl:2: " in refused(run) and message in refused(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": None}, "'model' to be a valid string, found None"),
        ({"samples": "3"}, "'samples' to be a valid integer, found '3'"),
        ({"samples": True}, "'samples' to be a valid integer, found True"),
        ({"settings": []}, "'settings' to be a valid dictionary, found []"),
        ({"settings": {"order_limit": "many"}}, "'order_limit' to be a valid integer, found 'many'"),
        ({"settings": {"order_limit": 10**40}}, "'settings.order_limit' to be a text or a number"),
        ({"machine": {"cpu": ["a"]}}, "'machine.cpu' to be a text or a number, found ['a']"),
        ({"categories": []}, "'categories'"),
        ({"categories": [1]}, "'categories.0' to be a valid string, found 1"),
        ({"benchmark": "../x"}, "the name of a benchmark, such as api-bank, found '../x'"),
    ],
)
def test_malformed_manifests(run: Path, change: dict[str, Any], message: str) -> None:
    manifest = json.loads((run / "run.json").read_text()) | change
    (run / "run.json").write_text(json.dumps(manifest))
    assert message in refused(run)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 1_000_000])
def test_manifests_that_are_no_object(run: Path, text: str) -> None:
    (run / "run.json").write_text(text)
    assert "run.json" in refused(run)


def test_the_same_run_twice(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    for second in (run, copy, run / ".." / "run"):
        with pytest.raises(EvalError, match="the same run as"):
            read_runs([run, second])


def test_repetitions_are_told_apart_by_settings_or_folder(tmp_path: Path) -> None:
    scores = made_up_scores(0, 0.5)
    runs = [
        write_run(tmp_path / name, scores, started=name, settings=settings)
        for name, settings in (("x", {}), ("y", {}), ("z", {"seed": 7}))
    ]
    names = [r.name for r in read_runs(runs)]
    assert names == [f"greedy, seed 0, in {tmp_path}/x", f"greedy, seed 0, in {tmp_path}/y", "greedy, seed 7"]


def test_a_report_cannot_replace_a_file(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(EvalError, match="folder"):
        write_report([run], tmp_path / "out")
    (tmp_path / "folder" / "report.md").mkdir(parents=True)
    with pytest.raises(EvalError, match="cannot be written"):
        write_report([run], tmp_path / "folder")
