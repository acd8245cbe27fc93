"""Extraction from every corpus in every format agrees with a structural reading, see ``parity``."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

import parity
from data import DATA, needs_data
from lookup import extract
from parity import bfcl, corpora
from parity.compare import differences, flat
from parity.facts import Case
from parity.oracle import schema_tool

ROWS = [*bfcl.rows(), *corpora.rows()]
WHOLE = ("JSON", "JSON lines", "OpenAPI JSON", "ToolSearcher results")
"""The formats of which every case is read; of the others, one in some."""


@needs_data
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.corpus}, {row.format}")
def test_extracted_agrees_with_the_oracle(row):
    step = 1 if row.format in WHOLE else 24 if row.corpus == "BFCL live" else 8
    cases = list(row.cases(DATA))[::step]
    found = [difference for case in cases for difference in differences(case)]
    tools = sum(len(case.expected) for case in cases)
    assert tools > 8
    assert 100 * len(found) / tools <= 100 - row.target, "\n".join(found[:5])


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


def case(*functions):
    return Case("a case", json.dumps([FUNCTION]), [schema_tool(function) for function in functions])


def changed(key, **words):
    properties = FUNCTION["parameters"]["properties"]
    return FUNCTION | {
        "parameters": FUNCTION["parameters"] | {"properties": properties | {key: properties[key] | words}}
    }


def test_equal_tools_agree():
    assert not differences(case(FUNCTION))


@pytest.mark.parametrize(
    "function",
    [
        FUNCTION | {"name": "find_rides"},
        changed("start", properties={"lon": {"type": "number"}}),
        FUNCTION | {"parameters": FUNCTION["parameters"] | {"required": ["size", "days"]}},
        changed("size", type="str"),
        changed("days", items={"type": "string", "enum": [1, 2]}),
        changed("size", enum=["L", "S"]),
        changed("days", items={"type": "integer", "enum": [1]}),
        changed("days", items={"type": "integer", "enum": [True, 2]}),
        changed("size", default="L"),
        changed("size", description="The size. "),
    ],
)
def test_a_difference_is_seen(function):
    assert len(differences(case(function))) == 1
    assert differences(case(FUNCTION, function)) and differences(Case("no tool", "Nothing.", [schema_tool(FUNCTION)]))


def test_a_corrupted_specification_is_seen():
    [tool] = extract(json.dumps(FUNCTION)).tools
    first, *others = tool.parameters
    assert flat(tool) == schema_tool(FUNCTION)
    assert flat(replace(tool, parameters=(replace(first, required=None), *others))) != schema_tool(FUNCTION)


def test_only_the_comparison_knows_the_package_that_it_judges():
    for path in Path(parity.__file__).parent.glob("*.py"):
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
        assert ("lookup" in imported) is (path.name == "compare.py"), path
