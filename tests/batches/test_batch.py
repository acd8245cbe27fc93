"""Batches: bad rows are reported and the rest goes on; an interrupted run resumes where it stopped."""

import json
import re
from pathlib import Path
from typing import Any

from command_line import CASES, Cli

TOOLS = (CASES / "tools.jsonl").read_text()
USER = [{"role": "User", "text": "Cancel table 7."}]


TOOL_LIST = [json.loads(line) for line in TOOLS.splitlines()]
DEEP = json.loads("[" * 800 + "]" * 800)
SURROGATE = {"name": "CancelTable", "input_parameters": {"\ud800": {"type": "str"}}, "description": ""}
BAD: tuple[tuple[Any, str], ...] = (
    ('{"id": "torn", ', "rows.jsonl:1:16: malformed JSON"),
    ({"id": "long", "prompt": TOOLS + " word" * 6000}, "too many"),
    ({"id": "nothing"}, "needs one of 'prompt', 'messages', 'dialogue', found only 'id'"),
    ({"id": "both", "prompt": "x", "dialogue": USER}, "found 'prompt' and 'dialogue'"),
    ({"id": "no tools", "dialogue": USER}, "no tools are given"),
    ({"id": "empty", "prompt": "", "tools": TOOLS}, "not empty"),
    ({"id": "twice", "prompt": "x", "tools": TOOLS + TOOLS}, "two tools of one name"),
    ({"id": "no role", "dialogue": [{"text": "x"}], "tools": TOOLS}, "dialogue row 1"),
    ({"id": [1], "prompt": "x", "tools": TOOLS}, "got [1]"),
    ({"id": "prompt", "prompt": "\ud800", "tools": TOOLS}, "lone surrogate U+D800"),
    ({"id": "key", "prompt": "x", "tools": [SURROGATE]}, "lone surrogate U+D800"),
    ({"id": "deep", "dialogue": [{"role": "API", "api_name": "A", "param_dict": {"a": DEEP}}]}, "nested too deeply"),
    ('{"id": "deep line", "prompt": ' + "[" * 100_000, "nested too deeply"),
    ('{"id": "digits", "prompt": ' + "9" * 5000 + "}", "4300 digits"),
)


def test_bad_rows_are_reported_and_the_rest_goes_on(cli: Cli, tiny_model_path: str, tmp_path: Path) -> None:
    good = (
        {"id": "list", "dialogue": USER, "tools": TOOL_LIST},
        {"id": 2, "prompt": TOOLS + "\nCall: "},
        {"prompt": "x", "tools": TOOLS},
    )
    batch = tmp_path / "rows.jsonl"
    given = [*(row for row, _ in BAD), *good]
    batch.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in given))
    quick = ("--max-value-tokens", 4, "--order-limit", 2, "--tool-choice", "CancelTable", "--batch-size", 2)
    ran = cli("decode", "--model", tiny_model_path, "--batch", batch, *quick)
    assert ran.code == 0, ran.err
    assert f"3 decoded, 0 skipped, {len(BAD)} failed" in ran.err
    results = sorted(map(json.loads, ran.out.splitlines()), key=lambda result: "error" not in result)
    for (row, error), result in zip(BAD, results, strict=False):
        assert error in result["error"]
        named = isinstance(row, dict) and row["id"] not in ([1], "deep")  # a line too deep is not read
        assert result["id"] == row["id"] if named else re.fullmatch("row-[0-9a-f]{16}", result["id"])
    found = {result["id"]: result for result in results[len(BAD) :]}
    assert "calls" in found.pop("list") and "calls" in found.pop(2)
    assert re.fullmatch("row-[0-9a-f]{16}", *found)
