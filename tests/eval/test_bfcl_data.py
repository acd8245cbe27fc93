"""Reading BFCL's files: the places they come from, and a clear error for whatever is wrong with them."""

import json
from pathlib import Path

import pytest

from data import DATA, needs_data
from eval.benchmarks.bfcl.benchmark import BFCL_LIVE, BFCL_V1
from eval.benchmarks.bfcl.data import load_samples
from eval.errors import EvalError
from tooldecoding.prompts.dialogue import Utterance

TOOL = {
    "name": "f",
    "description": "Does it.",
    "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}


def question(key: str, **changes) -> dict:
    return {"id": key, "question": [[{"role": "user", "content": "Do it."}]], "function": [TOOL]} | changes


def answer(key: str, **changes) -> dict:
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


def test_a_sample(tmp_path):
    write_category(tmp_path)
    first, second = load(tmp_path)
    assert (first.id, second.id) == ("live_simple_1-0-0", "live_simple_0-0-0"), "the sequence of the file"
    assert (first.category, first.dialogue) == ("live_simple", first.id)
    assert first.turns == (Utterance("user", "Do it."),)
    assert list(first.documentation.lookup) == ["f"]
    assert [(c.name, c.arguments) for c in first.calls] == [("f", {"a": 1})]
    assert BFCL_LIVE.judge(first, "[f(a=1)]").correct
    assert BFCL_LIVE.describe(first) == {"id": "live_simple_1-0-0", "category": "live_simple"}
    assert BFCL_LIVE.identify({"id": first.id, "prediction": ""}) == first.id


@pytest.mark.parametrize("row", [{}, {"id": 3}, {"file": "x.jsonl", "sample_id": 1, "prediction": ""}])
def test_rows_of_other_benchmarks(row):
    with pytest.raises(EvalError, match=r"expected a row with an 'id'"):
        BFCL_LIVE.identify(row)


@pytest.mark.parametrize("place", ["", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data"])
def test_layouts(tmp_path, place):
    write_category(tmp_path / place)
    assert len(load(tmp_path)) == 2


def test_the_latest_version_is_read(tmp_path):
    for prefix, keys in (("BFCL_v3", ["7-0-0"]), ("BFCL_v10", ["8-0-0"]), ("BFCL_v4", ["9-0-0"])):
        write_category(tmp_path, prefix=prefix, keys=keys)
    assert [s.id for s in load(tmp_path)] == ["live_simple_8-0-0"]


def test_older_names(tmp_path):
    write_category(tmp_path, "simple", "BFCL_v3", keys=["0"])
    for category in ("simple", "simple_python"):
        [sample] = BFCL_V1.load(str(tmp_path), [category])
        assert (sample.id, sample.category) == ("simple_0", "simple_python")
    assert len(BFCL_V1.load(str(tmp_path), ["simple", "simple_python"])) == 1


def test_older_rows(tmp_path):
    """One list of messages instead of a list of lists, one tool instead of a list."""
    row = question("live_simple_0-0-0", question=[{"role": "user", "content": "Do it."}], function=TOOL)
    write(tmp_path, "BFCL_v2_live_simple.json", row)
    write(tmp_path, "possible_answer/BFCL_v2_live_simple.json", answer(row["id"]))
    [sample] = load(tmp_path)
    assert sample.turns == (Utterance("user", "Do it."),)
    assert BFCL_LIVE.judge(sample, "f(a=1)").correct


def test_awareness_has_no_answers(tmp_path):
    for category in ("live_relevance", "live_irrelevance"):
        write(
            tmp_path, f"BFCL_v4_{category}.json", question(f"{category}_0-0-0"), question(f"{category}_1", function=[])
        )
        first, second = load(tmp_path, category)
        assert first.calls == second.calls == ()
        assert list(second.documentation.lookup) == []
        assert BFCL_LIVE.satisfiable(first)


def test_tools_of_one_name_do_not_stop_loading(tmp_path):
    write(tmp_path, "BFCL_v4_live_simple.json", question("live_simple_0-0-0", function=[TOOL, TOOL]))
    write(tmp_path, "possible_answer/BFCL_v4_live_simple.json", answer("live_simple_0-0-0"))
    [sample] = load(tmp_path)
    assert list(sample.documentation.lookup) == ["f", "f_2"]
    assert BFCL_LIVE.judge(sample, "[f(a=1)]").correct


KEY = "live_simple_0-0-0"
BROKEN = {
    "no_such_folder": ({}, r"no such folder"),
    "empty folder": ({"notes.txt": [""]}, r"no file of BFCL; looked for .*BFCL_v\*\.json.*there is notes\.txt"),
    "another category": (
        {"BFCL_v4_multiple.json": [question("multiple_0")]},
        r"expected BFCL_v4_live_simple\.json .*there is BFCL_v4_multiple\.json",
    ),
    "no answers": (
        {"BFCL_v4_live_simple.json": [question(KEY)]},
        r"possible_answer/BFCL_v4_live_simple\.json .*missing",
    ),
    "answers of another version": (
        {"BFCL_v4_live_simple.json": [question(KEY)], "possible_answer/BFCL_v3_live_simple.json": [answer(KEY)]},
        r"there is possible_answer/BFCL_v3_live_simple\.json",
    ),
    "malformed": (
        {"BFCL_v4_live_simple.json": [question(KEY), '{"id": ']},
        r"BFCL_v4_live_simple\.json:2:8: malformed",
    ),
    "no object": ({"BFCL_v4_live_simple.json": ["[1]"]}, r":1: expected a JSON object"),
    "no rows": ({"BFCL_v4_live_simple.json": [""]}, r"found an empty file"),
    "no id": ({"BFCL_v4_live_simple.json": [{"question": []}]}, r":1: expected a text 'id'"),
    "repeated id": ({"BFCL_v4_live_simple.json": [question(KEY), question(KEY)]}, r":2: the id .* stands at .*:1"),
    "question without answer": (
        {
            "BFCL_v4_live_simple.json": [question(KEY), question("live_simple_1-0-0")],
            "possible_answer/BFCL_v4_live_simple.json": [answer(KEY)],
        },
        r"only the first has live_simple_1-0-0",
    ),
    "answer without question": (
        {
            "BFCL_v4_live_simple.json": [question(KEY)],
            "possible_answer/BFCL_v4_live_simple.json": [answer(KEY), answer("live_simple_1-0-0")],
        },
        r"possible_answer\S* and \S* do not belong together: only the first has live_simple_1-0-0",
    ),
}
ROWS = {
    "question missing": ({"question": None}, {}, r":1: expected 'question'"),
    "question empty": ({"question": []}, {}, r":1: expected 'question'"),
    "no messages": ({"question": [[]]}, {}, r":1: question: expected a dialogue"),
    "unknown role": ({"question": [[{"role": "judge", "content": "x"}]]}, {}, r"unknown role 'judge'"),
    "no tools": ({"function": None}, {}, r":1: expected 'function'"),
    "no tool to answer with": ({"function": []}, {}, r":1: expected at least one tool"),
    "parameters in a list": (
        {"function": [{"name": "f", "parameters": {"properties": [1], "required": []}}]},
        {},
        r":1: expected 'function.0.parameters",
    ),
    "required without a list": (
        {"function": [{"name": "f", "parameters": {"properties": {}, "required": "a"}}]},
        {},
        r":1: expected 'function.0.parameters",
    ),
    "nameless tool": ({"function": [{"parameters": {}}]}, {}, r":1: expected 'function.0.name', found none"),
    "no truth": ({}, {"ground_truth": None}, r"possible_answer\S*:1: expected 'ground_truth'"),
    "empty truth": ({}, {"ground_truth": []}, r"expected 'ground_truth'"),
    "truth of another form": ({}, {"ground_truth": [["f", 1]]}, r"expected 'ground_truth.0'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_folders(tmp_path, name):
    files, message = BROKEN[name]
    folder = tmp_path / "data_folder"
    for file, rows in files.items():
        write(folder, file, *rows)
    with pytest.raises(EvalError, match=message):
        load(folder)


@pytest.mark.parametrize("name", ROWS)
def test_broken_rows(tmp_path, name):
    asked, answered, message = ROWS[name]
    write(tmp_path, "BFCL_v4_live_simple.json", question(KEY, **asked))
    write(tmp_path, "possible_answer/BFCL_v4_live_simple.json", answer(KEY, **answered))
    with pytest.raises(EvalError, match=message):
        load(tmp_path)


def test_categories_that_are_not_known(tmp_path):
    write_category(tmp_path)
    with pytest.raises(EvalError, match=r"unknown category 'live_easy'; known: live_simple"):
        BFCL_LIVE.load(str(tmp_path), ["live_easy"])


def test_the_installed_package(tmp_path, monkeypatch):
    with pytest.raises(EvalError, match=r"pip install --no-deps bfcl-eval"):
        BFCL_LIVE.load("bfcl-eval", ["live_simple"])
    package = tmp_path / "bfcl_eval"
    write_category(package / "data")
    (package / "__init__.py").write_text("raise RuntimeError('it must not be imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(BFCL_LIVE.load("bfcl-eval", ["live_simple"])) == 2


@needs_data
def test_every_entry_loads():
    folder = DATA / "bfcl"
    for benchmark in (BFCL_LIVE, BFCL_V1):
        for category in benchmark.categories:
            samples = load_samples(str(folder), [category], benchmark.categories)
            lines = (folder / f"BFCL_v4_{category}.json").read_text(encoding="utf-8").splitlines()
            assert [s.id for s in samples] == [json.loads(line)["id"] for line in lines]
            for sample in samples:
                assert len(sample.documentation.lookup) == len(sample.answer.functions)
                assert {c.name for c in sample.calls} <= set(sample.documentation.lookup)
