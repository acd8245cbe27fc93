"""BFCL's files: where they come from, and a clear error for whatever is wrong with them."""

import json
from pathlib import Path

import pytest

from eval.benchmarks.bfcl.benchmark import BFCL_LIVE
from eval.errors import EvalError
from tooldecoding.chat.messages import Message

PARAMETERS = {"type": "dict", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOL = {"name": "f", "description": "Does it.", "parameters": PARAMETERS}
KEY = "live_simple_0-0-0"


def question(key: str = KEY, **changes) -> dict:
    return {"id": key, "question": [[{"role": "user", "content": "Do it."}]], "function": [TOOL]} | changes


def answer(key: str = KEY, **changes) -> dict:
    return {"id": key, "ground_truth": [{"f": {"a": [1]}}]} | changes


def write(folder: Path, name: str, *rows: dict | str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")


def write_category(folder: Path, category: str = "live_simple", prefix: str = "BFCL_v4", keys=("1-0-0", "0-0-0")):
    write(folder, f"{prefix}_{category}.json", *(question(f"{category}_{k}") for k in keys))
    write(folder, f"possible_answer/{prefix}_{category}.json", *(answer(f"{category}_{k}") for k in reversed(keys)))


def load(folder: Path, category: str = "live_simple"):
    return BFCL_LIVE.load(str(folder), [category])


@pytest.mark.parametrize("place", ["", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data"])
def test_a_sample(tmp_path, place):
    write_category(tmp_path / place)
    first, second = load(tmp_path)
    assert (first.id, second.id) == ("live_simple_1-0-0", KEY), "the sequence of the file"
    assert (first.category, first.dialogue) == ("live_simple", first.id)
    assert first.turns == (Message("user", "Do it."),)
    assert list(first.documentation.lookup) == ["f"]
    assert [(c.name, c.arguments) for c in first.calls] == [("f", {"a": 1})]
    assert BFCL_LIVE.identify(BFCL_LIVE.describe(first)) == first.id


def test_no_answers_no_tools_and_tools_of_one_name(tmp_path):
    write(tmp_path, "BFCL_v4_live_relevance.json", question("live_relevance_0"), question("b", function=[]))
    first, second = load(tmp_path, "live_relevance")
    assert first.calls == second.calls == () and list(second.documentation.lookup) == []
    assert BFCL_LIVE.satisfiable(first)
    write(tmp_path, "BFCL_v4_live_simple.json", question(function=[TOOL, TOOL]))
    write(tmp_path, "possible_answer/BFCL_v4_live_simple.json", answer())
    [sample] = load(tmp_path)
    assert list(sample.documentation.lookup) == ["f", "f_2"] and BFCL_LIVE.judge(sample, "[f(a=1)]").correct


ASKED, ANSWERED = "BFCL_v4_live_simple.json", "possible_answer/BFCL_v4_live_simple.json"
OTHER = "live_simple_1-0-0"
BROKEN = [
    ({}, r"no such folder"),
    ({"BFCL_v4_multiple.json": [question()]}, r"BFCL_v4_live_simple\.json is .*there is BFCL_v4_multiple\.json"),
    ({ASKED: [question()]}, r"possible_answer/BFCL_v4_live_simple\.json is missing.*there is nothing"),
    ({ASKED: [question(), '{"id": '], ANSWERED: [answer()]}, r"BFCL_v4_live_simple\.json:2:8: malformed"),
    ({ASKED: [""], ANSWERED: [answer()]}, r"found an empty file"),
    ({ASKED: [question(), question()], ANSWERED: [answer()]}, r":2: the id .* stands at .*:1"),
    ({ASKED: [question(), question(OTHER)], ANSWERED: [answer()]}, rf"do not belong together: {OTHER} in one alone"),
    *(
        ({ASKED: [question(**changes)], ANSWERED: [answer()]}, message)
        for changes, message in (
            ({"question": []}, r":1: expected 'question'"),
            ({"question": [[{"role": "judge", "content": "x"}]]}, r"found 'judge'"),
            ({"function": []}, r":1: expected at least one tool"),
        )
    ),
    ({ASKED: [question()], ANSWERED: [answer(ground_truth=[["f", 1]])]}, r"expected 'ground_truth.0'"),
]


@pytest.mark.parametrize(("files", "message"), BROKEN, ids=range(len(BROKEN)))
def test_broken_folders(tmp_path, files, message):
    folder = tmp_path / "data_folder"
    for file, rows in files.items():
        write(folder, file, *rows)
    with pytest.raises(EvalError, match=message):
        load(folder)


def test_the_installed_package(tmp_path, monkeypatch):
    with pytest.raises(EvalError, match=r"pip install --no-deps bfcl-eval"):
        BFCL_LIVE.load("bfcl-eval", ["live_simple"])
    write_category(tmp_path / "bfcl_eval" / "data")
    (tmp_path / "bfcl_eval" / "__init__.py").write_text("raise RuntimeError('not to be imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(BFCL_LIVE.load("bfcl-eval", ["live_simple"])) == 2
    with pytest.raises(EvalError, match=r"unknown category 'live_easy'; known: live_simple"):
        BFCL_LIVE.load("bfcl-eval", ["live_easy"])
