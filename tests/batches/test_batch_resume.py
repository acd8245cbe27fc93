"""``--out`` never lies: whatever is changed, removed, broken off or killed, it ends as one run or in an error.

What it refuses, repairs, decodes again and keeps; no file that is not its own is touched.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import pytest
import typer
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batch_echo import Echo, Folder, row, said
from command_line import CASES, Cli
from tooldecoding.batches.decode_rows import GROUP
from tooldecoding.batches.row_sources import open_source
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.cli.decode import decode
from tooldecoding.errors import PromptError
from tooldecoding.files.result_file import ResultFile
from tooldecoding.models.sources import FILES
from tooldecoding.options.parsed_arguments import ParsedArguments


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--format", "pythonic"], "begun with format 'auto', not 'pythonic'"),
        (["--order-limit", 12], "begun with order_limit 4, not 12"),
        (["--template", "api-bank"], "begun with template 'auto', not 'api-bank'"),
        (["--unknown-keys", "required"], "begun with unknown_keys 'optional', not 'required'"),
        (["--tools", CASES / "tools.jsonl"], "this batch was begun with tools None, not '"),
        (["--seed", 1, "--order-limit", 12], "order_limit 4, not 12; with seed 0, not 1; choose another --out"),
    ],
)
def test_another_setting_is_refused(folder: Folder, option: list[object], said: str) -> None:
    assert folder.decode([row(1)]).code == 0
    folder.refuses([row(1), row(2)], *option, said=said)


def test_changed_rows_are_named_and_another_model_and_a_missing_folder_refused(folder: Folder, echo: Echo) -> None:
    folder.decode([row(1), row("b"), row("c")])
    changed = [row(1), row(0), row("b", "y"), row("c", "y")]
    folder.refuses(changed, said="rows.jsonl:3) has changed since its result was written; choose another --out, or")
    setattr(echo.model, FILES, "others")
    folder.refuses([row(1)], said="this batch was begun with weights")
    ran = folder.decode([row(1)], out=folder.out.parent / "no" / "out.jsonl")
    assert ran.code == 2 and "cannot be written: there is no folder" in ran.err
    assert not (folder.out.parent / "no").exists()
    assert "error: /: expected a file" in folder.decode([row(1)], out=Path("/")).err


def test_failed_rows_are_decoded_again_on_demand(folder: Folder, echo: Echo) -> None:
    rows = [row(1), row(2, "bad 2"), row(3), row(4, "bad 4")]
    echo.refuse = "bad"
    folder.decode(rows)
    ran = folder.decode(rows)
    assert "0 decoded, 4 skipped, 0 failed" in ran.err
    assert "note: 2 of the skipped rows had failed; --retry-failed decodes them again" in ran.err
    folder.refuses([*rows[:3], row(4, "good")], said="--retry-failed decodes again what had failed; or")
    echo.prompts.clear()
    echo.refuse = "bad 2"
    ran = folder.decode([*rows[:3], row(4, "good")], "--retry-failed")
    assert "1 decoded, 2 skipped, 1 failed" in ran.err and "note" not in ran.err
    assert echo.prompts == ["good"]
    results = {r["id"]: r.get("text", r.get("error")) for r in folder.results()}
    assert results == {1: said("x"), 2: f"{folder.rows}:2: refused", 3: said("x"), 4: said("good")}
    assert len(folder.results()) == 4


def test_two_rows_of_one_id(folder: Folder) -> None:
    """What was decoded before stays."""
    ran = folder.decode([*map(row, range(1, GROUP + 2)), row(1, "y")], "--batch-size", 1)
    assert ran.code == 2 and f"rows.jsonl:{GROUP + 2}: two rows of one id: a row before it is called 1" in ran.err
    assert {r["id"] for r in folder.results()} == {*range(1, GROUP + 1)}


def test_two_processes_do_not_write_one_file(folder: Folder, tmp_path: Path, echo: Echo) -> None:
    folder.decode([row(1)])
    with FileLock(tmp_path / "out.jsonl.lock"):
        folder.refuses([row(1), row(2)], said="out.jsonl: another process is writing to this file; wait for it")
        (tmp_path / "elsewhere").mkdir()
        link = tmp_path / "elsewhere" / "link.jsonl"
        link.symlink_to(folder.out)
        assert folder.decode([row(1), row(2)], out=link).code == 2
    assert echo.prompts == ["x"]
    assert folder.decode([row(1), row(2)], out=link).code == 0
    assert [r["id"] for r in folder.results()] == [1, 2]


MANIFEST = "out.jsonl.manifest.json"
NO_RESULTS = ("my notes", '{"id": 1, "prompt": "x"}\n', "[]\n", '{"id": 1, "calls": []}\n', "é\n")


@pytest.mark.parametrize(
    ("name", "begun", "content", "said"),
    [
        *(("out.jsonl", False, each, "out.jsonl") for each in ("my notes", '{"id": 1, "digest": "", "calls": []}\n')),
        *((MANIFEST, False, each, MANIFEST) for each in ("notes", "{}", '{"format": "tooldecoding batch 3"}')),
        *(("out.jsonl", True, each, "out.jsonl:1: this line is no result") for each in NO_RESULTS),
    ],
)
def test_what_is_not_ours_is_not_touched(folder: Folder, name: str, begun: bool, content: str, said: str) -> None:
    if begun:
        folder.decode([row(1)])
    folder.out.with_name(name).write_text(content, encoding="latin-1")
    folder.refuses([row(1), row(2)], said=said)


PLAIN, FIRST = {"prompt": "a"}, row(1, "b")
ROWS = [PLAIN, PLAIN, {"prompt": "b"}, FIRST, row(1, "c"), row(2, "c"), row("1", "a")]
rows_without_twins = st.lists(
    st.integers(0, len(ROWS) - 1), min_size=1, unique_by=lambda number: ROWS[number].get("id", f"row {number}")
).map(lambda numbers: [ROWS[number] for number in numbers])


@dataclass(frozen=True)
class Step:
    """Rows, perhaps another setting, and a run that breaks off after some rows and loses some bytes, or is killed.

    ``killed`` is the number of the write in whose middle it is; 0 for none.
    """

    wanted: list[dict[str, Any]]
    order_limit: int
    rows: int | None = None
    torn: int = 0
    killed: int = 0


steps = st.lists(
    st.builds(
        Step,
        rows_without_twins,
        st.sampled_from([12, 12, 12, 4]),
        st.sampled_from([None, 0, 1, 2, 3]),
        st.just(0) | st.integers(1, 90),
        st.just(0) | st.integers(1, 6),
    ),
    max_size=5,
)


def whole_results(folder: Folder) -> tuple[bytes, list[tuple[str | int, str]]]:
    """What stands in the file, and the ids and texts of the results that are whole."""
    data = folder.out.read_bytes() if folder.out.exists() else b""
    return data, [(result["id"], result["text"]) for result in map(json.loads, data.split(b"\n")[:-1])]


INTERRUPTED, KILLED = 130, 137


class Killed(BaseException):
    """What ends a process in the middle of a write; only files outlive it."""


@pytest.fixture
def run(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> Callable[[Folder, Step], int]:
    """Returns the exit code of ``decode``, without the time that reading a command line takes."""
    left = 0

    def killing(write: Callable[..., Any]) -> Callable[..., Any]:
        """A write that may be killed: a file stays where it is, or half of what is appended is there."""

        def killed(*given: Any) -> Any:
            nonlocal left
            left -= 1
            if left:
                return write(*given)
            if write is append:
                append(*given[:-1], given[-1][: len(given[-1]) // 2])
            raise Killed

        return killed

    append = ResultFile._append
    monkeypatch.setattr(ResultFile, "_append", killing(append))
    monkeypatch.setattr(Path, "replace", killing(Path.replace))

    def run(folder: Folder, step: Step) -> int:
        nonlocal left
        echo.rows, left = step.rows, step.killed
        folder.write(step.wanted)
        quick = {"tool_choice": "none", "batch_size": 2, "order_limit": step.order_limit}
        try:
            decode(ParsedArguments({"batch": str(folder.rows), "out": str(folder.out), **quick}))
        except typer.Exit as stop:
            return stop.exit_code
        except PromptError:
            return 2
        except Killed:
            return KILLED
        return 0

    return run


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_interleaving_ends_as_one_run(run: Callable[[Folder, Step], int], cli: Cli, history: list[Step]) -> None:
    """Results are right or the run is refused; nothing finished is lost or doubled; the end is that of one run."""
    with TemporaryDirectory() as path:
        folder = Folder(Path(path), cli)
        rows, limit = [PLAIN, PLAIN, FIRST], 12
        for given_step in [*history, Step([], 0)]:
            step = replace(given_step, wanted=given_step.wanted or rows, order_limit=given_step.order_limit or limit)
            before, stood = whole_results(folder)
            code = run(folder, step)
            after, results = whole_results(folder)
            standing, expected = dict(stood), texts(step.wanted, step.order_limit)
            if standing and step.order_limit != limit:
                assert code == 2 and after == before
                continue
            assert len(dict(results)) == len(results)
            assert standing.items() <= dict(results).items()
            assert code != INTERRUPTED or len(results) == len(standing) + (step.rows or 0)
            assert all(expected[i] == text for i, text in results if i not in standing)
            differs = any(standing.get(i, text) != text for i, text in expected.items())
            broken = (code == INTERRUPTED and step.rows is not None) or (code == KILLED and step.killed > 0)
            assert broken or code == (2 if differs else 0)
            if code == 2:
                continue
            assert broken or expected.items() <= dict(results).items()
            rows, limit = step.wanted, step.order_limit
            folder.out.write_bytes(after[: len(after) - step.torn] if code == INTERRUPTED else after)


def texts(rows: Sequence[dict[str, Any]], order_limit: int) -> dict[str | int, str]:
    """Id -> what one run writes for a row."""
    read = read_entries(map(json.dumps, rows))
    return {r.id: said(given["prompt"], order_limit) for r, given in zip(read, rows, strict=True)}


def read_entries(lines: Iterable[str]) -> list[Entry]:
    with NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(lines))
        file.flush()
        return list(entries(open_source(file.name)))


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=8),
    st.integers(0, 5),
    st.sampled_from(["d", "[", "{}"]),
)
def test_an_inserted_line_renames_no_other(contents: list[str], place: int, inserted: str) -> None:
    """Equal rows count; the layout of a line does not."""
    lines = [json.dumps({"prompt": c, "more": 1}) for c in contents]
    plain = [r.id for r in read_entries(lines)]
    assert len(set(plain)) == len(plain)
    more = [r.id for r in read_entries([*lines[:place], "", inserted, *lines[place:]])]
    where = min(place, len(lines))
    assert more[:where] + more[where + 1 :] == plain
    other_layout = (f'{{  "more":1, "prompt":{json.dumps(c)} }}' for c in contents)
    assert [r.id for r in read_entries(other_layout)] == plain
