"""Batches: bad rows are reported and the rest goes on; an interrupted run resumes where it stopped."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import CASES, Ran

TOOLS = (CASES / "tools.jsonl").read_text()
USER = [{"role": "User", "text": "Cancel table 7."}]


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., Path]:
    def write(*given: Any) -> Path:
        path = tmp_path / "rows.jsonl"
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in given))
        return path

    return write


@pytest.fixture
def decode(cli: Callable[..., Ran], tiny_model_path: str) -> Callable[..., Ran]:
    def run(batch: Path, *arguments: object) -> Ran:
        quick = ["--max-value-tokens", 4, "--order-limit", 2, "--tool-choice", "CancelTable", "--batch-size", 2]
        return cli("decode", "--model", tiny_model_path, "--batch", batch, *quick, *arguments)

    return run


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def row(identifier: Any) -> dict[str, Any]:
    return {"id": identifier, "dialogue": USER, "tools": TOOLS}


def test_bad_rows_are_reported_and_the_rest_goes_on(decode: Callable[..., Ran], rows: Callable[..., Path]) -> None:
    tools = [json.loads(line) for line in TOOLS.splitlines()]
    ran = decode(
        rows(
            {"id": "list", "dialogue": USER, "tools": tools},
            {"id": 2, "prompt": TOOLS + "\nCall: "},
            '{"id": "torn", ',
            {"id": "long", "prompt": TOOLS + " word" * 6000},
            {"id": "nothing"},
            {"id": "both", "prompt": "x", "dialogue": USER},
            {"id": "no tools", "dialogue": USER},
            {"id": "empty", "prompt": "", "tools": TOOLS},
            {"id": "twice", "prompt": "x", "tools": TOOLS + TOOLS},
            {"id": "no role", "dialogue": [{"text": "x"}], "tools": TOOLS},
            {"id": [1], "prompt": "x", "tools": TOOLS},
            {"prompt": "x", "tools": TOOLS},
        )
    )
    assert ran.code == 0, ran.err
    assert "3 decoded, 0 skipped, 9 failed" in ran.err
    results = read(ran.out)
    assert [r["id"] for r in results] == [
        "list", 2, results[2]["id"], "long", "nothing", "both", "no tools", "empty", "twice", "no role",
        results[10]["id"], results[11]["id"],
    ]  # fmt: skip
    assert all(re.fullmatch("row-[0-9a-f]{16}", results[n]["id"]) for n in (2, 10, 11))
    errors = {r["id"]: r["error"] for r in results if "error" in r}
    assert "calls" in results[0]
    assert "rows.jsonl:3:16: malformed JSON" in errors[results[2]["id"]]
    assert "too many" in errors["long"]
    assert "needs one of 'prompt', 'messages', 'dialogue', found only 'id'" in errors["nothing"]
    assert "found 'prompt' and 'dialogue'" in errors["both"]
    assert "no tools are given" in errors["no tools"]
    assert "not empty" in errors["empty"]
    assert "two tools of one name" in errors["twice"]
    assert "dialogue row 1" in errors["no role"]
    assert "got [1]" in errors[results[10]["id"]]


def test_hostile_rows_are_errors_of_their_own(decode: Callable[..., Ran], rows: Callable[..., Path]) -> None:
    deep = json.loads("[" * 800 + "]" * 800)
    surrogate = {"name": "CancelTable", "input_parameters": {"\ud800": {"type": "str"}}, "description": ""}
    ran = decode(
        rows(
            {"id": "prompt", "prompt": "\ud800", "tools": TOOLS},
            {"id": "key", "prompt": "x", "tools": [surrogate]},
            {"id": "deep", "dialogue": [{"role": "API", "api_name": "A", "param_dict": {"a": deep}}], "tools": TOOLS},
            '{"id": "deep line", "prompt": ' + "[" * 100_000,
            '{"id": "digits", "prompt": ' + "9" * 5000 + "}",
            row("good"),
        )
    )
    assert ran.code == 0, ran.err
    errors = [r.get("error", "") for r in read(ran.out)]
    expected = [
        "lone surrogate U+D800",
        "lone surrogate U+D800",
        "nested too deeply",
        "nested too deeply",
        "4300 digits",
    ]
    assert all(part in error for part, error in zip(expected, errors, strict=False))
    assert errors[-1] == ""


def test_out_in_a_missing_folder(decode: Callable[..., Ran], rows: Callable[..., Path], tmp_path: Path) -> None:
    ran = decode(rows(row("a")), "--out", tmp_path / "no" / "out.jsonl")
    assert ran.code == 2
    assert "cannot be written: there is no folder" in ran.err
    assert not (tmp_path / "no").exists()
