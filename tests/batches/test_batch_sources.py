"""Rows are the same rows wherever they come from; what is damaged is said in one line; nothing grows with the batch."""

import csv
import gzip
import io
import json
import re
import sys
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from batch_echo import Echo, Folder
from command_line import Cli, assert_bad
from tooldecoding.batches import batch
from tooldecoding.batches.decode_task import GROUP, RowReader
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.batches.sources import open_source
from tooldecoding.errors import PromptError
from tooldecoding.files import json_lines as json_lines_module
from tooldecoding.files import kept
from tooldecoding.options.decode_command import DecodeCommand
from tools import documented

TOOL = documented("weather", description='The weather, of "any" city', city={"type": "string"})
ROWS = [
    {"id": "a", "prompt": 'one,\n"two"', "tools": [TOOL]},
    {"id": "b", "messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL], "tool_choice": "auto"},
    {"id": "c", "dialogue": [{"role": "User", "text": "Cancel."}], "tools": [TOOL]},
    {"prompt": "no id", "tools": "weather(city: str)"},
    {"id": "e", "prompt": "é\u2028ü", "tool_choice": {"type": "function", "function": {"name": "weather"}}},
    {"id": "f", "messages": "[1"},
]
NESTED = ("messages", "dialogue", "tools", "tool_choice")


def as_text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value)


TEXTS = [{name: as_text(row.get(name)) for name in ("id", "prompt", *NESTED)} for row in ROWS]
"""With nested columns as JSON in texts."""


def written(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def comma_separated(folder: Path, _: pytest.MonkeyPatch) -> str:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, ["more", "id", "prompt", *NESTED])
        writer.writeheader()
        writer.writerows(TEXTS)
    return str(path)


def parquet_texts(folder: Path, _: pytest.MonkeyPatch) -> str:
    path = folder / "texts.parquet"
    parquet.write_table(pa.Table.from_pylist(TEXTS), path)
    return str(path)


def standard_input(folder: Path, patch: pytest.MonkeyPatch) -> str:
    lines = Path(written(folder / "rows.jsonl", ROWS)).read_bytes()
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    return "-"


def hub(folder: Path, patch: pytest.MonkeyPatch) -> str:
    import datasets

    stream = datasets.IterableDataset.from_generator(lambda: ({"more": "x"} | row for row in TEXTS))
    patch.setattr(datasets, "load_dataset", lambda *_, split, **__: {"train": stream} if split is None else stream)
    return "hub:some/data"


Make = Callable[[Path, pytest.MonkeyPatch], str]
SOURCES: list[Make] = [comma_separated, parquet_texts, standard_input, hub]


def read(name: str) -> list[Entry]:
    return list(entries(open_source(name)))


@pytest.mark.parametrize("make", SOURCES)
def test_every_source_gives_the_same_rows(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *found, bad = read(make(tmp_path, monkeypatch))
    *plain, _ = read(written(tmp_path / "rows.jsonl", ROWS))
    assert [(e.id, e.digest, e.content) for e in found] == [(e.id, e.digest, e.content) for e in plain]
    reader = RowReader(DecodeCommand(), None)
    assert [reader.read(e) for e in found] == [reader.read(e) for e in plain]
    with pytest.raises(PromptError, match=re.escape(bad.place)):
        reader.read(bad)


def test_nested_parquet_gives_the_same_rows(tmp_path: Path) -> None:
    """Structs of a table have all fields; those that are empty are none."""
    rows = [
        {"id": 1, "messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL]},
        {"id": 2, "messages": [{"role": "user", "name": "Ada", "content": "Hi"}]},
        {"id": 3, "dialogue": [{"role": "User", "text": ""}, {"role": "API", "api_name": "A", "param_dict": {"b": 1}}]},
    ]
    path = tmp_path / "nested.parquet"
    names = ("id", "messages", "dialogue", "tools")
    parquet.write_table(pa.table({n: [row.get(n) for row in rows] for n in names}), path)
    reader = RowReader(DecodeCommand(), None)
    nested = [reader.read(e) for e in read(str(path))]
    assert nested == [reader.read(e) for e in read(written(tmp_path / "rows.jsonl", rows))]
    assert open_source(str(path)).total == len(rows)


def test_ids_of_digits_are_texts_in_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(("id,prompt\n" + "".join(f"{n:04},{n}\n" for n in range(200))).encode()))
    found = [(e.id, e.columns) for e in read(str(path))]
    assert found == [(f"{n:04}", {"id": f"{n:04}", "prompt": str(n)}) for n in range(200)]


DAMAGED = {
    "rows.jsonl.gz": gzip.compress(b'{"prompt": "x"}\n')[:-5],
    "other.jsonl.gz": b"no gzip",
    "rows.parquet": b"PAR1 no Parquet",
    "rows.jsonl": '{"prompt": "x"}'.encode("utf-16"),
    "rows.csv": b"id;prompt\n1;x\n",
    "cells.csv": b"id,prompt\n1,x\n2,y,z\n",
    "long.jsonl": b'{"prompt": "' + b"x" * 1000 + b'"}\n',
    "bytes.csv": b"id,prompt\n1,\xff\n",
    "empty.jsonl": b"\n\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_error_before_anything_is_written(
    folder: Folder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines_module, "MAX_LINE_BYTES", 1000)
    folder.rows = folder.rows.with_name(name)
    folder.write = lambda rows: folder.rows.write_bytes(DAMAGED[name])  # type: ignore[method-assign]
    folder.refuses([], said=str(folder.rows))
    assert not folder.out.exists()


def test_a_split_must_be_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **__: {"train": [], "test": []})
    assert_bad(cli("decode", "--batch", "hub:a/b"), "as in hub:a/b:train; there are train, test")


@pytest.mark.parametrize(("most", "characters"), [(3, 1 << 20), (100, 1000)])
def test_what_is_kept_is_bounded_and_made_once(most: int, characters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CHARACTERS", characters)
    found: kept.Kept[int] = kept.Kept(most)
    texts = [f"{number:0250}" for number in range(50)]
    made = [found.of(text, lambda number=number: number) for number, text in enumerate(texts)]  # type: ignore[misc]
    assert made == [*range(50)] and len(found._made) == 3 + (characters == 1000)
    assert found.of(texts[-2], lambda: -1) == 48 and found.of(texts[0], lambda: -1) == -1


def test_a_batch_of_many_rows_holds_few_groups(folder: Folder, echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    count, size = 4_000, 32
    alive: set[int] = set()
    most = 0

    def follow(entry: Entry) -> Entry:
        nonlocal most
        alive.add(id(entry))
        weakref.finalize(entry, alive.discard, id(entry))
        most = max(most, len(alive))
        return entry

    real = batch.entries
    monkeypatch.setattr(batch, "entries", lambda source: map(follow, real(source)))
    rows = [{"prompt": "x", "tools": "f(a: int)"} if n % 2 else {"id": n, "prompt": "y"} for n in range(count)]
    ran = folder.decode(rows, "--batch-size", size)
    assert f"{count} decoded, 0 skipped" in ran.err
    assert f"0 decoded, {count} skipped" in folder.decode(rows, "--batch-size", size).err
    assert size <= most <= 3 * GROUP * size + 1
