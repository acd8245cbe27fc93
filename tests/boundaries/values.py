"""Values that lie at token boundaries, in calls of one tool with unused optional keys, and the law for them."""

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boundaries.gold import PROMPTS, TAILS
from boundaries.judge import AGAINST, Case, Judge, is_admitted_call
from lookup.dictionary import LookupDictionary
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tools import parameter, tool

PIECES = [
    *("'", '"', "\\", "]", ")", "}", "[", "(", "{", "=", ",", ":", "#", "+", "-", ".", " ", "  ", "'')]", "), "),
    *("a", "x y", "C++", "12", "0", "-1", "3.5", "京", "東京", "é", "e\u0301", "ß", "🙂", "👩‍👩‍👧", "नमस्ते", "\u3000"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join) | st.text(max_size=6).filter(str.isprintable)
NUMBERS = st.sampled_from([0, -1, 7, 12, 2023, -40, 10**9]) | st.integers(-999, 99999)
FLOATS = st.sampled_from([0.5, -0.25, 10.0, 3.14, -7.0, 1e-07, 1e16]) | st.decimals(-99, 999, places=2).map(float)
ENUM = ("C", "C#", "C++", "Java", "JavaScript", "", "'", "a b", "日本", "日本語")
KEYS = ["a", "b", "cc", "a_b", "a1", "名前", "ключ", "x y"]
NAMES = ["f", "Get.It", "get_2", "天气", "a b"]


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(TEXTS, leaves | st.lists(leaves, max_size=2), max_size=2)


KINDS: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "text": ({"kind": "str"}, TEXTS),
    "whole number": ({"kind": "int"}, NUMBERS),
    "number": ({"kind": "float"}, FLOATS | NUMBERS),
    "flag": ({"kind": "bool"}, st.booleans()),
    "member": ({"kind": "str", "enum": ENUM}, st.sampled_from(ENUM)),
    "texts": ({"kind": "list", "items": "str"}, st.lists(TEXTS, max_size=3)),
    "numbers": ({"kind": "list", "items": "int"}, st.lists(NUMBERS, max_size=3)),
    "list": ({"kind": "list"}, st.lists(TEXTS | NUMBERS | st.lists(TEXTS, max_size=2), max_size=3)),
    "object": ({"kind": "dict"}, nested(TEXTS | NUMBERS | FLOATS | nested(TEXTS))),
}


@st.composite
def cases(draw: st.DrawFn, format: str) -> Case:
    """One call with 1 to 3 keys, of which some may be optional, and 0 to 3 optional ones that it does not use."""
    keys = draw(st.permutations(KEYS))
    used = draw(st.integers(1, 3))
    unused = draw(st.integers(0, 3))
    required = draw(st.integers(0, used))
    parameters, arguments = [], {}
    for number, key in enumerate(keys[: used + unused]):
        fields, values = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        parameters.append(parameter(key, required=number < required, **fields))
        if number < used:
            arguments[key] = draw(values)
    name = draw(st.sampled_from(NAMES))
    prompt, tail = draw(st.sampled_from(PROMPTS)), draw(st.sampled_from(TAILS))
    spec, call = tool(name, *parameters), Call(name, arguments)
    if not is_admitted_call(call, spec, CALL_FORMATS[format]):  # api-bank has no empty values
        call = Call(name, arguments | {p.name: 1 for p in parameters if p.name in arguments})
        spec = tool(name, *(parameter(p.name, "int", required=bool(p.required)) for p in parameters))
    return Case("made up", format, LookupDictionary((spec,)), (call,), prompt, tail)


def demand_made_up(judges: Sequence[Judge], count: int, formats: Iterable[str] = CALL_FORMATS) -> None:
    """Judge so many cases."""

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(judges), st.sampled_from(sorted(formats)).flatmap(cases), st.sampled_from(AGAINST))
    def law(judge: Judge, case: Case, against: Any) -> None:
        assert judge.judge(case, against).miss is None

    law()
