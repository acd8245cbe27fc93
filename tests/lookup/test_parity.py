"""Extraction from every corpus in every format agrees with a structural reading, see ``parity``."""

import json

import pytest

from data import DATA, needs_data
from parity.compare import differences
from parity.corpora import rows
from parity.facts import Case
from parity.oracle import schema_tool


@needs_data
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.title)
def test_extracted_agrees_with_the_oracle(row):
    cases = list(row.cases(DATA))[:: row.step]
    found = [difference for case in cases for difference in differences(case)]
    assert sum(len(case.expected) for case in cases) > 8
    assert not found, "\n".join(found[:5])


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


def read_as(*functions):
    return Case("a case", json.dumps([FUNCTION]), [schema_tool(function) for function in functions])


def changed(key, **words):
    properties = FUNCTION["parameters"]["properties"]
    return FUNCTION | {
        "parameters": FUNCTION["parameters"] | {"properties": properties | {key: properties[key] | words}}
    }


def test_a_difference_is_seen():
    assert not differences(read_as(FUNCTION))
    for other in (
        FUNCTION | {"name": "find_rides"},
        FUNCTION | {"parameters": FUNCTION["parameters"] | {"required": ["size", "days"]}},
        changed("start", properties={"lon": {"type": "number"}}),
        changed("size", enum=["L", "S"]),
        changed("days", items={"type": "integer", "enum": [True, 2]}),
        changed("size", default="L"),
        changed("size", description="The size. "),
    ):
        assert len(differences(read_as(other))) == 1
    assert differences(read_as(FUNCTION, FUNCTION))
    assert differences(Case("no tool", "Nothing.", read_as(FUNCTION).expected))
