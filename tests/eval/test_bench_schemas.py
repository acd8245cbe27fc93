"""``tooldecoding bench schemas``: verdicts by split, rows that a run goes on from, engines that hang or die."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

import eval.schemas.engines as engines
from command_line import Ran, assert_bad
from eval.commands.bench_schemas import PeerName
from eval.schemas.rows import split_of
from eval.schemas.run import measure
from eval.schemas.worker import Worker
from stub_engines import Hanging, Strict, Stub, Unloadable

Cli = Callable[..., Ran]
REAL_PEERS = tuple(engines.PEERS)
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
        (data / name).write_text(json.dumps(content))
    return folder / "checkout"


@pytest.fixture(autouse=True)
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stub in the place of our engine, and one peer."""
    monkeypatch.setattr(engines, "OWN", Stub)
    monkeypatch.setattr(engines, "PEERS", {"llguidance": Strict})


@pytest.fixture
def command(tmp_path: Path, tiny_model_path: str) -> tuple[Any, ...]:
    return ("bench", "schemas", "--data", write(tmp_path), "--tokenizer", tiny_model_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, tiny_model_path: str, cli: Cli) -> tuple[Any, ...]:
    """The command of a finished run, which measures nothing again."""
    folder = tmp_path_factory.mktemp("measured")
    out = ("--tokenizer", tiny_model_path, "--out", folder / "rows.jsonl")
    command = ("bench", "schemas", "--data", write(folder), *out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "OWN", Stub)
        patch.setattr(engines, "PEERS", {"llguidance": Strict})
        assert cli(*command).code == 0
    return command


def figures(ran: Ran) -> dict[str, Any]:
    """Name of each engine -> its figures."""
    assert ran.code == 0, ran.err
    return {label.partition(" ")[0]: found for label, found in json.loads(ran.out)["engines"].items()}


def test_verdicts_are_counted_by_split(cli: Cli, measured: tuple[Any, ...]) -> None:
    found = figures(cli(*measured, "--json"))
    own, strict = found["stub"], found["llguidance"]
    counts = ("schemas", "accepted", "noted", "refused", "not_judged", "unnoted", "right", "valid_refused")
    assert [own[name] for name in counts] == [5, 3, 1, 1, 2, 1, 5, 1]
    checked = (
        "invalid_accepted",
        "all_right",
        "all_right_checked",
        "valid_refused_checked",
        "invalid_accepted_checked",
    )
    assert [own[name] for name in checked] == [2, 1, 2, 1, 1]
    assert own["reasons"] == {"ValueError: no grammar": 1} and own["notes"] == {"const": 1}
    assert [(n, s["right"], s["valid_refused"], s["invalid_accepted"]) for n, s in own["splits"].items()] == [
        ("BFCL", 2, 0, 2),
        ("Github_easy", 2, 1, 0),
        ("JME", 1, 0, 0),
    ]
    assert (strict["valid_refused"], strict["invalid_accepted"]) == (4, 0)


def test_tables_name_engines_machine_and_sample(cli: Cli, measured: tuple[Any, ...]) -> None:
    ran = cli(*measured, "--limit", 4, "--seed", 7)
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    for part in ("Schemas and instances", "Times", "By split", "Why there is no grammar"):
        assert part in text
    assert "4 of 5 schemas (seed 7); tokenizer " in text and " cores, " in text and "stub " in text


def test_times_are_of_the_tokens_of_valid_instances(cli: Cli, measured: tuple[Any, ...]) -> None:
    own = figures(cli(*measured, "--json"))["stub"]
    lines = map(json.loads, measured[-1].read_text().splitlines())
    rows = {row["id"].partition("/")[2]: row for row in lines if row["engine"].startswith("stub")}
    assert rows["Github_easy---o1.json"]["wrong"][0]["refused_at"] in '{"a": '  # up to the first token
    whole = len(rows["JME_3.json"]["tokens"])
    assert own["tokens"] == 3 * whole + 1
    assert rows["JME_3.json"]["search"] == [1000]
    assert own["search_us"]["max"] == 1 and own["token_us"]["p50"] <= own["token_us"]["max"]


def test_a_run_goes_on_behind_an_interrupt(
    cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "new" / "rows.jsonl"
    command = (*command, "--peers", "", "--out", out, "--json")
    asked: list[str] = []
    real = Worker.ask

    def ask(worker: Worker[Any], task: str) -> dict[str, Any]:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(task)
        return real(worker, task)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", ask)
        ran = cli(*command)
    assert ran.code == 130 and f"goes on behind what stands in {out}" in " ".join(ran.err.split())
    assert len(out.read_text().splitlines()) == 2
    with out.open("a") as file:
        file.write('{"id": "torn')
    whole = figures(cli(*command))
    assert len(out.read_text().splitlines()) == 5
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", lambda *_: pytest.fail("measured again"))
        assert figures(cli(*command)) == whole


def test_other_settings_go_into_another_file(cli: Cli, measured: tuple[Any, ...]) -> None:
    ran = cli(*measured, "--time-limit", 31)
    assert_bad(ran, "this run was begun with time_limit 60.0, not 31.0; choose another --out")


@pytest.mark.slow
def test_a_larger_sample_holds_the_smaller_one(cli: Cli, command: tuple[Any, ...], tmp_path: Path) -> None:
    command = (*command, "--peers", "", "--out", tmp_path / "rows.jsonl", "--json")
    ids = []
    for limit in (2, 0):
        assert json.loads(cli(*command, "--limit", limit).out)["sample"]["schemas"] == (limit or len(FILES))
        ids.append([json.loads(line)["id"] for line in (tmp_path / "rows.jsonl").read_text().splitlines()])
    assert ids[1][:2] == ids[0] and len(set(ids[1])) == len(FILES)


@pytest.mark.slow
def test_an_engine_that_hangs_or_dies_refuses(tiny_model_path: str) -> None:
    worker = Worker(Hanging, measure, tiny_model_path, 0.5)
    try:
        assert "verdicts" in worker.ask(json.dumps({"schema": {}, "tests": []}))
        reasons = [worker.ask(json.dumps({"schema": {way: True}, "tests": []})) for way in ("hang", "die", "exit")]
        assert reasons == [
            {"refused": "stopped after 0.5 s"},
            {"refused": "its process died (SIGABRT)"},
            {"refused": "its process died (exit code 101)"},
        ]
        assert "verdicts" in worker.ask(json.dumps({"schema": {}, "tests": []}))
    finally:
        worker.close()


def test_an_engine_that_cannot_be_loaded(
    cli: Cli, command: tuple[Any, ...], tiny_model_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "OWN", Unloadable)
    ran = cli(*command, "--peers", "")
    assert ran.code == 2 and "Traceback" not in ran.err
    assert "error: unloadable cannot be loaded" in ran.err and "TypeError: unknown vocabulary" in ran.err


def test_data_that_cannot_be_used(cli: Cli, tmp_path: Path) -> None:
    assert_bad(cli("bench", "schemas", "--data", tmp_path), "there is no folder ", "maskbench/data")
    (tmp_path / "maskbench" / "data").mkdir(parents=True)
    assert_bad(cli("bench", "schemas", "--data", tmp_path), "expected files of schemas, found none")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "malformed JSON"),
        ("[" * 100_000, "malformed JSON"),
        ('{"tests": []}', "expected 'schema', found none"),
        ('{"schema": {}, "tests": [{"valid": "yes", "data": 1}]}', "expected 'tests.0.valid' to be a valid boolean"),
        ('{"schema": {}, "tests": [{"valid": true}]}', "expected 'tests.0.data', found none"),
    ],
)
def test_a_malformed_file_is_named(cli: Cli, tmp_path: Path, tiny_model_path: str, content: str, message: str) -> None:
    folder = write(tmp_path, {})
    (folder / "maskbench" / "data" / "JME_1.json").write_text(content)
    ran = cli("bench", "schemas", "--data", folder, "--tokenizer", tiny_model_path, "--peers", "")
    assert ran.code == 2 and ran.out == "" and "Traceback" not in ran.err
    assert f"error: {folder / 'maskbench' / 'data' / 'JME_1.json'}: {message}" in ran.err


def test_peers_by_name(cli: Cli, measured: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(figures(cli(*measured, "--json"))) == ["stub", "llguidance"]
    assert list(figures(cli(*measured, "--peers", "", "--json"))) == ["stub"]
    assert_bad(cli(*measured, "--peers", "luck"), "--peers: expected 'llguidance', 'xgrammar' or 'outlines'", "'luck'")
    monkeypatch.setattr(Strict, "package", "no-such-package")
    assert_bad(cli(*measured, "--peers", "llguidance"), "llguidance is not installed; pip install no-such-package")
    assert list(figures(cli(*measured, "--json"))) == ["stub"]  # by default those that are installed


def test_the_names_of_peers_are_those_of_the_engines() -> None:
    assert get_args(PeerName) == REAL_PEERS


@pytest.mark.parametrize(
    ("name", "split"),
    [("BFCL_simple_12", "BFCL"), ("JME_3", "JME"), ("Github_easy---o10_2", "Github_easy"), ("MCPspec---a", "MCPspec")],
)
def test_splits(name: str, split: str) -> None:
    assert split_of(Path(f"{name}.json")) == split
