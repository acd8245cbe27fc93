"""``--out`` never lies: whatever is inserted, changed, removed or broken off, it ends as one run or in an error."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batch_echo import Echo, Folder, row, said
from command_line import Cli
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.batches.sources import open_source
from tooldecoding.cli.decode import decode
from tooldecoding.errors import PromptError
from tooldecoding.options.given import Given

PLAIN, FIRST = {"prompt": "a"}, row(1, "b")
ROWS = [PLAIN, PLAIN, {"prompt": "b"}, FIRST, row(1, "c"), row(2, "c"), row("1", "a")]
rows_without_twins = st.lists(
    st.integers(0, len(ROWS) - 1), min_size=1, unique_by=lambda number: ROWS[number].get("id", f"row {number}")
).map(lambda numbers: [ROWS[number] for number in numbers])


@dataclass(frozen=True)
class Step:
    """Rows, perhaps another setting, and a run that breaks off after some rows and loses some bytes."""

    wanted: list[dict[str, Any]]
    order_limit: int
    rows: int | None
    torn: int


steps = st.lists(
    st.builds(
        Step,
        rows_without_twins,
        st.sampled_from([12, 12, 12, 4]),
        st.sampled_from([None, 0, 1, 2, 3]),
        st.just(0) | st.integers(1, 90),
    ),
    max_size=5,
)


def whole_results(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n")[:-1]:
        yield json.loads(line)


def run(folder: Folder, order_limit: int) -> int:
    """The exit code of ``decode``, without the time that reading a command line takes."""
    try:
        quick = {"tool_choice": "none", "batch_size": 2, "order_limit": order_limit}
        decode(Given({"batch": str(folder.rows), "out": str(folder.out), **quick}))
    except typer.Exit as stop:
        return stop.exit_code
    except PromptError:
        return 2
    return 0


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_interleaving_ends_as_one_run(echo: Echo, cli: Cli, history: list[Step]) -> None:
    """Results are right or the run is refused; nothing finished is lost or doubled; the end is that of one run."""
    with TemporaryDirectory() as path:
        folder = Folder(Path(path), cli)
        rows, limit = [PLAIN, PLAIN, FIRST], 12
        for step in [*history, Step([], 0, None, 0)]:
            wanted = step.wanted or rows
            before = folder.out.read_bytes() if folder.out.exists() else b""
            standing = {r["id"]: r["text"] for r in whole_results(before)}
            wanted_limit = step.order_limit or limit
            echo.rows = step.rows
            folder.write(wanted)
            code = run(folder, wanted_limit)
            after = folder.out.read_bytes() if folder.out.exists() else b""
            expected = texts(wanted, wanted_limit)
            if standing and wanted_limit != limit:
                assert code == 2 and after == before
                continue
            results = [(r["id"], r["text"]) for r in whole_results(after)]
            assert len(dict(results)) == len(results)
            assert standing.items() <= dict(results).items()
            assert code != 130 or len(results) == len(standing) + (step.rows or 0)
            assert all(expected[i] == text for i, text in results if i not in standing)
            differs = any(standing.get(i, text) != text for i, text in expected.items())
            assert code in ((2,) if differs else (0,)) or (code == 130 and step.rows is not None)
            if code == 2:
                continue
            assert code == 130 or expected.items() <= dict(results).items()
            rows, limit = wanted, wanted_limit
            folder.out.write_bytes(after[: len(after) - step.torn] if code == 130 else after)


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
