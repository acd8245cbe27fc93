"""The files of benchmarks: what is read of them, and a clear error for whatever is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from data import DATA, needs_data
from eval.benchmarks.registry import BENCHMARKS, find_benchmark
from eval.commands.eval import BENCHMARK_NAMES
from eval.errors import EvalError
from eval_data import (
    FUNCTION,
    MUSIC,
    SMALL,
    Files,
    api_row,
    bfcl_answer,
    bfcl_row,
    described,
    load,
    sgd_row,
    write_files,
)

ASKED = [("user", "Do it.")]
READ: dict[str, tuple[str, list[Any]]] = {
    "acebench": (
        "normal_atom_bool",
        [("q", [("system", "Monday"), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Now.")], ["f"], ["f", "f"])],
    ),
    "api-bank": (
        "level-1-given-desc",
        [("level-1-given-desc/a.jsonl/0", [("user", "please")], ["PlayMusic"], ["PlayMusic"])],
    ),
    "bfcl-live": (
        "live_simple",
        [("live_simple_1-0-0", ASKED, ["f"], ["f"]), ("live_simple_0-0-0", ASKED, ["f"], ["f"])],
    ),
    "sgd": (
        "unseen",
        [
            ("c/1", [("user", "I want Kiel 3.")], ["FindBoat"], ["FindBoat"]),
            ("d/1", [("user", "I want Porto 2.")], ["FindBoat"], ["FindBoat"]),
        ],
    ),
}
"""Benchmark -> category, and its samples: id, turns, tools, tools of the reference calls."""


@pytest.mark.parametrize("name", READ)
def test_what_is_read(tmp_path: Path, name: str) -> None:
    category, expected = READ[name]
    samples = load(tmp_path, name, category)
    assert [
        (s.id, [(t.role, t.content) for t in s.turns], list(s.documentation.lookup), [c.name for c in s.calls])
        for s in samples
    ] == expected
    benchmark = find_benchmark(name)
    assert all(benchmark.identify(benchmark.describe(sample)) == sample.id for sample in samples)
    assert {sample.category for sample in samples} == {category}


PLACES = {
    "acebench": ["data_all/data_en", "data_en"],
    "api-bank": ["lv1-lv2-samples", "api-bank/lv1-lv2-samples"],
    "bfcl-live": ["data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data"],
}


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, places in PLACES.items() for place in places])
def test_a_checkout_is_read_as_a_folder(tmp_path: Path, name: str, place: str) -> None:
    category, samples = READ[name]
    write_files(tmp_path / place, SMALL[name])
    assert len(find_benchmark(name).load(str(tmp_path), [category])) == len(samples)


def test_bfcl_without_answers_without_tools_and_with_tools_of_one_name(tmp_path: Path) -> None:
    benchmark = find_benchmark("bfcl-live")
    [sample] = load(tmp_path, "bfcl-live", "live_relevance")
    assert sample.calls == () and list(sample.documentation.lookup) == [] and benchmark.satisfiable(sample)
    write_files(tmp_path, {SIMPLE: [bfcl_row(function=[FUNCTION, FUNCTION])], ANSWERS: [bfcl_answer()]})
    [sample] = benchmark.load(str(tmp_path), ["live_simple"])
    assert list(sample.documentation.lookup) == ["f", "f_2"] and benchmark.judge(sample, "[f(a=1)]").correct


def test_bfcls_installed_package_is_read_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = find_benchmark("bfcl-live")
    with pytest.raises(EvalError, match=r"pip install --no-deps bfcl-eval"):
        benchmark.load("bfcl-eval", ["live_simple"])
    write_files(tmp_path, {"bfcl_eval/__init__.py": "raise RuntimeError('not to be imported')"})
    write_files(tmp_path / "bfcl_eval" / "data", SMALL["bfcl-live"])
    monkeypatch.syspath_prepend(tmp_path)
    assert len(benchmark.load("bfcl-eval", ["live_simple"])) == 2


@needs_data
def test_what_acebench_tells_the_model() -> None:
    benchmark = find_benchmark("acebench")
    for sample in benchmark.load(str(DATA / "acebench"), benchmark.categories):
        speakers = [turn.role for turn in sample.turns]
        assert speakers[-1] == "user" or "assistant" in speakers, sample.id
        assert speakers.count("system") <= 1
        said = " ".join(turn.content for turn in sample.turns)
        assert ("Missing necessary parameters" in said) == sample.category.startswith("special")


SIMPLE, ANSWERS = "BFCL_v4_live_simple.json", "possible_answer/BFCL_v4_live_simple.json"
ATOM, TRUTHS = "data_normal_atom_bool.json", "possible_answer/data_normal_atom_bool.json"
LAMP = ("a", "Lamps_1", "SetLamp", {"room": "hall"})


def dialogue(*calls: Any, **changes: Any) -> Files:
    """``sgd`` with one dialogue, whose call is changed."""
    row = sgd_row(*LAMP)
    [call] = row["calls"]
    return SMALL["sgd"] | {"dev.jsonl.gz": [row | changes | {"calls": [call | each for each in calls]}]}


def spoken(changes: Any) -> Files:
    """API-Bank with one call, changed."""
    return SMALL["api-bank"] | {"level-1-given-desc/a.jsonl": [api_row(*MUSIC) | changes]}


def questions(**changes: Any) -> Files:
    return {SIMPLE: [bfcl_row(**changes)], ANSWERS: [bfcl_answer()]}


ACE, BANK, LIVE = "acebench normal_atom_bool", "api-bank level-1-given-desc", "bfcl-live live_simple"
SEEN = "sgd seen"
WRONG: list[tuple[str, Files, str]] = [
    (BANK, {}, "found no such folder"),
    (BANK, {"x": ""}, "lv1-lv2-samples"),
    ("api-bank level-2-toolsearcher", SMALL["api-bank"], r"expected level-2-toolsearcher/\*.jsonl"),
    (BANK, SMALL["api-bank"] | {"api_descriptions.jsonl": [{"name": "PlayMusic"}]}, "api_descriptions.jsonl:1"),
    (BANK, SMALL["api-bank"] | {"api_descriptions.jsonl": [described("AddAlarm")]}, "no documentation of PlayMusic"),
    (BANK, spoken({"api_name": "NoTool"}), "a.jsonl:1: .* one of API-Bank's tools"),
    (BANK, spoken({"result": {"input": {}}}), "expected 'result.output', found none"),
    (ACE, {}, "no such folder"),
    (ACE, {"x": ""}, "no questions of normal_atom_bool: expected data_normal"),
    (ACE, SMALL["acebench"] | {TRUTHS: [{"id": "q", "ground_truth": {}}]}, "an object {tool"),
    (ACE, SMALL["acebench"] | {TRUTHS: [{"id": "p", "ground_truth": {"f": {}}}]}, "together: p, q in one alone"),
    (LIVE, {}, "no such folder"),
    (LIVE, {"BFCL_v4_multiple.json": []}, r"live_simple\.json is .*there is BFCL_v4_multiple\.json"),
    (LIVE, {SIMPLE: []}, r"possible_answer/BFCL_v4_live_simple\.json is missing.*there is nothing"),
    (LIVE, {SIMPLE: [bfcl_row(), '{"id": '], ANSWERS: []}, r"live_simple\.json:2:8: malformed"),
    (LIVE, {SIMPLE: "", ANSWERS: []}, "found an empty file"),
    (LIVE, {SIMPLE: [bfcl_row()] * 2, ANSWERS: []}, ":2: the id .* stands at .*:1"),
    (LIVE, questions() | {SIMPLE: [bfcl_row(), bfcl_row("b")]}, "not belong together: b in one"),
    (LIVE, questions(question=[]), ":1: expected 'question'"),
    (LIVE, questions(question=[[{"role": "judge", "content": "x"}]]), "found 'judge'"),
    (LIVE, questions(function=[]), ":1: expected at least one tool"),
    (LIVE, questions() | {ANSWERS: [bfcl_answer(ground_truth=[["f", 1]])]}, "expected 'ground_truth.0'"),
    (SEEN, {"x": ""}, r"dev_tools\.json: no such file"),
    (SEEN, SMALL["sgd"] | {"dev.jsonl.gz": b"no gzip"}, "damaged gzip file: Not a gzipped file"),
    (SEEN, dialogue({"name": "Fly"}), "a call of 'Fly', which is no tool of the dialogue's 'Lamps_1'"),
    (SEEN, dialogue({}, services=["Boats_1"]), "a call of 'SetLamp', which is no tool of the dialogue's"),
    (SEEN, dialogue({"arguments": {"speed": "1"}}), "has keys that the tool lacks: speed"),
    (SEEN, dialogue({"turn": 999}), "a call behind turn 999, but there are 1 turns"),
    (SEEN, dialogue({}, {}), "two calls of one id, a/1"),
]
"""Benchmark and category, files, what is said."""


@pytest.mark.parametrize(("what", "files", "said"), WRONG, ids=[f"{what}-{said[:40]}" for what, _, said in WRONG])
def test_what_is_wrong_is_said(tmp_path: Path, what: str, files: Files, said: str) -> None:
    name, category = what.split()
    folder = write_files(tmp_path / "data_folder", files)
    with pytest.raises(EvalError, match=said):
        find_benchmark(name).load(str(folder), [category])


def test_the_help_names_all_benchmarks() -> None:
    assert BENCHMARK_NAMES.split("|") == sorted(BENCHMARKS)
