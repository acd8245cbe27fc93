"""Tables of further figures, and of accuracy by the type of the values."""

from typing import Any

import pytest

from eval.benchmarks.samples import Sample
from eval.metrics.score_row import read_score
from eval.metrics.value_types import VALUE_TYPES, value_types
from eval.report.entry import Entry
from eval.report.figure_tables import figure_table, value_type_table
from made_up_runs import score_row
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.documentation import Documentation

BOAT = {"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array"}}}
SCHEMAS: dict[str, Any] = {
    "bool": {"type": "boolean"},
    "enum": {"type": "string", "enum": ["on", "off"]},
    "number": {"type": "integer"},
    "text": {"type": "string"},
    "list": {"type": "array", "items": BOAT},
    "object": BOAT,
    "deep object": {"type": "object", "properties": {"boats": {"type": "array", "items": BOAT}}},
    "other": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
}


@pytest.mark.parametrize("name", VALUE_TYPES)
def test_type_of_a_value(name: str) -> None:
    schema = {"type": "object", "properties": {"a": SCHEMAS[name], "b": SCHEMAS["text"]}, "required": ["a"]}
    documentation = Documentation.read([{"name": "f", "description": "", "parameters": schema}], "x")
    sample = Sample("s", "c", "d", (), documentation, (Call("f", {"a": 1, "z": 2}), Call("g", {"b": 1})), None)
    assert value_types(sample) == (name,)  # neither an undocumented key nor a key that no call has


def entry(label: str, *rows: dict[str, Any]) -> Entry:
    return Entry("", label, ("c",), tuple(read_score(row, "x") for row in rows))


def row(number: int, error_class: str | None, **more: Any) -> dict[str, Any]:
    return score_row(str(number), "c", error_class, **more)


def test_figures_are_sums_of_points() -> None:
    first = entry(
        "a",
        row(0, None, figures={"steps": [3, 4], "valid": [1, 1]}),
        row(1, "value", figures={"steps": [0, 1], "valid": [0, 1]}),
    )
    table = figure_table([first, entry("b", row(0, None))], ["file"])
    assert table.columns == ("file", "steps", "valid")
    assert table.rows == (("a", "60.0", "50.0 (1.3-98.7)"), ("b", "-", "-"))
    assert not figure_table([entry("b", row(0, None))], ["file"]).rows


def test_accuracy_by_type() -> None:
    first = entry("a", row(0, None, value_types=["text", "enum"]), row(1, "value", value_types=["text"]), row(2, "key"))
    second = entry("b", row(0, None, value_types=["enum", "text"]))
    table = value_type_table([first, second], ["file"])
    assert table.columns == ("file", "enum (1)", "text")
    assert table.rows[0] == ("a", "100.0 (2.5-100.0)", "50.0 (1.3-98.7) of 2")
    assert not value_type_table([entry("a", row(0, None))], ["file"]).rows
