"""Rows are the same rows wherever they come from; what is damaged is said in one line; nothing grows with the batch."""

import gzip
import io
import json
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from batch_echo import Echo, Folder
from command_line import Cli, assert_bad
from tooldecoding.batches.decode_rows import GROUP, RowReader
from tooldecoding.batches.row_sources import open_source
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.cli import batch
from tooldecoding.errors import PromptError
from tooldecoding.files import json_lines as json_lines_module
from tooldecoding.files.lru_cache import LruCache
from tooldecoding.options.decode_command import DecodeCommand
from tools import documented

TOOL = documented("weather", description='The weather, of "any" city', city={"type": "string"})
CANCEL = [{"role": "User", "text": "Cancel."}]
ROWS = [
    {"id": "a", "prompt": 'one,\n"two"', "tools": [TOOL]},
    {"id": "b", "messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL], "tool_choice": "auto"},
    {"id": "c", "dialogue": CANCEL, "tools": [TOOL]},
    {"prompt": "no id", "tools": "weather(city: str)"},
    {"id": "e", "prompt": "é\u2028ü", "tool_choice": {"type": "function", "function": {"name": "weather"}}},
    {"id": "f", "messages": "[1"},
]
COLUMNS = ("id", "prompt", "messages", "dialogue", "tools", "tool_choice")


TEXTS = [
    {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
    for row in ROWS
]
"""With nested columns as JSON in texts."""


def written(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def sources(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same rows as CSV, Parquet, on standard input, and on the hub."""
    import datasets

    table = pd.DataFrame(TEXTS, columns=["more", *COLUMNS], dtype=object).fillna({"more": "x"})
    table.to_csv(folder / "rows.csv", index=False, encoding="utf-8-sig")
    yield str(folder / "rows.csv")
    table.to_parquet(folder / "texts.parquet")
    yield str(folder / "texts.parquet")
    lines = Path(written(folder / "rows.jsonl", ROWS)).read_bytes()
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    yield "-"
    stream = datasets.IterableDataset.from_generator(lambda: ({"more": "x"} | row for row in TEXTS))
    patch.setattr(datasets, "load_dataset", lambda *_, split, **__: {"train": stream} if split is None else stream)
    yield "hub:some/data"


def read(name: str) -> list[Entry]:
    return list(entries(open_source(name)))


def test_every_source_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *plain, _ = read(written(tmp_path / "plain.jsonl", ROWS))
    reader = RowReader(DecodeCommand(), None)
    for source in sources(tmp_path, monkeypatch):
        *found, bad = read(source)
        assert [(e.id, e.digest) for e in found] == [(e.id, e.digest) for e in plain]
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


def test_a_value_that_python_cannot_hold_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "far.parquet"
    parquet.write_table(pa.table({"tools": pa.array([None, 10**17], pa.timestamp("ms")), "prompt": ["a", "b"]}), path)
    with pytest.raises(PromptError, match=r"far.parquet: cannot be read: "):
        read(str(path))


def test_ids_of_digits_are_texts_in_a_long_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(("id,prompt\n" + "".join(f"{n:04},{n}\n" for n in range(200))).encode()))
    found = [(e.id, e.columns) for e in read(str(path))]
    assert found == [(f"{n:04}", {"id": f"{n:04}", "prompt": str(n)}) for n in range(200)]


DOCUMENTED = json.dumps(TOOL)
DEEP = json.loads("[" * 800 + "]" * 800)
BAD: tuple[tuple[Any, str], ...] = (
    ('{"id": "torn", ', "rows.jsonl:1:16: malformed JSON"),
    ({"id": "long", "prompt": DOCUMENTED + " word" * 6000}, "too many"),
    ({"id": "nothing"}, "needs one of 'prompt', 'messages', 'dialogue', found only 'id'"),
    ({"id": "both", "prompt": "x", "dialogue": CANCEL}, "found 'prompt' and 'dialogue'"),
    ({"id": "no tools", "dialogue": CANCEL}, "no tools are given"),
    ({"id": "empty", "prompt": "", "tools": [TOOL]}, "not empty"),
    ({"id": "twice", "prompt": "x", "tools": [TOOL, TOOL]}, "two tools of one name"),
    ({"id": "choice", "prompt": "x", "tools": [TOOL], "tool_choice": "n" * 5000}, "unknown tool_choice 'nnn"),
    ({"id": "no role", "dialogue": [{"text": "x"}], "tools": [TOOL]}, "dialogue row 1"),
    ({"id": [1], "prompt": "x", "tools": [TOOL]}, "got [1]"),
    ({"id": "prompt", "prompt": "\ud800", "tools": [TOOL]}, "lone surrogate U+D800"),
    ({"id": "key", "prompt": "x", "tools": [documented("weather", **{"\ud800": {}})]}, "lone surrogate U+D800"),
    ({"id": "deep", "dialogue": [{"role": "API", "api_name": "A", "param_dict": {"a": DEEP}}]}, "nested too deeply"),
    ('{"id": "deep line", "prompt": ' + "[" * 100_000, "nested too deeply"),
    ('{"id": "digits", "prompt": ' + "9" * 5000 + "}", "4300 digits"),
)


def test_bad_rows_are_reported_and_the_rest_goes_on(cli: Cli, tiny_model_path: str, tmp_path: Path) -> None:
    good = (
        {"id": "list", "dialogue": CANCEL, "tools": [TOOL]},
        {"id": 2, "prompt": DOCUMENTED + "\nCall: "},
        {"prompt": "x", "tools": DOCUMENTED},
    )
    batch = tmp_path / "rows.jsonl"
    given = [*(row for row, _ in BAD), *good]
    batch.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in given))
    quick = ("--max-value-tokens", 4, "--order-limit", 2, "--tool-choice", "weather", "--batch-size", 2)
    ran = cli("decode", "--model", tiny_model_path, "--batch", batch, *quick)
    assert ran.code == 0, ran.err
    assert f"3 decoded, 0 skipped, {len(BAD)} failed" in ran.err
    results = sorted(map(json.loads, ran.out.splitlines()), key=lambda result: "error" not in result)
    for number, ((row, error), result) in enumerate(zip(BAD, results, strict=False), start=1):
        assert error in result["error"] and result["error"].startswith(f"{batch}:{number}:")
        assert len(result["error"]) <= 2000
        named = isinstance(row, dict) and row["id"] not in ([1], "deep")  # a line too deep is not read
        assert result["id"] == row["id"] if named else re.fullmatch("row-[0-9a-f]{16}", result["id"])
    found = {result["id"]: result for result in results[len(BAD) :]}
    assert "calls" in found.pop("list") and "calls" in found.pop(2)
    assert re.fullmatch("row-[0-9a-f]{16}", *found)


DAMAGED = {
    "rows.jsonl.gz": gzip.compress(b'{"prompt": "x"}\n')[:-5],
    "other.jsonl.gz": b"no gzip",
    "rows.parquet": b"PAR1 no Parquet",
    "rows.jsonl": '{"prompt": "x"}'.encode("utf-16"),
    "rows.csv": b"id;prompt\n1;x\n",
    "cells.csv": b"id,prompt\n1,x\n2,y,z\n",
    "long.jsonl": b'{"prompt": "' + b"x" * 1000 + b'"}\n',
    "twice.csv": b"id,prompt,prompt\n1,x,y\n",
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
def test_what_is_kept_is_bounded_and_made_once(most: int, characters: int) -> None:
    found = LruCache[str, int](most, characters)
    texts = [f"{number:0250}" for number in range(50)]
    made = [found.of(text, lambda number=number: number) for number, text in enumerate(texts)]  # type: ignore[misc]
    assert made == [*range(50)] and len(found._made) == 3 + (characters == 1000)
    assert found.of(texts[-2], lambda: -1) == 48 and found.of(texts[0], lambda: -1) == -1


def test_a_batch_of_many_rows_holds_few_groups(folder: Folder, echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    count, size = 1_000, 32
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
