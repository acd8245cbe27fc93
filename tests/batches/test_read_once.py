"""Rows that come once, from standard input: what a file shows beforehand shows when the row comes."""

import io
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from batch_echo import Echo, Folder, row
from command_line import Ran


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


def test_a_file_goes_on_behind_a_pipe_and_the_other_way_round(piped: Callable[..., Ran], folder: Folder) -> None:
    piped([row(1), row(2)])
    assert "1 decoded, 2 skipped" in folder.decode([row(1), row(2), row(3)]).err
    folder.refuses([row(1), row(2, "y")], said="row 2 (")
    assert "1 decoded, 3 skipped" in piped([row(n) for n in (4, 3, 2, 1)]).err


def test_two_rows_of_one_id(piped: Callable[..., Ran], folder: Folder) -> None:
    ran = piped([row(1), row(2), row(3), row(1, "y")])
    assert ran.code == 2 and "error: <stdin>:4: two rows of one id: 1 stands at <stdin>:1 already" in ran.err
    assert ids(folder) == [1, 2]


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
