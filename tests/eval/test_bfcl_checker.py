"""The comparison of calls with BFCL's possible answers: the official rules, each by its error type."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.reference import reference_calls
from eval.benchmarks.faults import CRASH
from tooldecoding.formats.call_format import Call
from tools import documented


def tool(types: dict[str, Any], required: list[str] | None = None, name: str = "f") -> dict[str, Any]:
    """Documentation; a type ``array<integer>`` has elements."""
    kinds = {key: kind.rstrip(">").partition("<") for key, kind in types.items()}
    keys = {
        key: {"type": outer} | ({"items": {"type": item}} if item else {}) for key, (outer, _, item) in kinds.items()
    }
    return documented(name, required, **keys)


def verdict(functions, calls, truth, category="simple_python") -> str | None:
    fault = check_calls(functions, [Call(n, a) for c in calls for n, a in c.items()], truth, category)
    return fault and fault.error_type


# documented type, alternatives, value, error type: what the recorded verdicts do not show
VALUES = [
    ("string", ["x", None], None, "type_error:simple"),
    ("string", ["", None], None, None),
    ("string", ["", None], "x", "value_error:others"),
    ("any", ["x"], 1, "type_error:simple"),
    ("float", [2.0], 10**400, CRASH),
    ("array<integer>", [[1, 2]], (1, 2), "type_error:simple"),
    ("array<string>", [["a"], 1], ["a"], CRASH),
    ("array<string>", [["a"], {}], [], None),
    ("tuple<integer>", [[1, 2]], (1, 2), None),
    ("tuple<integer>", [[1, 2]], [1, 2], None),
    ("dict", [{"b": [1]}, {"a": [1]}], {"b": 1}, None),
    ("dict", [""], {}, "dict_checker:unclear"),
    ("dict", [{"a": 1}], {"a": 1}, CRASH),
    ("array<dict>", [[{"b": [2]}], [{"a": [1]}], [{"b": [2]}]], [{"a": 1}], None),
    ("array<dict>", [[{"a": [1]}], ""], [1], CRASH),
    ("array<dict>", [""], [], None),
    ("array", [[1]], [1], CRASH),
    ("number", [1], 1, CRASH),
]


@pytest.mark.parametrize("documented, alternatives, value, expected", VALUES)
def test_values(documented, alternatives, value, expected):
    assert verdict([tool({"a": documented})], [{"f": {"a": value}}], [{"f": {"a": alternatives}}]) == expected


TOOLS = [tool({"a": "integer"}), tool({"b": "integer"}, name="g")]
F1, F2, G1, H1 = {"f": {"a": 1}}, {"f": {"a": 2}}, {"g": {"b": 1}}, {"h": {"b": 1}}
UNMATCHED = "parallel_function_checker_no_order:cannot_find_match"
NO_KEYS, NONE_REQUIRED = (documented("f") | {"parameters": {name: {}}} for name in ("required", "properties"))


@pytest.mark.parametrize(
    ("functions", "calls", "truth", "category", "expected"),
    [
        (TOOLS, [F1], [{"g": {"a": [1]}}], "simple_python", None),  # one tool is known by its documentation
        (TOOLS, [G1], [{"g": {"b": [1]}}], "multiple", None),  # and one of several by the answer
        (TOOLS, [H1], [{"h": {"b": [1]}}], "multiple", CRASH),
        (TOOLS, [F2, F1], [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}], "parallel", None),  # matching is greedy
        (TOOLS, [F1, F2], [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}], "parallel", UNMATCHED),
        ([NO_KEYS], [F1], [{"f": {"a": [1]}}], "simple_python", CRASH),
        ([NONE_REQUIRED], [F1], [{"f": {"a": [1]}}], "simple_python", CRASH),
    ],
)
def test_which_tool_and_which_call(functions, calls, truth, category, expected):
    assert verdict(functions, calls, truth, category) == expected


ANY_VALUE = st.recursive(
    st.sampled_from(["", "x", "5", 0, 1, 2.0, 2.5, True, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
ANY_TYPE = st.sampled_from(
    ["string", "integer", "float", "boolean", "dict", "any", "array<integer>", "array<string>", "array<dict>"]
)


@given(ANY_TYPE, st.lists(ANY_VALUE, max_size=3), ANY_VALUE, st.booleans())
def test_the_reference_call_is_right_if_any_is(documented, alternatives, value, required):
    """``value`` is any prediction: where it is accepted, so is the reference. Nothing raises, whatever the answer."""
    functions = [tool({"a": documented}, ["a"] if required else [])]
    truth = [{"f": {"a": alternatives}}]
    [reference] = reference_calls(functions, truth, "simple_python")
    judged = verdict(functions, [{"f": dict(reference.arguments)}], truth)
    for arguments in ({"a": value}, {}, *({"a": a} for a in alternatives)):
        if verdict(functions, [{"f": arguments}], truth) is None:
            assert judged is None


@pytest.mark.parametrize(
    ("accepted", "types", "required", "arguments"),
    [
        ({"a": [""]}, {"a": "string"}, [], {}),
        ({"a": [""]}, {"a": "string"}, ["a"], {"a": ""}),
        ({"a": [1], "z": [2, ""]}, {"a": "integer"}, ["a"], {"a": 1}),
        ({"a": [[1.5, 2]]}, {"a": "array<float>"}, ["a"], {"a": [1.5, 2.0]}),
        ({"a": [{"x": ["", "u"], "y": [""]}]}, {"a": "dict"}, ["a"], {"a": {"x": "u"}}),
        ({"a": []}, {"a": "array<array>"}, ["a"], None),
        ({"z": [1]}, {"a": "integer"}, ["a"], None),
    ],
)
def test_reference_calls_of_odd_answers(accepted, types, required, arguments):
    """The oddities that SCORING.md lists: what they are, and whether a call can be right."""
    functions, truth = [tool(types, required)], [{"f": accepted}]
    [reference] = reference_calls(functions, truth, "simple_python")
    assert (verdict(functions, [{"f": dict(reference.arguments)}], truth) is None) == (arguments is not None)
    assert arguments is None or repr(reference.arguments) == repr(arguments)
