"""BFCL: calls are read as by the official decoder (and by that of ACEBench), and compared; no text does harm."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval.benchmarks import acebench_checker as acebench
from eval.benchmarks.bfcl import reference_calls
from eval.benchmarks.bfcl_checker import check_calls
from eval.benchmarks.python_calls import MAX_BITS, UNPACKED, decode_calls
from eval.benchmarks.samples import CRASH
from growth import assert_linear
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import MAX_LENGTH, UnreadableCallError
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
@example("array<float>", [[1.5, 2]], [1.5, 2.0], True)
@example("array<array>", [], [], True)
def test_the_reference_call_is_right_if_any_is(documented, alternatives, value, required):
    """``value`` is any prediction: where it is accepted, so is the reference. Nothing raises, whatever the answer."""
    functions = [tool({"a": documented}, ["a"] if required else [])]
    truth = [{"f": {"a": alternatives}}]
    [reference] = reference_calls(functions, truth, "simple_python")
    judged = verdict(functions, [{"f": dict(reference.arguments)}], truth)
    for arguments in ({"a": value}, {}, *({"a": a} for a in alternatives)):
        if verdict(functions, [{"f": arguments}], truth) is None:
            assert judged is None
    reference_calls(functions, [{"f": {"z": alternatives}}], "simple_python")  # a key that the documentation lacks


Decode = Callable[[str], Any]
CALL = [("f", {"a": 1})]
SAME = ["[f(a=1)]", "f(a=1)", "[f(a=1)", "f(a=1)]", "`[f(a=1)]`", "```\n[f(a=1)]\n```", "\n [f(a=1,),] \n"]
SAME += ["[f(a=1)] # note", "[f(7, a=1)]", "[f(a=2, a=1)]", "[x[0].f(a=1)]"]
READ = [
    *((decode_calls, text, CALL) for text in SAME),
    (decode_calls, "[f](a=1) # ]", [("", {"a": 1})]),
    (decode_calls, "[]", []),
    (decode_calls, "", []),
    (decode_calls, "[f(), g.h.i(b=2)]", [("f", {}), ("g.h.i", {"b": 2})]),
    (decode_calls, "[f(**k)]", [("f", {UNPACKED: "k"})]),
    (acebench.decode_calls, "[f(a='x y', b=[1, 2])]", [("f", {"a": "xy", "b": [1, 2]})]),  # without white space
    (acebench.decode_calls, "f(a=1), g(b=true)", [("f", {"a": 1}), ("g", {"b": "true"})]),
    (acebench.decode_calls, "{f(a=1)}", CALL),
    (acebench.decode_calls, "[]", []),
]
LITERALS: dict[str, Any] = {
    "-5": -5, "+5": -5, "~5": -5, "not 5": -5, "not True": -1, "-0.5": -0.5, "true": "true", "null": "null",
    "None": None, "...": "...", "'a' 'b'": "ab", "1_000": 1000, "(1)": 1, "(1,)": (1,), "[1, [x]]": [1, ["x"]],
    "{'a': {1: -2}}": {"a": {1: -2}}, "g()": "g()", "g(1,  2)": "g(1, 2)", "g.h(1, b=x)": {"g.h": {"b": "x"}},
    "x[ 0 ]": "x[0]", "x.y[1:2]": "x.y[1:2]", "1 + 2 * 3": 7, "2 ** -1": 0.5, "-(1) + 1": 0, "7 // 2 - 7 % 4": 0,
    "'a' + 'b'": "ab", "1 + True": 2, "1j * 2": 2j, f"2**{MAX_BITS - 1}": 2 ** (MAX_BITS - 1),
}  # fmt: skip
UNREADABLE_TEXTS = [
    "Sure: [f(a=1)]", "[f(a=1)] ok", "[f(a=1)];", "'[f(a=1)]'", "```python\n[f(a=1)]\n```", "[[f(a=1)]]",
    "f(a=1)\nf(a=1)", '[{"f": {"a": 1}}]', "[f(a=1)][0]", "[f]", "[f(a=1)\x00]", "[f(a='\ud800')]", "\t[f(a=1)]",
]  # fmt: skip
UNREADABLE_VALUES = [
    "x.y", "{1}", "[*a]", "{**a}", "{[]: 1}", "f'{x}'", "lambda: 1", "1 if x else 2", "1 < 2", "a and b", "(x := 1)",
    "-x", "--5", "-'a'", "-None", "007", "“x”", "x + 1",  "'%s' % 1", "1 / 0", "'a' - 1", "1 @ 2", "len('a') + 1",
    "[1][0] + 1", "await x", "'a' * 2", "[1] + [2]", "1 << 3", "1 2", "",
]  # fmt: skip
HARMFUL_VALUES = [
    "9**9**9", "9.0**9**9", "(10**4000)**4000", "1<<9**9", "'a'*9**9", "[1]*9**9", "1" * 5000, "0x" + "f" * 90_000,
    "'%999999999d' % 1", "__import__('os').system('true') + 1", f"2**{MAX_BITS}",
]  # fmt: skip
HARMFUL_TEXTS = [
    "[" * 1_000_000, "[" * MAX_LENGTH, "f(" * 40_000, "f(a=" * 20_000, "[f(a=" + "{1:" * 190, "\ud800" * 1000,
    "[f(a=" + "-" * 90_000 + "1)]", "[f(a=" + "1+" * 45_000 + "1)]", "f" + ".a" * 45_000 + "()", "\0" * 1000,
    "[f(a=g" + "()" * 45_000 + ")]",
]  # fmt: skip
ACEBENCH_UNREADABLE = ["f(a=1)", "", "[[f()]]", "['f(a=1)']", "Sure: [f(a=1)]", "```[f(a=1)]```", "[f(a=x.y)]"]
UNREADABLE = [
    *((decode_calls, text) for text in UNREADABLE_TEXTS + HARMFUL_TEXTS),
    *((decode_calls, f"[f(a={value})]") for value in UNREADABLE_VALUES + HARMFUL_VALUES),
    *((acebench.decode_calls, text) for text in ACEBENCH_UNREADABLE),
]


@pytest.mark.parametrize(("decode", "text", "calls"), READ)
def test_calls_are_read_as_officially(decode: Decode, text: str, calls: Any) -> None:
    assert [(call.name, call.arguments) for call in decode(text)] == calls


@pytest.mark.parametrize("text", LITERALS)
def test_values_are_read_as_officially(text: str) -> None:
    [call] = decode_calls(f"[f(a={text})]")
    assert repr(call.arguments["a"]) == repr(LITERALS[text])  # repr tells 1, 1.0 and True apart


@pytest.mark.parametrize(("decode", "text"), UNREADABLE, ids=lambda value: getattr(value, "__name__", repr(value)[:50]))
def test_what_is_refused(decode: Decode, text: str) -> None:
    with pytest.raises(UnreadableCallError) as error:
        decode(text)
    assert len(str(error.value)) < 500


@given(st.text(max_size=200) | st.text(alphabet="[](){}'\",=:.+-*/% \n\\#0aN_f`", max_size=60))
@example("[f(a='\\d')]")
def test_no_text_raises_anything_else(text: str) -> None:
    for shape in (text, f"[f(a={text})]", f"[f({text})]"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for decode in (decode_calls, acebench.decode_calls):
                with contextlib.suppress(UnreadableCallError):
                    decode(shape)


@pytest.mark.parametrize("piece", ["1,", "[1],", "{'a':1},", "'a'+'b',", "g(b=1),", "x[0],"])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(decode_calls, lambda n: "[f(a=[" + piece * n + "])]", 1500)
