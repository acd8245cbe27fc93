"""Dates and times obey the format that their description states; the standard library's ``strptime`` judges."""

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seams import ONE_OF_EACH

from data import DATA, needs_data
from eval.benchmarks.registry import find_benchmark
from lookup.date_formats import stated_format
from lookup.dictionary import ParameterSpec, ValueType
from lookup.extract import extract
from lookup.values.grammar import value_grammar
from lookup.values.literal_values import render_value
from lookup.values.notations import Notation
from voting.type_check import TypeCheckError, check_value

STATED = {
    "YYYY-MM-DD": "%Y-%m-%d", "dd/mm/yyyy HH:MM": "%d/%m/%Y %H:%M", "YYYY-MM-DDTHH:MM:SSZ": "%Y-%m-%dT%H:%M:%SZ",
    "HH:mm": "%H:%M", "mm:ss": "%M:%S", "MM.DD": "%m.%d", "MM-YYYY": "%m-%Y",
    "YYYY-MM-DD HH:mm:ss": "%Y-%m-%d %H:%M:%S",
}  # fmt: skip


@pytest.mark.parametrize(
    "description",
    [
        "The date (e.g., YYYY-MM-DD)",
        "such as 'HH:MM'",
        "from YYYY-MM-DD to YYYY-MM-DD",
        "in the format MM-DD-YYY",
        "in HH:MM AM/PM",
        "in the format 'YYYY-MM-DD 00:00' UTC",
        "%Y-%m-%d %H:%M:%S.%f",
        "The format in which the time is displayed: HH:MM:SS",
        "Optional format of the returned date. Default is 'MM-DD-YYYY'.",
        "the year as YYYY",
        "the commit's DD",
        "x" * 2000 + " in YYYY-MM-DD",
        "",
    ],
)
def test_what_is_no_format_of_the_value_is_left_alone(description: str) -> None:
    assert stated_format(description) == ""


@pytest.mark.parametrize("notation", ONE_OF_EACH)
@pytest.mark.parametrize("written", [*STATED, *STATED.values()])
@given(moment=st.datetimes(datetime(1600, 1, 1), datetime(2199, 12, 31)))
def test_every_moment_can_be_written_and_nothing_else(written: str, notation: Notation, moment: datetime) -> None:
    spec = ParameterSpec("time", ValueType("str"), "str", True, f"The time, in the format of '{written}'.")
    text = moment.strftime(STATED.get(written, written))
    grammar = value_grammar(spec, notation)
    literal = render_value(text, notation)
    assert grammar.complete(literal)
    assert all(grammar.possible(literal[:end]) for end in range(len(literal)))
    for other in (text + "x", f"x{text}", "2pm", ""):
        assert not grammar.complete(render_value(other, notation))
        with pytest.raises(TypeCheckError):
            check_value(other, spec)


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({"type": "string"}, ["2024-02-29"], ["29 Feb", None]),
        ({"type": ["string", "null"], "default": "today"}, ["2024-02-29", "today", None], ["tomorrow"]),
        ({"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]}, ["2024-02-29", None], ["29 Feb"]),
        ({"type": "string", "enum": ["soon"]}, ["soon"], ["2024-02-29"]),
        ({"type": "string", "pattern": "^[0-9]{8}$"}, ["20240229"], ["2024-02-29"]),  # the schema is stronger
        ({"type": "array", "items": {"type": "string"}}, [["29 Feb"]], []),
    ],
)
def test_a_format_stands_beside_the_schema(
    schema: dict[str, object], allowed: list[object], refused: list[str]
) -> None:
    properties = {"day": {**schema, "description": "In YYYY-MM-DD format."}}
    tool = extract(json.dumps({"name": "f", "description": "", "parameters": {"properties": properties}}))["f"]
    for value in allowed:
        assert check_value(value, tool.parameter("day")) == value
    for value in refused:
        with pytest.raises(TypeCheckError):
            check_value(value, tool.parameter("day"))


@needs_data
@pytest.mark.parametrize(
    ("name", "folder", "fewest", "wrong"), [("api-bank", "api-bank", 90, 0), ("bfcl-live", "bfcl", 100, 3)]
)
def test_right_values_of_benchmarks_obey(name: str, folder: str, fewest: int, wrong: int) -> None:
    benchmark = find_benchmark(name)
    read, refused = 0, []
    for sample in benchmark.load(str(DATA / folder), benchmark.categories):
        for call in sample.calls:
            tool = sample.documentation.lookup.get(call.name)
            for spec in tool.parameters if tool else ():
                if spec.stated_format and spec.name in call.arguments:
                    read += 1
                    try:
                        check_value(call.arguments[spec.name], spec)
                    except TypeCheckError:
                        refused.append(call.arguments[spec.name])
    assert (read >= fewest, len(refused)) == (True, wrong), (read, refused)
