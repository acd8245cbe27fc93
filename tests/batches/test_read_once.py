"""Rows that come once, from standard input: what a file shows beforehand shows when the row comes."""

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from batch_echo import Echo, Folder, row
from command_line import CASES, Ran, assert_bad


@pytest.fixture
def piped(folder: Folder, cli: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    def run(rows: Sequence[Any], *arguments: object) -> Ran:
        data = "".join(json.dumps(r) + "\n" for r in rows).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        out = ["--out", folder.out, "--tool-choice", "none", "--batch-size", 2]
        return cli("decode", "--batch", "-", *out, *arguments)

    return run


def ids(folder: Folder) -> list[Any]:
    return [r["id"] for r in folder.results()]


def test_goes_on(piped: Callable[..., Ran], folder: Folder, echo: Echo) -> None:
    rows = [row(n) for n in range(5)]
    echo.groups = 1
    assert piped(rows).code == 130 and ids(folder) == [0, 1]
    echo.groups = None
    assert "3 decoded, 2 skipped, 0 failed" in piped(rows).err
    assert "note: 4 results in" in (ran := piped(rows[:1])).err and "0 decoded, 1 skipped" in ran.err
    assert ids(folder) == [0, 1, 2, 3, 4]


def test_a_file_goes_on_behind_a_pipe_and_the_other_way_round(piped: Callable[..., Ran], folder: Folder) -> None:
    piped([row(1), row(2)])
    assert "1 decoded, 2 skipped" in folder.decode([row(1), row(2), row(3)]).err
    folder.refuses([row(1), row(2, "y")], said="row 2 (")
    assert "1 decoded, 3 skipped" in piped([row(n) for n in (4, 3, 2, 1)]).err


def test_two_rows_of_one_id(piped: Callable[..., Ran], folder: Folder) -> None:
    ran = piped([row(1), row(2), row(3), row(1, "y")])
    assert ran.code == 2 and "error: <stdin>:4: two rows of one id: 1 stands at <stdin>:1 already" in ran.err
    assert ids(folder) == [1, 2]


def test_a_changed_row(piped: Callable[..., Ran], folder: Folder) -> None:
    piped([row(1)])
    before = folder.results()
    ran = piped([row(2), row(3), row(1, "y"), row(4)])
    assert ran.code == 2 and "row 1 (<stdin>:3) has changed since its result was written; choose another" in ran.err
    assert ids(folder) == [1, 2, 3] and folder.results()[:1] == before


def test_another_template(piped: Callable[..., Ran], folder: Folder) -> None:
    piped([row(1)])
    ran = piped([row(1), row(2)], "--template", "api-bank")
    assert ran.code == 2 and "row 1 (<stdin>:1) was begun with the template raw, not api-bank" in ran.err
    assert ids(folder) == [1]


def test_other_settings_are_refused_before_anything_is_written(piped: Callable[..., Ran], folder: Folder) -> None:
    piped([row(1)])
    before = folder.files()
    for option in (["--seed", 1], ["--tools", CASES / "tools.jsonl"], ["--retry-failed"]):
        assert_bad(piped([row(1), row(2)], *option))
        assert folder.files() == before


def test_no_rows(piped: Callable[..., Ran], folder: Folder) -> None:
    assert_bad(piped([]), "<stdin>: expected rows, found none")
    assert folder.files() == {}


def test_a_template_that_does_not_fit_is_told_once_when_it_comes(piped: Callable[..., Ran], echo: Echo) -> None:
    tools = (CASES / "tools.jsonl").read_text()
    rows = [row(1), row(2), *({**row(n), "tools": tools} for n in range(3, 9))]
    assert piped(rows, "--format", "pythonic", "--template", "api-bank").err.count("the template api-bank asks") == 1


def test_a_pipe_by_name(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read once."""
    import os
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text('{"id": 1, "prompt": "x"}\n'))
    writer.start()
    folder.rows, folder.write = pipe, lambda rows: None  # type: ignore[method-assign]
    ran = folder.decode([])
    writer.join()
    assert ran.code == 0 and ids(folder) == [1]


def test_a_file_that_changes_while_it_is_read(folder: Folder, echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is not decoded under an id that stands for another one."""
    real = Echo.__call__

    def edits(self: Echo, *given: Any) -> Any:
        folder.write([row(1), row(2), row(3, "y" * 100_000), row(4)])
        return real(self, *given)

    rows = [row(1), row(2), *(row(n, "x" * 200_000) for n in (3, 4))]
    monkeypatch.setattr(Echo, "__call__", edits)
    ran = folder.decode(rows)
    assert ran.code == 2 and "has changed while it was read" in ran.err
    assert ids(folder) == [1, 2]
