"""``tooldecoding bench schemas --calls``: a model with random weights calls each schema, and jsonschema judges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import Ran, assert_bad
from eval.schemas.calls import faults
from eval.schemas.tables import by_split, call_figures, call_tables

Cli = Callable[..., Ran]
EITHER = [{"required": ["a"]}, {"required": ["b"]}]
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
TEXT: dict[str, Any] = {"type": "string", "pattern": "^[a-c]+$", "maxLength": 5}
SCHEMAS: dict[str, Any] = {
    "BFCL_1": {"type": "object", "properties": {"a": TEXT, "b": {"minimum": 7}}, "required": ["a", "b"]},
    "BFCL_2": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "Github_easy---o1": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]},
    "Github_easy---o2": {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "anyOf": EITHER},
    "JME_3": True,
}  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    data = folder / "maskbench" / "data"
    data.mkdir(parents=True)
    for name, schema in SCHEMAS.items():
        (data / f"{name}.json").write_text(json.dumps({"schema": schema, "tests": []}))
    return folder


def test_calls_are_counted_by_split(cli: Cli, checkout: Path, tiny_model_path: str) -> None:
    out = checkout / "rows.jsonl"
    command = ("bench", "schemas", "--data", checkout, "--tokenizer", tiny_model_path, "--calls", 2, "--out", out)
    ran = cli(*command, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    counts = ("tools", "no_tool", "refused", "noted", "unnoted", "valid", "said_valid", "unjudged", "refused_by_vote")
    assert [found[name] for name in counts] == [3, 2, 1, 1, 1, 1, 0, 0, 0]
    assert list(found["splits"]) == ["BFCL", "Github_easy", "JME"] and found["splits"]["BFCL"]["valid"] == 1
    assert list(found["notes"]) == ["anyOf"] and "'required' names 'b'" in next(iter(found["reasons"]))
    rows = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    call = rows["calls/BFCL_1.json"]
    assert not call["faults"] and jsonschema.Draft202012Validator(SCHEMAS["BFCL_1"]).is_valid(call["arguments"])
    text = " ".join(cli(*command).out.split())  # nothing is decoded again
    assert "Calls with random weights" in text and "5 of 5 schemas" in text and len(out.read_text().splitlines()) == 5
    assert_bad(cli(*command, "--calls", 1), "this run was begun with calls 2, not 1")


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        (TEXT, "abc", []),
        (TEXT, "abcdef", ["maxLength", "pattern"]),
        ({"type": "array"}, (1, 2), []),
        ({"type": "string", "format": "ipv4"}, "1.2.3", ["format"]),
        ({"$schema": DRAFT_4, "maximum": 3, "exclusiveMaximum": True}, 3, ["maximum"]),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "null"}}}, {"a": 1}, ["type"]),
    ],
)  # fmt: skip
def test_the_judge_names_the_words_that_are_broken(schema: Any, value: Any, words: list[str]) -> None:
    assert sorted(fault["word"] for fault in faults(schema, value)) == words


@pytest.mark.parametrize("schema", [{"$ref": "https://example.com/s.json"}, {"pattern": "\\p{L}"}, {"type": "luck"}])
def test_what_the_judge_cannot_read_is_a_value_error(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"^\w+: "):
        faults(schema, "a")


def test_rows_are_tallied() -> None:
    call = {"split": "A", "notes": [], "said_valid": True, "truncated": False}
    broken = [{"word": "pattern", "place": "$.a", "message": "m"}]
    rows = [
        {**call, "faults": []},
        {**call, "faults": broken, "truncated": True},
        {**call, "faults": broken, "notes": ["parameter 'a': key 'b': not"]},
        {**call, "faults": broken, "notes": ["parameter 'a': not"], "said_valid": False},
        {**call, "faults": [], "said_valid": False},
        {**call, "unjudged": "error: a pattern"},
        {"split": "B", "refused": "no"},
        {"split": "B", "no_tool": True},
    ]
    found = by_split(rows, call_figures)
    names = (
        "tools",
        "unnoted",
        "valid",
        "noted",
        "noted_valid",
        "said_valid",
        "refused_by_vote",
        "truncated",
        "unjudged",
    )
    assert [found[name] for name in names] == [7, 3, 2, 2, 0, 2, 1, 1, 1]
    assert found["words"] == {"pattern": 1} and found["notes"] == {"not": 2}
    first = call_tables(found, "about")[0]
    assert [row[0] for row in first.rows] == ["all", "A", "B"]
    assert {len(row) for row in first.rows} == {len(first.columns)}
