"""``tooldecoding bench schemas``: verdicts, rows that a run goes on from, engines that hang or die."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import eval.bench.schemas as engines
from command_line import Cli
from data import rows
from eval.bench.schemas import LOADERS, Compile, SchemaGrammar, Take, Worker, measure, read_sample
from eval.bench.tables import verdicts
from eval.errors import EvalError
from eval.options import PEER_METHODS
from eval_data import write_files
from tooldecoding.files.json_lines import json_line
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable


def load_stub(tokenizer: str) -> Compile:
    """Allows every instance with up to ``maxTokens`` tokens of its schema; the check after decoding knows ``const``."""
    assert Path(tokenizer).is_dir()
    return _compiled


def _compiled(schema: Any) -> SchemaGrammar:
    if schema.get("refuse"):
        raise ValueError("no grammar\nof this")

    def start() -> Take:
        left = iter(range(schema.get("maxTokens", 1000)))
        return lambda token: token is None or next(left, None) is not None

    notes = ["const"] if "const" in schema else []
    return SchemaGrammar(start, lambda value: bool(value == schema.get("const", value)), lambda: notes)


def load_strict(tokenizer: str) -> Compile:
    """Refuses everything."""
    return lambda schema: SchemaGrammar(lambda: lambda token: token is not None)


BOTH = [{"valid": True, "data": {"a": 1}}, {"valid": False, "data": {"a": "two", "bb": [1, 2, 3]}}]
FILES: Mapping[str, Any] = {
    "BFCL_simple_1.json": {"schema": {}, "tests": BOTH},  # the invalid one is accepted, and nothing was noted
    "BFCL_java_2.json": {"schema": {"const": {"a": 1}}, "tests": BOTH},  # noted, and found by the check
    "Github_easy---o1.json": {"schema": {"maxTokens": 0}, "tests": [*BOTH, BOTH[1]]},  # the valid one is refused
    "Github_easy---o2.json": {"schema": {"refuse": True}, "tests": BOTH},
    "JME_3.json": {"schema": {"maxTokens": 999}, "tests": BOTH[:1]},
}


def version(name: str) -> str:
    if name == "llguidance":
        raise PackageNotFoundError
    return "1.0"


@pytest.fixture(scope="module", autouse=True)
def stubs() -> Iterator[None]:
    """A stub in the place of our engine, and one peer; the other is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "OWN", "numpy")
        patch.setattr(engines, "LOADERS", {"numpy": load_stub, **dict.fromkeys(PEER_METHODS, load_strict)})
        patch.setattr(engines, "version", version)
        patch.setattr("eval.bench.schemas.get_context", lambda _: get_context("fork"))  # a fresh process takes seconds
        yield


@pytest.fixture
def command(tmp_path: Path, tiny_model_path: str) -> tuple[Any, ...]:
    write_files(tmp_path / "maskbench" / "data", FILES)
    place = ("--data", tmp_path, "--tokenizer", tiny_model_path, "--out", tmp_path / "rows.jsonl")
    return ("bench", "schemas", *place)


def found(path: Path) -> dict[str, list[str]]:
    """Name of each engine -> its counts."""
    every = rows(path)
    names = dict.fromkeys(row["engine"].partition(" ")[0] for row in every)
    return {n: list(verdicts([row for row in every if row["engine"].startswith(f"{n} ")]).values()) for n in names}


def test_a_run_goes_on_behind_an_interrupt(
    cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, command = tmp_path / "rows.jsonl", (*command, "--seed", 7)
    real, left = Worker.ask, [2]

    def ask(worker: Worker, task: Mapping[str, Any]) -> dict[str, Any]:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(worker, task)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", ask)
        ran = cli(*command)
    assert ran.code == 130 and f"goes on behind what stands in {out}" in ran.err
    assert len(out.read_text().splitlines()) == 2
    with out.open("a") as file:
        file.write('{"id": "torn')
    assert cli(*command).code == 0
    # schemas, accepted, noted, refused, all right, with check, valid refused, invalid accepted, unnoted, not judged
    assert found(out) == {
        "numpy": ["5", "3", "1", "1", "20.0", "40.0", "1", "2", "1", "2"],
        "xgrammar": ["5", "5", "0", "0", "0.0", "0.0", "5", "0", "0", "0"],
    }
    monkeypatch.setattr(Worker, "__init__", lambda *_: pytest.fail("measured again"))
    ran = cli(*command, "--limit", 4, "--peers", "")
    text = " ".join(ran.out.split())
    for part in ("Schemas and instances", "Times", "not enforced", "4 of 5 schemas (seed 7)", " cores, ", "numpy "):
        assert part in text, ran
    assert "xgrammar" not in text


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
def test_a_malformed_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(EvalError, match=f"a.json: this is no file of MaskBench: .*{message}"):
        read_sample(tmp_path / "a.json")


OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}
CASES: Sequence[tuple[Any, list[Any], list[Any]]] = [
    (OBJECT, [{"a": 12}, {"a": 1, "b": 'ü"x{'}, {"a": -3, "b": ""}], [{"a": "x"}, {}, [1]]),
    ({"type": "integer"}, [0, 12, -345], [1.5, "1", None]),
    ({"type": "array", "items": {"type": "boolean"}}, [[], [True, False]], [[1], True]),
    ({"type": "object", "additionalProperties": {"type": "null"}}, [{}, {"x": None}], [{"x": 0}]),
    ({"enum": ["one", "only"]}, ["one", "only"], ["on", "onlyx", 1]),
]


@pytest.mark.parametrize("name", LOADERS)
def test_an_engine_judges(name: str, tiny_model_path: str) -> None:
    pytest.importorskip(name)
    compiled, table = LOADERS[name](tiny_model_path), TokenTable(load_tokenizer(tiny_model_path))
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
