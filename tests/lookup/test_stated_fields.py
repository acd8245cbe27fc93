"""A text has the fields that its description states."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seams import ONE_OF_EACH

from data import DATA, needs_data
from eval.benchmarks.registry import find_benchmark
from lookup.dictionary import ParameterSpec, ValueType
from lookup.extract import extract
from lookup.languages.formats import stated_fields
from lookup.values.grammar import value_grammar
from lookup.values.literal_values import render_value
from lookup.values.notations import Notation
from voting.type_check import TypeCheckError, check_value

PLACE = st.text("aB .'éß北", min_size=1, max_size=40).filter(lambda text: text == text.strip())


@pytest.mark.parametrize(
    ("description", "fields"),
    [
        ("The city, in the format of 'City, State', such as 'Boston, MA'.", "City, State"),
        ('formatted as "City, State (abbr), Country"', "City, State (abbr), Country"),
        ("in the format `Street, City`", "Street, City"),
        ("in the format 'City, State' or 'City, Country'", "City, State"),
        ("formatted as 'City, State' or 'City' if there is no state", ""),
        ("The city and state, such as 'Boston, MA'", ""),
        ("in the format 'City Name'", ""),
        ("one of 'City, State'", ""),
        ("The output format: 'Json, Xml'", ""),
        ("in the format 'YYYY-MM-DD, HH:MM'", ""),
        ("in the format 'DD MMM, YYYY'", ""),
        ("x" * 2000 + " in the format 'City, State'", ""),
    ],
)
def test_which_fields_a_description_states(description: str, fields: str) -> None:
    assert stated_fields(description) == fields
    key = {"type": "string", "description": description}
    properties = {"own": key, "object": {"type": "object", "properties": {"inner": key}}}
    tool = extract(json.dumps({"name": "f", "description": "", "parameters": {"properties": properties}}))["f"]
    assert tool.to_json(explain=True)["stated_fields"] == ({"own": fields} if fields else {})
    assert check_value({"inner": "Kiel"}, tool.parameter("object")) == {"inner": "Kiel"}  # those of objects are free


@pytest.mark.parametrize("notation", ONE_OF_EACH)
@given(street=st.sampled_from(["", "1 a", "Ü 99-b"]), places=st.lists(PLACE, min_size=2, max_size=3))
def test_texts_with_the_fields_can_be_written_and_no_others(notation: Notation, street: str, places: list[str]) -> None:
    stated, fields = ("Street, City, State", [street, *places]) if street else ("City, State", places)
    spec = ParameterSpec("place", ValueType("str"), "str", True, f"Formatted as '{stated}'.")
    grammar = value_grammar(spec, notation)
    literal = render_value(", ".join(fields), notation)
    assert grammar.complete(literal)
    assert all(grammar.possible(literal[:end]) for end in range(len(literal)))
    few = ", ".join(fields[: 2 if street else 1])
    run_on = [f"{few}, {end}" for end in ("", "a_b", "a=1", "a)]  # b", "9", "a" * 41, "a, b, c, d")]
    for wrong in (few, *run_on):
        assert not grammar.complete(render_value(wrong, notation))
        with pytest.raises(TypeCheckError):
            check_value(wrong, spec)


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({"type": "string"}, ["Kiel, SH"], ["Kiel", None]),
        ({"type": ["string", "null"], "default": "here"}, ["Kiel, SH", "here", None], ["there"]),
        ({"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]}, ["Kiel, SH", None], ["Kiel", "Berlin, BE"]),
        ({"type": "string", "enum": ["Kiel"]}, ["Kiel"], ["Kiel, SH"]),
        ({"type": "string", "pattern": "^[a-z]*$"}, ["kiel"], ["Kiel, SH"]),  # the schema is stronger
        ({"type": "array", "items": {"type": "string"}}, [["Kiel"]], []),
    ],
)
def test_fields_stand_beside_the_schema(schema: dict[str, Any], allowed: list[Any], refused: list[Any]) -> None:
    properties = {"place": {**schema, "description": "In the format 'City, State'."}}
    tool = extract(json.dumps({"name": "f", "description": "", "parameters": {"properties": properties}}))["f"]
    for value in allowed:
        assert check_value(value, tool.parameter("place")) == value
    for value in refused:
        with pytest.raises(TypeCheckError):
            check_value(value, tool.parameter("place"))


@needs_data
def test_nearly_all_right_values_have_the_fields() -> None:
    benchmark = find_benchmark("bfcl-live")
    has: list[bool] = []
    for sample in benchmark.load(str(DATA / "bfcl"), ["live_simple", "live_multiple"]):
        for call in sample.calls:
            for spec in sample.documentation.lookup[call.name].parameters:
                if spec.stated_fields and spec.name in call.arguments:
                    try:
                        check_value(call.arguments[spec.name], spec)
                        has.append(True)
                    except TypeCheckError:
                        has.append(False)
    assert len(has) > 280 and sum(has) / len(has) > 0.97
