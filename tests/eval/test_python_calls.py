"""Calls read from predictions: the official decoders' oddities, and no harm from any text."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval.benchmarks.acebench import checker as acebench
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import MAX_BITS, MAX_LENGTH, UNPACKED, CallDecodeError
from growth import assert_linear

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
VALUES: dict[str, Any] = {
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
    assert decode(text) == calls


@pytest.mark.parametrize("text", VALUES)
def test_values_are_read_as_officially(text: str) -> None:
    [(_, arguments)] = decode_calls(f"[f(a={text})]")
    assert repr(arguments["a"]) == repr(VALUES[text])  # repr tells 1, 1.0 and True apart


@pytest.mark.parametrize(("decode", "text"), UNREADABLE, ids=lambda value: getattr(value, "__name__", repr(value)[:50]))
def test_what_is_refused(decode: Decode, text: str) -> None:
    with pytest.raises(CallDecodeError) as error:
        decode(text)
    assert len(str(error.value)) < 500


@given(st.text(max_size=200) | st.text(alphabet="[](){}'\",=:.+-*/% \n\\#0aN_f`", max_size=60))
@example("[f(a='\\d')]")
def test_no_text_raises_anything_else(text: str) -> None:
    for shape in (text, f"[f(a={text})]", f"[f({text})]"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for decode in (decode_calls, acebench.decode_calls):
                with contextlib.suppress(CallDecodeError):
                    decode(shape)


@pytest.mark.parametrize("piece", ["1,", "[1],", "{'a':1},", "'a'+'b',", "g(b=1),", "x[0],"])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(decode_calls, lambda n: "[f(a=[" + piece * n + "])]", 1500)
