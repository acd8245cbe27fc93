"""What ``--out`` refuses, repairs, decodes again and keeps; no file that is not its own is touched."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from filelock import FileLock

from batch_echo import Echo, Folder, row, said
from command_line import CASES
from tooldecoding.batches.decode_task import GROUP
from tooldecoding.files.result_file import ResultFile
from tooldecoding.models.identity import FILES


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--format", "pythonic"], "begun with format 'auto', not 'pythonic'"),
        (["--order-limit", 4], "begun with order_limit 12, not 4"),
        (["--template", "api-bank"], "begun with template 'auto', not 'api-bank'"),
        (["--unknown-keys", "required"], "begun with unknown_keys 'optional', not 'required'"),
        (["--tools", CASES / "tools.jsonl"], "this batch was begun with tools None, not '"),
        (["--seed", 1, "--order-limit", 4], "order_limit 12, not 4; with seed 0, not 1; choose another --out"),
    ],
)
def test_another_setting_is_refused(folder: Folder, option: list[object], said: str) -> None:
    assert folder.decode([row(1)]).code == 0
    folder.refuses([row(1), row(2)], *option, said=said)


def test_changed_rows_are_named_and_another_model_and_a_missing_folder_refused(folder: Folder, echo: Echo) -> None:
    folder.decode([row(1), row("b"), row("c")])
    changed = [row(1), row(0), row("b", "y"), row("c", "y")]
    folder.refuses(changed, said="rows.jsonl:3) has changed since its result was written; choose another --out, or")
    setattr(echo.decoder.model, FILES, "others")
    folder.refuses([row(1)], said="this batch was begun with weights")
    ran = folder.decode([row(1)], out=folder.out.parent / "no" / "out.jsonl")
    assert ran.code == 2 and "cannot be written: there is no folder" in ran.err
    assert not (folder.out.parent / "no").exists()


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


class Killed(BaseException):
    """What ends a process in the middle of a write; only files outlive it."""


def test_killed_at_any_moment_nothing_is_lost_or_doubled(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice, in the middle of each write; the third run is whole."""
    rows = [*(row(n, f"prompt {n}") for n in range(2)), *[{"prompt": "no id"}] * 2, {"id": "bad"}]
    append, replace = ResultFile._append, Path.replace
    left = moment = 0

    def falls() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    def append_killed(results: ResultFile, file: BinaryIO, data: bytes) -> None:
        if falls():
            append(results, file, data[: len(data) // 2])
            raise Killed
        append(results, file, data)

    def replace_killed(path: Path, target: Path) -> Path:
        if falls():
            raise Killed
        return replace(path, target)

    def run(killed_at: int) -> dict[Any, str]:
        nonlocal left
        left = killed_at
        with suppress(Killed):
            assert folder.decode(rows).code == 0
        lines = folder.out.read_bytes().split(b"\n")[:-1] if folder.out.exists() else []
        found = {r["id"]: r.get("text", r.get("error")) for r in map(json.loads, lines)}
        assert len(found) == len(lines)
        return found

    monkeypatch.setattr(ResultFile, "_append", append_killed)
    monkeypatch.setattr(Path, "replace", replace_killed)
    expected = run(0)
    first: dict[Any, str] = {}
    while first != expected:
        moment += 1
        for path in folder.out.parent.glob("out*"):
            path.unlink()
        first, second, third = run(moment), run(moment + 1), run(0)
        assert first.items() <= second.items() <= third.items() == expected.items()
    assert moment > 4 and len(expected) == len(rows)
