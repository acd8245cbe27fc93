"""Calls read from predictions: the official decoders' oddities, and no harm from any text."""

import contextlib
import warnings
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval.benchmarks.acebench import checker as acebench
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import MAX_BITS, MAX_LENGTH, UNPACKED, CallDecodeError
from growth import assert_linear

CALL = [("f", {"a": 1})]
READ: dict[str, Any] = {
    **dict.fromkeys(("[f(a=1)]", "f(a=1)", "[f(a=1)", "f(a=1)]", "`[f(a=1)]`", "```\n[f(a=1)]\n```"), CALL),
    **dict.fromkeys(("\n [f(a=1,),] \n", "[f(a=1)] # note", "[f(7, a=1)]", "[f(a=2, a=1)]", "[x[0].f(a=1)]"), CALL),
    "[f](a=1) # ]": [("", {"a": 1})],
    "[]": [],
    "": [],
    "[f(), g.h.i(b=2)]": [("f", {}), ("g.h.i", {"b": 2})],
    "[f(**k)]": [("f", {UNPACKED: "k"})],
}
ACEBENCH_READ: dict[str, Any] = {
    "[f(a='x y', b=[1, 2])]": [("f", {"a": "xy", "b": [1, 2]})],
    "f(a=1), g(b=true)": [("f", {"a": 1}), ("g", {"b": "true"})],
    "{f(a=1)}": CALL,
    "[]": [],
}
VALUES: dict[str, Any] = {
    "-5": -5, "+5": -5, "~5": -5, "not 5": -5, "not True": -1, "-0.5": -0.5, "true": "true", "null": "null",
    "None": None, "...": "...", "'a' 'b'": "ab", "1_000": 1000, "(1)": 1, "(1,)": (1,), "[1, [x]]": [1, ["x"]],
    "{'a': {1: -2}}": {"a": {1: -2}}, "g()": "g()", "g(1,  2)": "g(1, 2)", "g.h(1, b=x)": {"g.h": {"b": "x"}},
    "x[ 0 ]": "x[0]", "x.y[1:2]": "x.y[1:2]", "1 + 2 * 3": 7, "2 ** -1": 0.5, "-(1) + 1": 0, "7 // 2 - 7 % 4": 0,
    "'a' + 'b'": "ab", "1 + True": 2, "1j * 2": 2j,
}  # fmt: skip
UNREADABLE = [
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
    "'%999999999d' % 1", "__import__('os').system('true') + 1",
]  # fmt: skip
HARMFUL_TEXTS = [
    "[" * 1_000_000, "[" * MAX_LENGTH, "f(" * 40_000, "f(a=" * 20_000, "[f(a=" + "{1:" * 190, "\ud800" * 1000,
    "[f(a=" + "-" * 90_000 + "1)]", "[f(a=" + "1+" * 45_000 + "1)]", "f" + ".a" * 45_000 + "()", "\0" * 1000,
    "[f(a=g" + "()" * 45_000 + ")]", "[f(a=[" + "1," * 45_000 + "])]", "f()," * 25_000,
]  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_calls_are_read_as_officially(text: str) -> None:
    assert decode_calls(text) == READ[text]


@pytest.mark.parametrize("text", ACEBENCH_READ)
def test_acebench_reads_without_white_space(text: str) -> None:
    assert acebench.decode_calls(text) == ACEBENCH_READ[text]


@pytest.mark.parametrize(
    "text", ["f(a=1)", "", "[[f()]]", "['f(a=1)']", "Sure: [f(a=1)]", "```[f(a=1)]```", "[f(a=x.y)]"]
)
def test_what_acebench_refuses(text: str) -> None:
    with pytest.raises(CallDecodeError):
        acebench.decode_calls(text)


@pytest.mark.parametrize("text", VALUES)
def test_values_are_read_as_officially(text: str) -> None:
    [(_, arguments)] = decode_calls(f"[f(a={text})]")
    assert repr(arguments["a"]) == repr(VALUES[text])  # repr tells 1, 1.0 and True apart


@pytest.mark.parametrize("text", UNREADABLE + [f"[f(a={v})]" for v in UNREADABLE_VALUES + HARMFUL_VALUES])
def test_what_is_refused(text: str) -> None:
    with pytest.raises(CallDecodeError):
        decode_calls(text)


@pytest.mark.parametrize("text", HARMFUL_TEXTS, ids=lambda text: repr(text[:12]))
def test_adversarial_texts(text: str) -> None:
    try:
        decode_calls(text)
    except CallDecodeError as error:
        assert len(str(error)) < 500


def test_arithmetic_is_exact_up_to_the_bound() -> None:
    assert decode_calls(f"f(a=2**{MAX_BITS - 1})") == [("f", {"a": 2 ** (MAX_BITS - 1)})]
    with pytest.raises(CallDecodeError):
        decode_calls(f"f(a=2**{MAX_BITS})")


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
