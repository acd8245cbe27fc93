"""The reading of BFCL predictions: the official decoder's oddities, and no harm from any text."""

import contextlib
import operator
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval.benchmarks.arithmetic import MAX_BITS, MAX_SIZE
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import MAX_LENGTH, UNPACKED, CallDecodeError
from growth import assert_linear
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS

CALL = [("f", {"a": 1})]

READ = {
    "[f(a=1)]": CALL,
    "f(a=1)": CALL,
    "[f(a=1)": CALL,
    "f(a=1)]": CALL,
    "`[f(a=1)]`": CALL,
    "```\n[f(a=1)]\n```": CALL,
    "\n [f(a=1,),] \n": CALL,
    "[f(a=1)] # note": CALL,
    "[f(7, a=1)]": CALL,
    "[f(a=2, a=1)]": CALL,
    "[f](a=1) # ]": [("", {"a": 1})],
    "[]": [],
    "": [],
    "[f(), g.h.i(b=2)]": [("f", {}), ("g.h.i", {"b": 2})],
    "[x[0].f(a=1)]": CALL,
    "[f(**k)]": [("f", {UNPACKED: "k"})],
}

VALUES = {
    "-5": -5,
    "+5": -5,
    "~5": -5,
    "not 5": -5,
    "not True": -1,
    "-0.5": -0.5,
    "true": "true",
    "null": "null",
    "None": None,
    "...": "...",
    "'a' 'b'": "ab",
    "1_000": 1000,
    "(1)": 1,
    "(1,)": (1,),
    "[1, [x]]": [1, ["x"]],
    "{'a': {1: -2}}": {"a": {1: -2}},
    "g()": "g()",
    "g(1,  2)": "g(1, 2)",
    "g.h(1, b=x)": {"g.h": {"b": "x"}},
    "x[ 0 ]": "x[0]",
    "x.y[1:2]": "x.y[1:2]",
    "1 + 2 * 3": 7,
    "2 ** -1": 0.5,
    "-(1) + 1": 0,
    "7 // 2 - 7 % 4": 0,
    "1 << 3 | 1": 9,
    "'a' + 'b'": "ab",
    "[1] * 2": [1, 1],
    "2 * (1,)": (1, 1),
    "~1 + 1": -1,
    "(not 1) + 1": 1,
}

UNREADABLE = [
    "Sure: [f(a=1)]",
    "[f(a=1)] ok",
    "[f(a=1)];",
    "'[f(a=1)]'",
    '"[f(a=1)]"',
    "```python\n[f(a=1)]\n```",
    "[[f(a=1)]]",
    "f(a=1)\nf(a=1)",
    '[{"f": {"a": 1}}]',
    "[f(a=1)][0]",
    "[f]",
    "[f(a=1)\x00]",
    "[f(a='\ud800')]",
    "\t[f(a=1)]",
]

UNREADABLE_VALUES = [
    "x.y", "{1}", "[*a]", "{**a}", "{[]: 1}", "f'{x}'", "lambda: 1", "1 if x else 2", "1 < 2", "a and b", "(x := 1)",
    "-x", "--5", "-'a'", "-None", "007", "“x”", "x + 1", "'%s' % 1", "1 / 0", "'a' - 1", "1 @ 2", "len('a') + 1",
    "[1][0] + 1", "await x", "1 2", "",
]  # fmt: skip

HARMFUL_VALUES = {
    "power": "9**9**9",
    "float power": "9.0**9**9",
    "power of a power": "(10**4000)**4000",
    "shift": "1<<9**9",
    "long text": "'a'*9**9",
    "nested repetition": "[[[[1]*999]*999]*999]*999",
    "doubling": "+".join(["'a'*30000"] * 9),
    "many long lists": "[" + "[1]*50000," * 2000 + "]",
    "number": "1" * 5000,
    "hexadecimal": "0x" + "f" * 90_000,
    "formatting": "'%999999999d' % 1",
    "import": "__import__('os').system('true') + 1",
}

HARMFUL_TEXTS = {
    "brackets": "[" * 1_000_000,
    "open brackets": "[" * MAX_LENGTH,
    "calls": "f(" * 40_000,
    "keys": "f(a=" * 20_000,
    "dicts": "[f(a=" + "{1:" * 190,
    "signs": "[f(a=" + "-" * 90_000 + "1)]",
    "nots": "[f(a=" + "not " * 20_000 + "1)]",
    "sum": "[f(a=" + "1+" * 45_000 + "1)]",
    "dots": "f" + ".a" * 45_000 + "()",
    "called calls": "[f(a=g" + "()" * 45_000 + ")]",
    "lambdas": "[f(a=" + "lambda:" * 12_000 + "1)]",
    "list": "[f(a=[" + "1," * 45_000 + "])]",
    "surrogates": "\ud800" * 1000,
    "zeros": "\0" * 1000,
    "many calls": "f()," * 25_000,
}


@pytest.mark.parametrize("text", READ)
def test_calls_are_read_as_officially(text):
    assert decode_calls(text) == READ[text]


@pytest.mark.parametrize("text", VALUES)
def test_values_are_read_as_officially(text):
    [(_, arguments)] = decode_calls(f"[f(a={text})]")
    assert repr(arguments["a"]) == repr(VALUES[text])  # repr tells 1, 1.0 and True apart


@pytest.mark.parametrize("text", UNREADABLE + [f"[f(a={v})]" for v in UNREADABLE_VALUES])
def test_what_the_official_decoder_refuses(text):
    with pytest.raises(CallDecodeError):
        decode_calls(text)


@pytest.mark.parametrize("name", HARMFUL_VALUES)
def test_arithmetic_is_bounded(name):
    with pytest.raises(CallDecodeError):
        decode_calls(f"[f(a={HARMFUL_VALUES[name]})]")


@pytest.mark.parametrize("name", HARMFUL_TEXTS)
def test_adversarial_texts(name):
    try:
        decode_calls(HARMFUL_TEXTS[name])
    except CallDecodeError as error:
        assert len(str(error)) < 500


def test_arithmetic_is_exact_up_to_the_bound():
    assert decode_calls(f"f(a=2**{MAX_BITS - 1})") == [("f", {"a": 2 ** (MAX_BITS - 1)})]
    with pytest.raises(CallDecodeError):
        decode_calls(f"f(a=2**{MAX_BITS})")
    for unit in ("'x'", "[1]", "['']", "(1,)"):
        [(_, arguments)] = decode_calls(f"f(a={unit}*{MAX_SIZE})")
        assert len(arguments["a"]) == MAX_SIZE
        for text in (f"f(a={unit}*{MAX_SIZE + 1})", f"f(a={unit}*{MAX_SIZE}, b={unit}*1)"):
            with pytest.raises(CallDecodeError):
                decode_calls(text)


@given(st.text(max_size=200))
@example("[f(a='\\d')]")
def test_no_text_raises_anything_else(text):
    for shape in (text, f"[f(a={text})]", f"[f({text})]"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(CallDecodeError):
                decode_calls(shape)


@given(st.text(alphabet="[](){}'\",=:.+-*/% \n\\#0aN_f`", max_size=60))
def test_no_syntax_raises_anything_else(text):
    for shape in (text, f"[f(a={text})]"):
        with contextlib.suppress(CallDecodeError):
            decode_calls(shape)


KEYS = st.text(alphabet="abcxyz_", min_size=1, max_size=5).filter(lambda k: k != "as")
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(st.builds(Call, KEYS, st.dictionaries(KEYS, LITERALS, max_size=3)), max_size=3))
def test_pythonic_calls_are_read_back(calls):
    read = decode_calls(CALL_FORMATS["pythonic"].render(calls))
    assert repr(read) == repr([(c.name, dict(c.arguments)) for c in calls])


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod}
OPERANDS = st.integers(0, 50) | st.booleans() | st.sampled_from([0.5, 2.0])
EXPRESSIONS = st.recursive(
    OPERANDS.map(lambda v: (repr(v), v)),
    lambda inner: st.tuples(inner, st.sampled_from(sorted(OPERATORS)), inner).map(
        lambda t: (f"({t[0][0]}) {t[1]} ({t[2][0]})", _applied(t))
    ),
    max_leaves=6,
)


def _applied(parts):
    (_, left), sign, (_, right) = parts
    if "error" in (left, right):
        return "error"
    try:
        return OPERATORS[sign](left, right)
    except ZeroDivisionError:
        return "error"


@given(EXPRESSIONS)
def test_arithmetic_is_pythons(expression):
    text, value = expression
    try:
        [(_, arguments)] = decode_calls(f"f(a={text})")
    except CallDecodeError:
        assert value == "error"
    else:
        assert repr(arguments["a"]) == repr(value)


@pytest.mark.parametrize("piece", ["1,", "[1],", "{'a':1},", "'a'+'b',", "g(b=1),", "x[0],"])
def test_reading_takes_linear_time(piece):
    assert_linear(decode_calls, lambda n: "[f(a=[" + piece * n + "])]", 1500)
