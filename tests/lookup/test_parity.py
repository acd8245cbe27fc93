"""Extraction from every corpus in every format agrees with a structural reading, see ``parity``."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import parity
from data import DATA, needs_data
from lookup import extract
from parity.compare import FIELDS, Tally
from parity.facts import Case
from parity.oracle import schema_tool
from parity.table import all_rows, reached, tally

ROWS = [row for row in all_rows() if row.target is not None]


@needs_data
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.corpus}, {row.format}")
def test_extracted_agrees_with_the_oracle(row):
    whole = row.format in ("JSON", "JSON lines", "OpenAPI JSON", "ToolSearcher results")
    found = tally(row, DATA, every=1 if whole else 24 if row.corpus == "BFCL live" else 8)
    assert found.tools > 8
    assert reached(row, found), "\n".join(map(str, found.misses[:5]))


FUNCTION = {
    "name": "find_ride",
    "description": "Finds a ride.",
    "parameters": {
        "type": "object",
        "properties": {
            "start": {"type": "object", "description": "From where.", "properties": {"lat": {"type": "number"}}},
            "size": {"type": "string", "enum": ["S", "L"], "default": "S", "description": "The size."},
            "days": {"type": "array", "items": {"type": "integer", "enum": [1, 2]}},
        },
        "required": ["days"],
    },
}


def misses(function, documented=FUNCTION):
    found = Tally()
    found.check(Case("a case", json.dumps(documented), [schema_tool(function)]))
    return found


def changed(key, **words):
    properties = FUNCTION["parameters"]["properties"]
    return FUNCTION | {
        "parameters": FUNCTION["parameters"] | {"properties": properties | {key: properties[key] | words}}
    }


def test_equal_tools_agree_in_every_field():
    found = misses(FUNCTION)
    assert not found.misses and found.worst() == 100
    assert all(found.asked[name] for name in FIELDS)


@pytest.mark.parametrize(
    ("field", "function"),
    [
        ("names", FUNCTION | {"name": "find_rides"}),
        ("keys", changed("start", properties={"lon": {"type": "number"}})),
        ("required", FUNCTION | {"parameters": FUNCTION["parameters"] | {"required": ["size", "days"]}}),
        ("raw types", changed("size", type="str")),
        ("kinds", changed("days", items={"type": "string", "enum": [1, 2]})),
        ("enums", changed("size", enum=["L", "S"])),
        ("enums", changed("days", items={"type": "integer", "enum": [1]})),
        ("defaults", changed("size", default="L")),
        ("descriptions", changed("size", description="The size. ")),
        ("descriptions", FUNCTION | {"description": "Finds rides."}),
    ],
)
def test_a_difference_in_one_field_is_a_miss_of_that_field(field, function):
    found = misses(function)
    assert {miss.field for miss in found.misses} == {field}
    assert found.worst() < 100


def test_a_default_of_another_type_is_a_miss():
    assert misses(changed("size", default=1), changed("size", default=1.0)).misses
    assert misses(changed("size", default=1), changed("size", default=True)).misses


def test_a_tool_too_many_and_another_sequence_are_misses():
    other = FUNCTION | {"name": "other"}
    found = Tally()
    found.check(Case("one too many", json.dumps([FUNCTION, other]), [schema_tool(FUNCTION)]))
    found.check(Case("sequence", json.dumps([FUNCTION, other]), [schema_tool(other), schema_tool(FUNCTION)]))
    found.check(Case("no tool", "Nothing here.", [schema_tool(FUNCTION)]))
    assert [miss.field for miss in found.misses] == ["names"] * 3


def test_a_corrupted_specification_is_a_miss():
    [tool] = extract(json.dumps(FUNCTION)).values()
    first, *others = tool.parameters
    found = Tally()
    found.compare("a case", schema_tool(FUNCTION), tool)
    assert not found.misses
    found.compare("a case", schema_tool(FUNCTION), replace(tool, parameters=(replace(first, required=None), *others)))
    assert [miss.field for miss in found.misses] == ["required"]


def test_only_the_comparison_knows_the_package_that_it_judges():
    folder = Path(parity.__file__).parent
    for path in folder.glob("*.py"):
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
        assert ("lookup" in imported) is (path.name == "compare.py"), path


def test_the_command_fails_where_a_target_is_missed(tmp_path):
    command = [sys.executable, "-m", "parity", str(tmp_path), "--only", "Seal-Tools, JSON lines"]
    folder = tmp_path / "seal-tools"
    folder.mkdir()
    document = {"api_name": "f", "api_description": "", "parameters": {}, "required": [], "responses": {}}
    environment = {"PYTHONPATH": f"{Path(parity.__file__).parents[2]}:{Path(parity.__file__).parents[1]}"}
    for documents, code in (([document], 0), ([document, document], 1)):
        text = "".join(f"{json.dumps(document)}\n" for document in documents)
        (folder / "tool.jsonl").write_text(text, encoding="utf-8")
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
