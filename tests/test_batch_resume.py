"""What ``--out`` refuses, repairs, decodes again and keeps; no file that is not its own is touched."""

import resource
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from batch_echo import Echo, Folder, row, said
from command_line import CASES, Ran
from tiny_models import tiny_model
from tooldecoding.errors import PromptError
from tooldecoding.files.manifest import write_whole
from tooldecoding.files.result_file import ResultFile


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--format", "pythonic"], "begun with format 'auto', not 'pythonic'"),
        (["--order-limit", 4], "begun with order_limit 12, not 4"),
        (["--template", "api-bank"], "rows.jsonl:1) was begun with the template raw, not api-bank"),
        (["--seed", 1], "begun with seed 0, not 1"),
        (["--max-text-tokens", 9], "begun with max_text_tokens 1024, not 9"),
        (["--optional-share", 0.1], "begun with optional_share 0.5, not 0.1"),
        (["--unknown-keys", "required"], "begun with unknown_keys 'optional', not 'required'"),
        (["--tools", CASES / "tools.jsonl"], "begun with other documentation in --tools"),
        (["--seed", 1, "--order-limit", 4], "order_limit 12, not 4; with seed 0, not 1; choose another --out"),
    ],
)
def test_another_setting_is_refused(folder: Folder, option: list[object], said: str) -> None:
    assert folder.decode([row(1)]).code == 0
    folder.refuses([row(1), row(2)], *option, said=said)


def test_settings_that_change_no_call_may_differ(folder: Folder) -> None:
    folder.decode([row(1)], "--batch-size", 1)
    free = ["--batch-size", 3, "--device", "cpu", "--strategy", "batched", "--prompt-cache-mb", 0, "--json"]
    assert "1 decoded, 1 skipped" in folder.decode([row(1), row(2)], *free).err


def test_other_documentation_is_refused(folder: Folder, tmp_path: Path) -> None:
    tools = tmp_path / "tools.jsonl"
    tools.write_bytes((CASES / "tools.jsonl").read_bytes())
    folder.decode([row(1)], "--tools", tools)
    tools.write_text(tools.read_text().replace("restaurant", "inn"))
    folder.refuses([row(1)], "--tools", tools, said="begun with other documentation in --tools; choose another --out")


def test_another_model_is_refused(folder: Folder, echo: Echo) -> None:
    folder.decode([row(1)])
    echo.decoder.model = tiny_model("llama", len(echo.decoder.tokenizer), seed=1)
    folder.refuses([row(1)], said="the model 'reference' in float32, not 'reference' in float32: other weights; choose")


def test_a_model_is_the_same_elsewhere(folder: Folder, echo: Echo) -> None:
    folder.decode([row(1)], "--model", "here")
    echo.decoder.model = tiny_model("llama", len(echo.decoder.tokenizer))
    assert "0 decoded, 1 skipped" in folder.decode([row(1)], "--model", "there").err


def test_changed_rows_are_named(folder: Folder) -> None:
    folder.decode([row(1), row("b"), row("c")])
    folder.refuses(
        [row(1), row(0), row("b", "y"), row("c", "y")],
        said="rows.jsonl:3) (and 1 more) has changed since its result was written; choose another "
        "--out, or give changed rows another id",
    )


def test_results_of_removed_rows_stay_and_are_counted(folder: Folder) -> None:
    folder.decode([row(1), row(2)])
    ran = folder.decode([row(3)])
    assert "note: 2 results in" in ran.err and "not in the batch any more" in ran.err
    folder.refuses([row(2, "y")], said="row 2 (")
    assert [r["id"] for r in folder.results()] == [1, 2, 3]


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
    assert results == {1: said("x"), 2: "refused", 3: said("x"), 4: said("good")}
    assert len(folder.results()) == 4


def test_an_interrupted_retry_loses_nothing_finished(folder: Folder, echo: Echo) -> None:
    rows = [row(1), *(row(n, f"bad {n}") for n in range(2, 7))]
    echo.refuse = "bad"
    folder.decode(rows)
    folder.out.chmod(0o600)
    echo.refuse, echo.groups = "nothing", 1
    assert folder.decode(rows, "--retry-failed").code == 130
    assert [r["id"] for r in folder.results()] == [1, 2, 3]
    echo.groups = None
    assert "3 decoded, 3 skipped, 0 failed" in folder.decode(rows).err
    assert folder.out.stat().st_mode & 0o777 == 0o600


def test_retry_needs_results(cli: Callable[..., Ran]) -> None:
    ran = cli("decode", "--prompt", "x", "--retry-failed")
    assert ran.code == 2 and "--retry-failed takes failed rows from the results in --out" in ran.err


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


FOREIGN = [
    "my notes\n",
    "my notes",
    '{"id": 1, "prompt": "x"}\n',
    '{"id": 1, "prompt": "all that I have"}',
    '{"id": 1, "pro',
    "{",
    '{"calls": []}\n',
    "[]\n",
    "\n",
    '{"id": 1, "calls": []}\n',
    '{"id": 1, "calls": []}',
]


@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_without_a_manifest_is_not_touched(folder: Folder, content: str) -> None:
    folder.out.write_text(content)
    folder.refuses([row(1)], said="out.jsonl")


@pytest.mark.parametrize("content", [c for c in FOREIGN if c not in ("{", "\n") and "calls" not in c])
def test_a_file_in_the_place_of_results_is_not_touched(folder: Folder, content: str) -> None:
    folder.decode([row(1)])
    folder.out.write_text(content)
    folder.refuses([row(1)], said="out.jsonl:1: this line is no result")


def test_results_of_another_batch_in_the_place_of_results(folder: Folder) -> None:
    folder.decode([row(1)])
    folder.out.write_text('{"id": 7, "calls": []}\n')
    folder.refuses([row(1)], said="out.jsonl:1: a result of 7, which is not in the index")


@pytest.mark.parametrize(
    "content", ["notes", "[]", "{}", '{"format": "tooldecoding batch 2"}', '{"format": "tooldecoding batch 3"}']
)
def test_a_foreign_manifest_is_not_touched(folder: Folder, content: str) -> None:
    folder.out.with_name("out.jsonl.manifest.json").write_text(content)
    folder.refuses([row(1)], said="out.jsonl.manifest.json: ")


def test_a_manifest_of_another_format_is_refused(folder: Folder) -> None:
    folder.decode([row(1)])
    manifest = folder.out.with_name("out.jsonl.manifest.json")
    manifest.write_text(manifest.read_text().replace("tooldecoding batch 3", "tooldecoding batch 2"))
    folder.refuses([row(1)], said="of the format 'tooldecoding batch 3', found 'tooldecoding batch 2'")


@pytest.mark.parametrize("name", ["out.jsonl.manifest.json", "out.jsonl.index.sqlite"])
def test_results_that_lost_a_companion_are_not_touched(folder: Folder, name: str) -> None:
    folder.decode([row(1)])
    folder.out.with_name(name).unlink()
    folder.refuses([row(1), row(2)], said=f"there is no {name} beside it")


@pytest.mark.parametrize("content", [b"my notes", b"SQLite format 3\0" + bytes(100), None])
def test_a_foreign_or_damaged_index_is_not_touched(folder: Folder, content: bytes | None) -> None:
    folder.decode([row(n) for n in range(300)])
    index = folder.out.with_name("out.jsonl.index.sqlite")
    index.write_bytes(index.read_bytes()[:5000] if content is None else content)
    folder.refuses([row(1), row(301)], said="out.jsonl.index.sqlite: ")


def test_a_data_base_of_others_is_not_touched(folder: Folder) -> None:
    index = folder.out.with_name("out.jsonl.index.sqlite")
    base = sqlite3.connect(index)
    base.execute("CREATE TABLE rows (mine)")
    base.commit()
    base.close()
    folder.refuses([row(1)], said="out.jsonl.index.sqlite: expected an index of rows; choose another --out")


def test_the_template_that_was_used_is_kept(folder: Folder) -> None:
    """What ``auto`` took, so that the same template by name goes on and another does not."""
    rows = [row(1), {**row(2), "tools": (CASES / "tools.jsonl").read_text()}, {"id": 3}]
    folder.decode(rows)
    folder.refuses(rows, "--template", "raw", said="rows.jsonl:2) was begun with the template api-bank")
    assert "0 decoded, 3 skipped" in folder.decode(rows).err
    assert folder.decode([rows[0]], "--template", "raw").code == 0


def test_a_folder_in_the_place_of_results(folder: Folder) -> None:
    folder.out.mkdir()
    ran = folder.decode([row(1)])
    assert ran.code == 2 and "expected a file" in ran.err


def test_a_file_that_is_torn_anywhere_is_repaired(folder: Folder) -> None:
    """A result that lacks nothing but its newline is kept."""
    rows = [row(1), row("é"), row("\ud800")]
    folder.decode(rows)
    whole = folder.out.read_bytes()
    ends = [n for n in range(len(whole)) if whole[n : n + 1] == b"\n"]
    for size in {*range(0, len(whole), 6), *(end + more for end in ends[:2] for more in (0, 1, 2))}:
        folder.out.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends)
        assert f"{len(rows) - kept} decoded, {kept} skipped" in folder.decode(rows).err
        assert folder.out.read_bytes() == whole


def test_a_full_disk_keeps_what_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = ResultFile(path)
    results.write([{"id": 1, "calls": []}])
    kept, most = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(kept) + 5, most[1]))
    try:
        with pytest.raises(PromptError, match="cannot be written: File too large"):
            results.write([{"id": 2, "calls": []}])
        results.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert path.read_bytes().startswith(kept)
    again = ResultFile(path)
    again.close()
    assert again.done == {1} and path.read_bytes() == kept


def test_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def broken(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
