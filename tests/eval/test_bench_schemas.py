"""``tooldecoding bench schemas``: verdicts by split, rows that a run goes on from, engines that hang or die."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, get_args

import pytest

import eval.schemas.engines as engines
from command_line import Ran, assert_bad
from eval.commands.bench_schemas import PeerName
from eval.schemas.engines import OWN, PEERS, Engine
from eval.schemas.tables import figures
from eval.schemas.worker import Worker, measure
from stub_engines import STRICT, STUB, UNLOADABLE
from tooldecoding.files.json_lines import json_line
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

Cli = Callable[..., Ran]
BOTH = [{"valid": True, "data": {"a": 1}}, {"valid": False, "data": {"a": "two", "bb": [1, 2, 3]}}]
FILES: Mapping[str, Any] = {
    "BFCL_simple_1.json": {"schema": {}, "tests": BOTH},  # the invalid one is accepted, and nothing was noted
    "BFCL_java_2.json": {"schema": {"const": {"a": 1}}, "tests": BOTH},  # noted, and found by the check
    "Github_easy---o1.json": {"schema": {"maxTokens": 0}, "tests": [*BOTH, BOTH[1]]},  # the valid one is refused
    "Github_easy---o2.json": {"schema": {"refuse": True}, "tests": BOTH},
    "JME_3.json": {"schema": {"maxTokens": 999}, "tests": BOTH[:1]},
}


def write(folder: Path, files: Mapping[str, Any] = FILES) -> Path:
    """A checkout with these files."""
    data = folder / "checkout" / "maskbench" / "data"
    data.mkdir(parents=True)
    for name, content in files.items():
        (data / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / "checkout"


@pytest.fixture(scope="module", autouse=True)
def stubs() -> Iterator[None]:
    """A stub in the place of our engine, and one peer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "OWN", STUB)
        patch.setattr(engines, "PEERS", {"scipy": STRICT})
        yield


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, tiny_model_path: str, cli: Cli) -> tuple[Any, ...]:
    """The command of a finished run, which measures nothing again."""
    folder = tmp_path_factory.mktemp("measured")
    out = ("--tokenizer", tiny_model_path, "--out", folder / "rows.jsonl")
    command = ("bench", "schemas", "--data", write(folder), *out)
    assert cli(*command).code == 0
    return command


def found(path: Path) -> dict[str, Any]:
    """Name of each engine -> its figures."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    names = dict.fromkeys(row["engine"].partition(" ")[0] for row in rows)
    return {name: figures([row for row in rows if row["engine"].startswith(f"{name} ")]) for name in names}


def test_verdicts_are_counted(measured: tuple[Any, ...]) -> None:
    every = found(measured[-1])
    own, strict = every["numpy"], every["scipy"]
    counts = ("schemas", "accepted", "noted", "refused", "not_judged", "unnoted", "valid_refused")
    assert [own[name] for name in counts] == [5, 3, 1, 1, 2, 1, 1]
    assert [own[name] for name in ("invalid_accepted", "all_right", "all_right_checked")] == [2, 1, 2]
    assert own["reasons"] == {"ValueError: no grammar": 1} and own["notes"] == {"const": 1}
    assert (strict["valid_refused"], strict["invalid_accepted"]) == (5, 0)
    assert 0 < own["token_us"]["p50"] <= own["token_us"]["p99"] <= own["token_us"]["max"] and own["grammar_ms"]["mean"]


def test_tables_name_engines_machine_and_sample(cli: Cli, measured: tuple[Any, ...]) -> None:
    ran = cli(*measured, "--limit", 4, "--seed", 7)
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    for part in ("Schemas and instances", "Times", "What is refused", "4 of 5 schemas (seed 7)"):
        assert part in text
    assert " cores, " in text and "numpy " in text


def test_a_run_goes_on_behind_an_interrupt(
    cli: Cli, tmp_path: Path, tiny_model_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "rows.jsonl"
    command = ("bench", "schemas", "--data", write(tmp_path), "--tokenizer", tiny_model_path, "--peers", "")
    command = (*command, "--out", out)
    asked: list[str] = []
    real = Worker.ask

    def ask(worker: Worker, task: str) -> dict[str, Any]:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(task)
        return real(worker, task)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", ask)
        ran = cli(*command)
    assert ran.code == 130 and f"goes on behind what stands in {out}" in ran.err
    assert len(out.read_text().splitlines()) == 2
    with out.open("a") as file:
        file.write('{"id": "torn')
    assert cli(*command).code == 0
    whole = found(out)
    assert len(out.read_text().splitlines()) == 5
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", lambda *_: pytest.fail("measured again"))
        assert cli(*command).code == 0 and found(out) == whole


@pytest.mark.slow
def test_an_engine_that_hangs_or_dies_refuses(tiny_model_path: str) -> None:
    worker = Worker(STUB, tiny_model_path, 5)
    try:
        for way, reason in (("hang", "stopped after 5 s"), ("die", "its process died")):
            assert worker.ask(json.dumps({"schema": {way: True}, "tests": []})) == {"refused": reason}
            assert "verdicts" in worker.ask(json.dumps({"schema": {}, "tests": []}))
    finally:
        worker.close()


def test_what_cannot_be_used(
    cli: Cli, measured: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_bad(cli("bench", "schemas", "--data", tmp_path), "there is no folder ", "maskbench/data")
    (tmp_path / "maskbench" / "data").mkdir(parents=True)
    assert_bad(cli("bench", "schemas", "--data", tmp_path), "expected files of schemas, found none")
    monkeypatch.setattr(engines, "OWN", UNLOADABLE)
    ran = cli(*measured, "--peers", "", "--limit", 1)
    assert ran.code == 2 and "error: pydantic cannot be loaded" in ran.err and "TypeError: unknown" in ran.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Expecting property name"),
        ("[" * 100_000, "recursion"),
        ('{"tests": []}', "no 'schema'"),
        ('{"schema": {}, "tests": [{"valid": "yes", "data": 1}]}', "expected 'valid' to be true or false"),
        ('{"schema": {}, "tests": [{"valid": true}]}', "no 'data'"),
    ],
)
def test_a_malformed_file_is_named(cli: Cli, tmp_path: Path, tiny_model_path: str, content: str, message: str) -> None:
    folder = write(tmp_path, {"JME_1.json": content})
    ran = cli(
        "bench", "schemas", "--data", folder, "--tokenizer", tiny_model_path, "--peers", "", "--out", tmp_path / "o"
    )
    place = folder / "maskbench" / "data" / "JME_1.json"
    assert ran.code == 2 and ran.out == "" and "Traceback" not in ran.err
    assert f"error: {place}: this is no file of MaskBench: " in ran.err and message in ran.err


def test_peers_by_name(cli: Cli, measured: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "scipy" in cli(*measured).out and "scipy" not in cli(*measured, "--peers", "").out
    assert_bad(cli(*measured, "--peers", "luck"), "--peers: expected 'xgrammar' or 'llguidance'", "'luck'")
    assert get_args(PeerName) == tuple(PEERS)
    monkeypatch.setattr(engines, "PEERS", {"xgrammar": STRICT})
    monkeypatch.setattr(engines, "version", not_found)
    assert_bad(cli(*measured, "--peers", "xgrammar"), "xgrammar is not installed; pip install xgrammar")


def not_found(name: str) -> str:
    if name == "xgrammar":
        raise PackageNotFoundError
    return "1.0"


OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}
CASES: Sequence[tuple[Any, list[Any], list[Any]]] = [
    (OBJECT, [{"a": 12}, {"a": 1, "b": 'ü"x{'}, {"a": -3, "b": ""}], [{"a": "x"}, {}, [1]]),
    ({"type": "integer"}, [0, 12, -345], [1.5, "1", None]),
    ({"type": "array", "items": {"type": "boolean"}}, [[], [True, False]], [[1], True]),
    ({"type": "object", "additionalProperties": {"type": "null"}}, [{}, {"x": None}], [{"x": 0}]),
    ({"enum": ["one", "only"]}, ["one", "only"], ["on", "onlyx", 1]),
]


@pytest.mark.parametrize("engine", [OWN, *PEERS.values()], ids=lambda engine: engine.name)
def test_an_engine_judges(engine: Engine, tiny_model_path: str) -> None:
    if engine is not OWN:
        pytest.importorskip(engine.name)
    compiled, table = engine.load(tiny_model_path), TokenTable(load_tokenizer(tiny_model_path))
    for schema, valid, invalid in CASES:
        data = [(value, True) for value in valid] + [(value, False) for value in invalid]
        tests = [
            {"valid": right, "data": value, "tokens": table.encode_after(b"", json_line(value).encode())}
            for value, right in data
        ]
        found = measure(compiled, {"schema": schema, "tests": tests})
        assert found["verdicts"] == [{"valid": right, "accepted": right, "kept": right} for _, right in data]
        assert len(found["tokens"]) == sum(len(test["tokens"]) for test in tests if test["valid"])
        assert found["grammar"] > 0
    grammar = compiled(OBJECT)
    texts = {b"{": False, b'{"a": 1': False, b'{"a": 1}}': False, b'{"a": 1},': False}
    texts[b'{"a": 1, "c": [null]}'] = True  # keys that are not listed are allowed
    for text, right in texts.items():
        instance = grammar.start()
        taken = all(instance.take(token) for token in table.encode_after(b"", text))
        assert (taken and instance.complete()) == right
