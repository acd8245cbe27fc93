"""The comparison of calls with BFCL's possible answers: the official rules, each by its error type."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.bfcl.checker import check_calls
from eval.benchmarks.bfcl.reference import reference_calls
from eval.benchmarks.faults import CRASH
from tooldecoding.formats.call_format import Call


def tool(types: dict[str, Any], required: list[str] | None = None, name: str = "f") -> dict[str, Any]:
    """Documentation; a type ``array<integer>`` has elements."""
    properties = {}
    for key, kind in types.items():
        outer, _, item = kind.rstrip(">").partition("<")
        properties[key] = {"type": outer} | ({"items": {"type": item}} if item else {})
    keys = list(types) if required is None else required
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": keys}}


def verdict(functions, calls, truth, category="simple_python") -> str | None:
    fault = check_calls(functions, [Call(n, a) for c in calls for n, a in c.items()], truth, category)
    return fault and fault.error_type


# documented type, alternatives, value, error type
VALUES = [
    ("string", ["San Jose, CA"], "san jose ca", None),
    ("string", ["x"], "X /.-_*^,", None),
    ("string", ["it's"], 'it"s', None),
    ("string", ["x"], "x\n", "value_error:string"),
    ("string", ["5"], "-5", None),
    ("string", ["x", ""], "", None),
    ("string", ["x", ""], "-", None),
    ("string", ["x"], 1, "type_error:simple"),
    ("string", ["x", None], None, "type_error:simple"),
    ("string", ["", None], None, None),
    ("string", ["", None], "", None),
    ("string", ["", None], "x", "value_error:others"),
    ("string", [2], 2, None),
    ("string", [2], "2", "value_error:others"),
    ("any", ["x"], "X", None),
    ("any", [1], 1, None),
    ("any", ["x"], 1, "type_error:simple"),
    ("integer", [1], 1, None),
    ("integer", [1], 2, "value_error:others"),
    ("integer", [1], True, "type_error:simple"),
    ("integer", [1], 1.0, "type_error:simple"),
    ("integer", ["x"], "x", None),
    ("integer", ["x"], "X", "value_error:others"),
    ("integer", [], 1, "value_error:others"),
    ("float", [1.5], 1.5, None),
    ("float", [2.0], 2, None),
    ("float", [2], 2.0, None),
    ("float", [2.0], "2", "type_error:simple"),
    ("float", [2.0], 10**400, CRASH),
    ("boolean", [True], True, None),
    ("boolean", [True], 1, "type_error:simple"),
    ("boolean", [True], False, "value_error:others"),
    ("array<integer>", [[1, 2]], [1, 2], None),
    ("array<integer>", [[1, 2]], [2, 1], "value_error:list/tuple"),
    ("array<integer>", [[1, 2]], (1, 2), "type_error:simple"),
    ("array<integer>", [[1, 2]], [1.0, 2], "type_error:nested"),
    ("array<integer>", [[1], ""], ["x"], "value_error:list/tuple"),
    ("array<integer>", [[1], ""], [], None),
    ("array<integer>", [[1]], [], "value_error:list/tuple"),
    ("array<integer>", [], [], "type_error:simple"),
    ("array<float>", [[1, 2]], [1, 2], None),
    ("array<float>", [[1.0, 2]], [1.0, 2], "type_error:nested"),
    ("array<float>", [[1.0, 2]], [1.0, 2.0], None),
    ("array<string>", [["a B"]], ["A-b"], None),
    ("array<string>", [["a"], ["b"]], ["b"], None),
    ("array<array>", [[["a"]]], [["a"]], None),
    ("array<array>", [[["a"]]], [["A"]], "value_error:list/tuple"),
    ("array<string>", [["a"], 1], ["a"], CRASH),
    ("tuple<integer>", [[1, 2]], (1, 2), None),
    ("tuple<integer>", [[1, 2]], [1, 2], None),
    ("dict", [{"a": [1], "b": ["x", ""]}], {"a": 1}, None),
    ("dict", [{"a": [1], "b": ["x", ""]}], {"b": "X ", "a": True}, None),
    ("dict", [{"a": [1]}], {}, "value_error:dict_key"),
    ("dict", [{"a": [1]}], {"a": 1, "b": 1}, "value_error:dict_key"),
    ("dict", [{"a": [1]}], {"a": 2}, "value_error:dict_value"),
    ("dict", [{"a": [1], "b": [1]}], {"a": 2}, "value_error:dict_key"),
    ("dict", [{"a": [1]}, {"b": [1]}], {"b": 1}, None),
    ("dict", [{"a": [{"k": [1]}]}], {"a": {"k": [1]}}, None),
    ("dict", [""], {}, "dict_checker:unclear"),
    ("dict", [{"a": [1]}], "x", "type_error:simple"),
    ("dict", [{"a": 1}], {"a": 1}, CRASH),
    ("array<dict>", [[{"a": [1]}, {"b": [2]}]], [{"a": 1}, {"b": 2}], None),
    ("array<dict>", [[{"a": [1]}, {"b": [2]}]], [{"b": 2}, {"a": 1}], "value_error:dict_key"),
    ("array<dict>", [[{"a": [1]}]], [{"a": 1}, {"a": 1}], "value_error:list_dict_count"),
    ("array<dict>", [[{"a": [1]}], ""], [], None),
    ("array<dict>", [[{"a": [1]}], ""], [1], CRASH),
    ("array", [[1]], [1], CRASH),
    ("number", [1], 1, CRASH),
]


@pytest.mark.parametrize("documented, alternatives, value, expected", VALUES)
def test_values(documented, alternatives, value, expected):
    assert verdict([tool({"a": documented})], [{"f": {"a": value}}], [{"f": {"a": alternatives}}]) == expected


KEYS = tool({"a": "integer", "b": "integer", "c": "integer"}, ["a"])
ANSWER = {"f": {"a": [1], "b": [2], "d": [4, ""]}}
CALLS = [
    ({"f": {"a": 1, "b": 2}}, None),
    ({"f": {"b": 2, "a": 1}}, None),
    ({"g": {"a": 1, "b": 2}}, "simple_function_checker:wrong_func_name"),
    ({"g": {}}, "simple_function_checker:wrong_func_name"),
    ({"f": {"z": 1}}, "simple_function_checker:missing_required"),
    ({"f": {"a": 1}}, "simple_function_checker:missing_optional"),
    ({"f": {"a": 1, "b": 2, "c": 3}}, "simple_function_checker:unexpected_param"),
    ({"f": {"a": 1, "b": 2, "d": 4}}, "simple_function_checker:unexpected_param"),
    ({"f": {"a": 1, "z": 3, "b": "2"}}, "simple_function_checker:unexpected_param"),
    ({"f": {"a": 1, "b": "2", "z": 3}}, "type_error:simple"),
    ({"f": {"a": 7}}, "value_error:others"),
]


@pytest.mark.parametrize("call, expected", CALLS)
def test_keys(call, expected):
    assert verdict([KEYS], [call], [ANSWER]) == expected


def test_how_many_calls():
    one, two = [{"f": {"a": 1}}], [{"f": {"a": 1}}, {"f": {"a": 1}}]
    documented, truth = [tool({"a": "integer"})], [{"f": {"a": [1]}}]
    assert verdict(documented, two, truth, "simple_python") == "simple_function_checker:wrong_count"
    assert verdict(documented, [], truth, "live_multiple") == "multiple_function_checker:wrong_count"
    assert verdict(documented, two, truth, "parallel") == "parallel_function_checker_no_order:wrong_count"
    assert verdict(documented, one, truth, "live_parallel_multiple") is None


def test_a_single_tool_is_known_by_its_documentation_and_one_of_several_by_the_answer():
    documented = [tool({"a": "integer"}), tool({"b": "integer"}, name="g")]
    assert verdict(documented, [{"f": {"a": 1}}], [{"g": {"a": [1]}}], "simple_python") is None
    assert verdict(documented, [{"g": {"b": 1}}], [{"g": {"b": [1]}}], "multiple") is None
    assert verdict(documented, [{"h": {"b": 1}}], [{"h": {"b": [1]}}], "multiple") == CRASH


def test_parallel_matching_is_greedy():
    documented = [tool({"a": "integer"})]
    truth = [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}]
    wide, narrow = {"f": {"a": 2}}, {"f": {"a": 1}}
    assert verdict(documented, [wide, narrow], truth, "parallel") is None
    unmatched = "parallel_function_checker_no_order:cannot_find_match"
    assert verdict(documented, [narrow, wide], truth, "parallel") == unmatched


def test_documentation_that_ends_the_official_scorer():
    for part in ("properties", "required"):
        broken = tool({"a": "integer"})
        del broken["parameters"][part]
        assert verdict([broken], [{"f": {"a": 1}}], [{"f": {"a": [1]}}]) == CRASH


# a type with values of it; alternatives and documentation are drawn from these
TYPED = {
    "string": st.text(max_size=6),
    "integer": st.integers(-9, 9),
    "float": st.floats(-9, 9, allow_subnormal=False).map(lambda v: round(v, 3)),
    "boolean": st.booleans(),
    "array<integer>": st.lists(st.integers(0, 9), max_size=3),
    "array<string>": st.lists(st.text(max_size=3), max_size=3),
}


@st.composite
def entries(draw):
    """A tool, one answer for it, and a call with its first alternatives: some optional, left out of the call or not."""
    types, accepted, call, required = {}, {}, {}, []
    for key in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)):
        types[key] = draw(st.sampled_from(sorted(TYPED)))
        accepted[key] = draw(st.lists(TYPED[types[key]], min_size=1, max_size=3))
        call[key] = accepted[key][0]
        if draw(st.booleans()):
            required.append(key)
        elif draw(st.booleans()):
            accepted[key].append("")
            if draw(st.booleans()):
                del call[key]
    return tool(types, required), {"f": accepted}, call


@given(entries(), st.randoms())
def test_laws_of_a_right_call(entry, random):
    function, answer, arguments = entry

    def right(given):
        return verdict([function], [{"f": given}], [answer])

    assert right(arguments) is None
    keys = list(arguments)
    random.shuffle(keys)
    assert right({k: arguments[k] for k in keys}) is None, "the sequence of keys is free"
    assert right({"z": 1} | arguments) in (
        "simple_function_checker:unexpected_param",
        "simple_function_checker:missing_required",
    )
    if set(function["parameters"]["required"]) <= set(arguments):
        assert right({"z": 1} | arguments) == "simple_function_checker:unexpected_param"
    for key in arguments:
        rest = {k: v for k, v in arguments.items() if k != key}
        if key in function["parameters"]["required"]:
            assert right(rest) == "simple_function_checker:missing_required"
        elif "" not in answer["f"][key]:
            assert right(rest) == "simple_function_checker:missing_optional"
        else:
            assert right(rest) is None
        assert right(arguments | {key: object()}) == "type_error:simple"


@given(st.lists(entries(), min_size=1, max_size=3), st.randoms())
def test_laws_of_parallel_calls(parts, random):
    """Calls of different tools may stand in any sequence; of one too many or few, none is right."""
    functions = [{**f, "name": f"f{i}"} for i, (f, _, _) in enumerate(parts)]
    truth = [{f"f{i}": answer["f"]} for i, (_, answer, _) in enumerate(parts)]
    calls = [{f"f{i}": arguments} for i, (_, _, arguments) in enumerate(parts)]
    random.shuffle(calls)
    assert verdict(functions, calls, truth, "parallel_multiple") is None
    wrong = "parallel_function_checker_no_order:wrong_count"
    assert verdict(functions, calls[1:], truth, "parallel_multiple") == wrong
    assert verdict(functions, [*calls, calls[0]], truth, "parallel_multiple") == wrong


ANY_VALUE = st.recursive(
    st.sampled_from(["", "x", "5", 0, 1, 2.0, 2.5, True, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
ANY_TYPE = st.sampled_from(
    ["string", "integer", "float", "boolean", "dict", "any", *TYPED, "array<dict>", "array<any>"]
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


def test_reference_calls_of_odd_answers():
    """The oddities that SCORING.md lists: what they are, and whether a call can be right."""
    optional = ({"a": [""]}, {"a": "string"}, [])
    emptied = ({"a": [""]}, {"a": "string"}, ["a"])
    undocumented = ({"a": [1], "z": [2, ""]}, {"a": "integer"}, ["a"])
    mixed = ({"a": [[1.5, 2]]}, {"a": "array<float>"}, ["a"])
    inner = ({"a": [{"x": ["", "u"], "y": [""]}]}, {"a": "dict"}, ["a"])
    for (accepted, types, required), arguments in (
        (optional, {}),
        (emptied, {"a": ""}),
        (undocumented, {"a": 1}),
        (mixed, {"a": [1.5, 2.0]}),
        (inner, {"a": {"x": "u"}}),
    ):
        functions, truth = [tool(types, required)], [{"f": accepted}]
        [reference] = reference_calls(functions, truth, "simple_python")
        assert repr(reference.arguments) == repr(arguments)
        assert verdict(functions, [{"f": dict(reference.arguments)}], truth) is None
    for accepted, types in (({"a": []}, {"a": "array<array>"}), ({"z": [1]}, {"a": "integer"})):
        functions, truth = [tool(types)], [{"f": accepted}]
        [reference] = reference_calls(functions, truth, "simple_python")
        assert verdict(functions, [{"f": dict(reference.arguments)}], truth) is not None
