"""RestBench and StableToolBench: what is read, and which calls are valid."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data
from eval.benchmarks.error_class import classify
from eval.benchmarks.python_names import python_name, writable_name
from eval.benchmarks.registry import BENCHMARKS, find_benchmark
from eval.benchmarks.samples import Sample
from eval.commands.benchmark_command import BENCHMARK_NAMES
from eval.errors import EvalError

RESTBENCH, STABLE = find_benchmark("restbench"), find_benchmark("stabletoolbench")


def parameter(name: str, place: str, kind: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": kind}}


PATHS: dict[str, Any] = {
    "/find/boat": {"get": {"operationId": "FIND-boat", "parameters": [parameter("min.seats", "query", "integer")]}},
    "/boat/{id}": {"get": {"operationId": "BOAT-id", "parameters": [parameter("id", "path", "string")]}},
} | {f"/harbour/{n}": {"get": {"operationId": f"HARBOUR-{n}"}} for n in range(12)}
QUESTIONS = [
    {"query": "Which boat has three seats?", "solution": ["GET /find/boat ", "GET /boat/{id}"]},
    {"query": "Show boat b7.", "solution": ["GET /boat/{id}"]},
]


def service(name: str, description: str | None, required: list[str], optional: list[str]) -> dict[str, Any]:
    lists = [
        [{"name": k, "type": "STRING", "description": "", "default": ""} for k in keys] for keys in (required, optional)
    ]
    about = {"tool_name": "Boats & more", "api_name": name, "api_description": description}
    return {
        **about,
        "required_parameters": lists[0],
        "optional_parameters": lists[1],
        "template_response": {"name": "str"},
    }


SERVICES = [service("Find a boat!", "Finds boats.", ["from"], ["min-seats"]), service("3 harbours", None, [], [])]
QUERY = {
    "query": "I want a boat.",
    "query_id": 7,
    "api_list": SERVICES,
    "relevant APIs": [["Boats & more", "Find a boat!"]],
}


def write_restbench(folder: Path, questions: Any = None, paths: Any = None) -> str:
    document = {"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": PATHS if paths is None else paths}
    (folder / "tmdb.json").write_text(json.dumps(QUESTIONS if questions is None else questions))
    (folder / "tmdb_oas.json").write_text(json.dumps(document))
    return str(folder)


def write_stable(folder: Path, rows: Any = None) -> str:
    (folder / "G1_instruction.json").write_text(json.dumps([QUERY] if rows is None else rows))
    return str(folder)


@pytest.fixture(scope="module")
def boats(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The first question with all operations."""
    return RESTBENCH.load(write_restbench(tmp_path_factory.mktemp("boats")), ["tmdb"])[0]


def test_the_help_names_all_benchmarks() -> None:
    assert BENCHMARK_NAMES.split("|") == sorted(BENCHMARKS)


def test_names_that_calls_can_have() -> None:
    assert python_name("TheClique: Songs") == "theclique_songs"
    assert python_name("3 harbours") == "get_3_harbours"
    assert [python_name(name) for name in ("id", "lambda", "!")] == ["is_id", "is_lambda", "unnamed"]
    assert [writable_name(name) for name in ("departureTime", "class", "a b")] == ["departureTime", "is_class", "a_b"]


@given(st.text())
def test_every_name_can_be_written(name: str) -> None:
    assert python_name(name).isidentifier() and writable_name(name).isidentifier()


def test_restbench(boats: Sample) -> None:
    assert boats.answer == {"find_boat"}
    assert [p.name for p in boats.documentation.lookup["find_boat"].parameters] == ["min_seats"]
    assert len(boats.documentation.lookup) == len(PATHS)


@pytest.mark.parametrize(
    ("prediction", "errors", "error_class", "structural"),
    [
        ("[find_boat()]", set(), None, False),
        ("[find_boat(min_seats=3), boat_id(id='b7')]", set(), None, False),
        ("[boat_id(id='b7'), find_boat()]", set(), None, False),
        ("Boats are nice.", {"no call"}, "awareness", False),
        ("[find_boat(min_seats=3, ]]", {"unreadable call"}, "format", True),
        ("[sail(to='Porto')]", {"unknown tool"}, "selection", True),
        ("[find_boat(), sail()]", {"unknown tool"}, "selection", True),
        ("[find_boat(seats=3)]", {"unknown key"}, "key", True),
        ("[boat_id()]", {"missing key"}, "key", True),
        ("[boat_id(name='b7')]", {"unknown key", "missing key"}, "key", True),
        ("[find_boat(min_seats='3')]", {"wrong type"}, "value", False),
    ],
)
def test_errors(boats: Sample, prediction: str, errors: set[str], error_class: str | None, structural: bool) -> None:
    judgement = RESTBENCH.judge(boats, prediction)
    found = {name for name, (points, _) in judgement.figures.items() if points} - {"first path", "any error"}
    assert (judgement.correct, found) == (not errors, errors)
    assert judgement.figures["any error"] == (float(bool(errors)), 1.0)
    assert judgement.figures["first path"] == (
        float(prediction.startswith("[find_boat(") and error_class != "format"),
        1.0,
    )
    if errors:
        assert classify(boats, prediction, judgement, satisfiable=True) == (error_class, structural)


def test_stabletoolbench(tmp_path: Path) -> None:
    [sample] = STABLE.load(write_stable(tmp_path), STABLE.categories)
    assert (sample.id, sample.category) == ("G1_instruction_7", "G1_instruction")
    assert list(sample.documentation.lookup) == ["find_a_boat", "get_3_harbours"]
    assert "template_response" not in sample.documentation.as_bfcl()
    judgement = STABLE.judge(sample, "[find_a_boat(is_from='Kiel', min_seats='3')]")
    assert judgement.correct and judgement.figures["relevant tool"] == (1.0, 1.0)
    other = STABLE.judge(sample, "[get_3_harbours()]")
    assert other.correct and other.figures["relevant tool"] == (0.0, 1.0)


def test_services_of_one_name_are_told_apart(tmp_path: Path) -> None:
    twin = SERVICES[0] | {"tool_name": "Ferries"}
    row = QUERY | {"api_list": [SERVICES[0], twin], "relevant APIs": [["Ferries", "Find a boat!"]]}
    [sample] = STABLE.load(write_stable(tmp_path, [row]), STABLE.categories)
    assert sample.answer == {"find_a_boat_for_ferries"}


@needs_data
@pytest.mark.parametrize(("name", "count"), [("restbench", 100), ("stabletoolbench", 163)])
def test_real_samples(name: str, count: int) -> None:
    samples = find_benchmark(name).load(str(DATA / name), find_benchmark(name).categories)
    assert len(samples) == count
    for sample in samples:
        tools = sample.documentation.lookup
        assert set() < sample.answer <= set(tools), sample.id
        assert all(n.isidentifier() for t in tools.tools for n in (t.name, *(p.name for p in t.parameters)))


@pytest.mark.parametrize(
    ("questions", "paths", "said"),
    [
        ([], None, "expected a JSON list of rows, found an empty one"),
        ([{"query": "x", "solution": ["GET /sea"]}], None, "begins with 'GET /sea', which is not in tmdb_oas.json"),
        (None, {"/a": {"get": {"operationId": "x-y"}}, "/b": {"get": {"operationId": "x y"}}}, "have the name 'x_y'"),
    ],
)
def test_malformed_restbench(tmp_path: Path, questions: Any, paths: Any, said: str) -> None:
    with pytest.raises(EvalError, match=said):
        RESTBENCH.load(write_restbench(tmp_path, questions, paths), ["tmdb"])


def test_no_data(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"--data for restbench is a folder with tmdb\.json"):
        RESTBENCH.load(str(tmp_path), ["tmdb"])
    with pytest.raises(EvalError, match=r"found no G1_instruction\.json"):
        STABLE.load(str(tmp_path), ["G1_instruction"])
    (tmp_path / "G1_instruction.json").write_text("[{")
    with pytest.raises(EvalError, match="expected one JSON value"):
        STABLE.load(str(tmp_path), ["G1_instruction"])
