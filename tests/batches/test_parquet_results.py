"""``--out OUT.parquet``: the table says what the JSON lines say; nothing is lost when a run breaks off."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from batch_echo import Echo, Folder, row
from tooldecoding.batches import parquet_results
from tooldecoding.batches.parquet_results import write_parquet
from tooldecoding.files.json_lines import json_line

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES |= st.lists(st.integers(), max_size=2) | st.dictionaries(st.text(), st.integers(), max_size=2)


@pytest.fixture
def table(folder: Folder) -> Folder:
    folder.out = folder.out.with_suffix(".parquet")
    return folder


def read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


def test_one_run_is_many_runs(table: Folder, echo: Echo) -> None:
    rows = [row(n, "bad" if n == 3 else f"p{n}") for n in range(7)]
    echo.refuse, echo.groups = "bad", 1
    assert table.decode(rows).code == 130 and not table.out.exists()
    echo.groups = None
    assert "4 decoded, 2 skipped, 1 failed" in table.decode(rows).err
    found = read(table.out)
    assert [r["id"] for r in found] == list(range(7))
    assert [r["error"] for r in found] == [None, None, None, "refused", None, None, None]
    assert all(json.loads(r["calls"]) == [] for r in found if r["calls"] is not None)
    echo.refuse = "nothing"
    assert "1 decoded, 6 skipped" in table.decode(rows, "--retry-failed").err
    assert all(r["text"] for r in read(table.out))


def test_a_foreign_table_is_not_touched(table: Folder) -> None:
    parquet.write_table(pa.table({"mine": [1]}), table.out)
    table.refuses([row(1)], said="out.parquet: expected results of this batch")
    table.out.write_text("notes")
    table.refuses([row(1)], said="out.parquet: expected results of this batch")


@given(st.lists(st.dictionaries(st.sampled_from(["text", "n", "more"]), VALUES), max_size=8))
def test_the_table_says_what_the_lines_say(rows: list[dict[str, Any]]) -> None:
    rows = [{"id": n, **r} for n, r in enumerate(rows)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_results, "_AT_ONCE", 3)
        lines, out = Path(folder, "lines"), Path(folder, "out.parquet")
        lines.write_text("".join(json_line(r) + "\n" for r in rows))
        write_parquet(lines, out)
        schema, found = parquet.read_schema(out), read(out)
    for name in schema.names:
        whole = [r.get(name) for r in rows]
        plain = {type(v) for v in whole if v is not None} <= {str} or not pa.types.is_string(schema.field(name).type)
        got = [r[name] if plain or r[name] is None else json.loads(r[name]) for r in found]
        assert got == whole and (plain or [type(a) for a in got] == [type(b) for b in whole])
