"""Schemas of texts: patterns find what re finds, formats are the standard library's, sets combine; work is bounded."""

import random
import re
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seams import Schema, grammar_of, literal, steps

from lookup.schema.value_schema import value_schema

SHORT = ["".join(letters) for length in range(5) for letters in product("ab1", repeat=length)]


class Pattern(NamedTuple):
    """The same pattern for ECMA 262 and for ``re.compile(…, re.ASCII)``."""

    ecma: str
    python: str

    def finds(self, text: str) -> bool:
        return re.search(self.python, text, re.ASCII) is not None


ALIKE = (
    "a", "b", "1", "é", "[ab]", "[^a]", "[a-b1]", r"\d", r"\w", "[_\n]", r"[^\d_]", r"\x61", r"\u00e9", r"\n", "(?:)",
)  # fmt: skip
OTHERS = {
    ".": r"[^\n\r\u2028\u2029]", r"\u{e9}": "é", "[^]": r"[\s\S]", "[]": r"[^\s\S]", r"\cj": r"\n", "^": "^",
    "$": r"\Z", r"\b": r"\b", r"\B": r"(?!\b)",  # re's \B does not hold in the empty text
    "{": r"\{", "]": r"\]",
}  # fmt: skip
ATOMS = st.sampled_from([Pattern(atom, OTHERS.get(atom, atom)) for atom in (*ALIKE, *OTHERS, *"^$^$^$")])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{2,3}", "*?", "+?", "??", "{1,2}?"])
GROUPS = st.sampled_from(["(", "(?:", "(?=", "(?!"])


def _wrapped(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    return st.one_of(
        st.builds(lambda a, b: Pattern(a.ecma + b.ecma, a.python + b.python), inner, inner),
        st.builds(lambda a, b: Pattern(f"(?:{a.ecma}|{b.ecma})", f"(?:{a.python}|{b.python})"), inner, inner),
        st.builds(lambda a, times: Pattern(f"(?:{a.ecma}){times}", f"(?:{a.python}){times}"), inner, QUANTIFIERS),
        st.builds(lambda a, group: Pattern(f"{group}{a.ecma})", f"{group}{a.python})"), inner, GROUPS),
    )


PATTERNS = st.recursive(ATOMS, _wrapped, max_leaves=8)


def text_schema(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern}


def texts_of(schema: Schema, texts: list[str]) -> list[str]:
    """Those of the texts that a schema has, as its grammar and its check say."""
    allowed = value_schema(schema)
    grammar = grammar_of(allowed)
    found = [text for text in texts if grammar and grammar.complete(literal(text))]
    assert allowed.notes or found == [text for text in texts if allowed.allows(text)]
    return found


MEANINGS: list[tuple[str, list[str], list[str]]] = [
    ("^a|b$", ["ax", "xb", "ab"], ["xa", "bx", ""]),
    ("a^b", [], ["ab", "a^b"]),
    ("a$b", [], ["ab", "a$b"]),
    ("^(?!^x|y)", ["ab", ""], ["x", "ya"]),
    ("^(?:(?!--)[a-z-])*$", ["a-b", "-"], ["a--b"]),
    (r"^(?=.*\d)(?=.*[a-z])\w{3,5}$", ["a1b", "111a"], ["abc", "123", "a1", "a1b2c3"]),
    (r"^[\w-.]+@[\w.-]+$", ["a-b.c@d.e"], ["a", "@"]),
    (r"^\d{4}-\d{2}$", ["2024-01"], ["\u0662\u0660\u0662\u0664-\u0660\u0661", "2024-01\n"]),
    (r"^\s$", ["\ufeff", "\xa0", "\u2003"], ["\x1c", "\u200b"]),
    ("^.$", ["\x85", "\U0001f600"], ["\n", "\u2028", "ab"]),
    (r"^\uD83D\uDE00$", ["\U0001f600"], ["\ud83d", "\ude00"]),
    (r"^[\uD83D\uDE00-\uD83D\uDE4F]$", ["\U0001f601"], ["\U0001f650"]),
    (r"^\p{Lu}\p{Script=Greek}\P{L}$", ["É\u03b11"], ["é\u03b11", "Éa1", "É\u03b1b"]),
    ("(?i)^straße$", ["STRAßE"], ["STRASSE"]),
    ("(?i)^[^a-c]k$", ["dK"], ["Ak", "d\u212a"]),
    ("(?s)^.$", ["\n"], [""]),
    (r"\Aab\Z", ["ab"], ["ab\n", "xab"]),
    ("^{x}{2,x$", ["{x}{2,x"], ["{x}}"]),
    (r"^\-\_\@\/\"$", ['-_@/"'], ["\\-"]),
    ("^(?<name>a)(?P<other>b)$", ["ab"], ["a"]),
    ("^[[:alpha:]]$", ["a]", ":]"], ["a"]),
    (r"^[\b\0\t]$", ["\b", "\0", "\t"], ["b"]),
    (r"x|\b$", ["b", " b", "bb", "x "], ["", "b "]),
    ("(?=a)$", [], ["", "a"]),
    ("(?!a)$", ["", "a"], []),
    (r"(?i)^[\u212a\xe9]$", ["\u212a", "É"], ["k", "K"]),
    ("(?i)^[Ä-Öя]$", [*"ÄÖäöÅåЯя"], [*"Øøaю"]),
    (r"^\p{Alphabetic}\p{L}$", ["aª", "Ⅷй"], ["1a", "aⅧ"]),
    (r"\uD800|[^a]|\u{F0000}", ["b"], ["a", "\ud800", "\U000f0000", "\U000f00ff"]),
]  # fmt: skip


FORMATS: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31"],
        ["2023-02-29", "1900-02-29", "2024-04-31", "0000-01-01", "2024-1-1"],
    ),
    "time": (
        ["23:59:59Z", "00:00:00.5+14:30", "12:00:00z", "23:59:60Z", "23:59:60.5z", "15:59:60-08:00",
         "01:29:60+01:30", "23:59:60+00:00", "23:29:60+23:30", "05:44:60.25+05:45"],
        ["22:59:60Z", "23:58:60Z", "23:59:61Z", "23:59:60+01:00", "23:59:60-01:00", "24:00:00Z", "12:00:60Z",
         "12:00:00", "12:00Z", "12:00:00+24:00"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "2024-02-28t12:00:00.123-08:00", "1998-12-31T23:59:60Z",
         "1998-12-31T15:59:60.123-08:00"],
        ["1998-12-31T22:59:60Z", "1998-12-31T23:58:60Z", "2023-02-29T12:00:00Z", "2024-02-28 12:00:00Z",
         "2024-02-28"],
    ),
    "duration": (["P1Y2M3DT4H5M6S", "P3W", "PT0S", "P1M", "PT5M"], ["P", "PT", "P1Y2W", "P1S", "1Y", "P1.5D", "P1Y2D"]),
    "email": (
        ["a.b+c@example.com", "x@localhost", '"a b"@c.de', '"a..b"@c.de', '"a@b"@c.de', r'"a\"b\\"@c.de',
         '""@c.de', "a@[127.0.0.1]", "a@[IPv6:::1]", "a@[ipv6:1:2:3:4:5:6:7:8]", '" "@[IPv6:fe80::1.2.3.4]'],
        ["a", "@b", "a@", "a b@c.de", ".a@b.c", "a..b@c.de", "a@b_c", '"a"b@c.de', '"a@c.de', '"a"b"@c.de',
         '"é"@c.de', "a@[127.0.0.300]", "a@[::1]", "a@[127.0.0.1", "a@127.0.0.1]", "a@[]", "a@[IPv6:1.2.3.4]",
         "a@b=c.de"],
    ),
    "hostname": (
        ["example.com", "a", "xn--4gbwdl.xn--wgbh1c", "a-b.c1", "a" * 63],
        ["-a", "a-", "a..b", "a_b", "a" * 64, ".a"],
    ),
    "ipv4": (["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
    "ipv6": (
        ["::", "::1", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:1.2.3.4"],
        ["1", ":::", "1::2::3", "::%eth0", "12345::"],
    ),
    "uri": (
        ["http://a.b/c?d=e#f", "mailto:a@b.c", "urn:x:y", "http://[::1]:80/", "a://u:p@h:1/%20", "file:///a",
         "tel:+1-2"],
        ["//a/b", "a/b", "http://a b", "http://[1]", "a:%2", "1a:b", "http://a\\b", "http://ä", ""],
    ),
    "uri-reference": (["", "/a", "//h/p", "a/b?c", "#f", "x:y", "./a:b"], ["\\a", "a b", "1:b", "http://[1]", "%x"]),
    "uri-template": (["http://x/{a}{?b,c*}{#d:3}", "é", ""], ["{", "{}", "a b", "{a b}", "}"]),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"],
    ),
    "json-pointer": (["", "/", "/a~0~1/é"], ["a", "/~", "/~2"]),
    **dict.fromkeys(("regex", "iri", "int32"), (["any"], [])),  # annotations
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "inside", "outside"),
    [
        *((text_schema(pattern), *texts) for pattern, *texts in MEANINGS),
        *(({"type": "string", "format": name}, *texts) for name, texts in FORMATS.items()),
    ],
)
def test_what_a_pattern_and_a_format_mean(schema: Schema, inside: list[str], outside: list[str]) -> None:
    assert texts_of(schema, [*inside, *outside]) == inside
    allowed = value_schema(schema)
    assert not allowed.unsatisfiable or not inside
    grammar = grammar_of(allowed)
    for text in inside:
        begun = literal(text)[: 1 + len(text) // 2]
        assert grammar and grammar.complete(begun + grammar.close(begun))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "backreference"), (r"(?<n>a)\k<n>", "backreference"), ("(?<=a)b", "lookbehind"),
        ("(?<!a)b", "lookbehind"), ("a*+", "quantifier"), ("*a", "quantifier"), ("a{2}{3}", "quantifier"),
        ("a{3,2}", "order"), ("[b-a]", "order"), ("[a", "without"), ("(a", "without"), ("a)", "closes nothing"),
        ("a\\", "backslash"), (r"\xg", "digits"), (r"\u{110000}", "code point"), (r"\p{Nonsense}", "property"),
        (r"\q", "escape"), ("(?>a)", "group"), ("(?#a)", "group"),
        *((pattern, "") for pattern in (  # too large
            "((a{100}){100}){100}",
            "(x+x+)+" * 3000,
            "(" * 15_000,
            "(" * 100_000,
            "(?=" * 39 + "(?=a*b)" + ")*" * 39 + "[ab]{5000}c{6000}d",
            "x{999999999}",
            "^(?:" + "".join(f"(?=.*{letter})" for letter in "abcdefghijklmnop") + ")",
            "|".join(map(chr, range(0x4E00, 0x4E00 + 4000))),
            "[\\p{L}]" * 2000,
            "(?i)" + "\\p{L}" * 3000,
            "^(?:" + "a?b?" * 500 + ")$",
            "^(?=(?:[ab]{7})*$)(?=(?:[ab]{11})*$)(?=(?:[ab]{13})*$)(?=(?:[ab]{17})*$)[ab]+$",
            "|".join(f"\\p{{{name}}}" for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd")),
        )),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_not_enforced_is_noted_after_bounded_work(pattern: str, reason: str) -> None:
    for _ in range(2):  # the second time from the cache
        assert steps(lambda: value_schema(text_schema(pattern)).notes) < 4_000_000
        assert reason in value_schema(text_schema(pattern)).notes[0]


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a|b)*a(a|b){20}$",
        "^(?:a?b?c?){500}$",
        "^(?:(?=.*a.{10}b)x|xx|[ab])*$",
        "(?:(?=[ab]{3,9}c).|b){5,50}d",
        "^[ab]{3,100000}$",
        "(?=.*b)(?=.*[ax])(?=.*a).{8,20}",
    ],
)
def test_reading_costs_bounded_steps(pattern: str) -> None:
    grammar, chooser = grammar_of(value_schema(text_schema(pattern))), random.Random(0)
    assert grammar is not None
    text = '"'

    def read() -> None:
        nonlocal text
        for character in chooser.choices("abx", [9, 9, 1], k=200):
            text += character if grammar.possible(text + character) else ""
        assert grammar.complete(text + grammar.close(text))

    assert steps(read) < 3_000_000


class Built(NamedTuple):
    """A schema, and which texts it should have."""

    schema: Schema
    has: Callable[[str], bool]


def counted(built: Built, least: int, most: int | None) -> Built:
    limits = {"minLength": least} | ({} if most is None else {"maxLength": most})
    bounded = least, 99 if most is None else most
    return Built({"allOf": [built.schema], **limits}, lambda t: built.has(t) and bounded[0] <= len(t) <= bounded[1])


BUILT = st.recursive(
    PATTERNS.map(lambda pattern: Built(text_schema(pattern.ecma), pattern.finds))
    | st.sets(st.sampled_from(SHORT), min_size=1).map(lambda texts: Built({"enum": sorted(texts)}, texts.__contains__)),
    lambda inner: st.one_of(
        st.builds(counted, inner, st.integers(0, 4), st.none() | st.integers(0, 4)),
        st.builds(lambda a, b: Built({"allOf": [a.schema, b.schema]}, lambda t: a.has(t) and b.has(t)), inner, inner),
        st.builds(lambda a, b: Built({"anyOf": [a.schema, b.schema]}, lambda t: a.has(t) or b.has(t)), inner, inner),
        st.builds(lambda a: Built({"type": "string", "not": a.schema}, lambda t: not a.has(t)), inner),
    ),
    max_leaves=5,
)


@given(BUILT, st.sampled_from(SHORT))
@settings(max_examples=50)
def test_schemas_combine_as_sets_of_texts(built: Built, begun: str) -> None:
    allowed = value_schema(built.schema)
    inside = [text for text in SHORT if built.has(text)]
    assert [text for text in SHORT if allowed.allows(text)] == inside
    if allowed.notes and not allowed.unsatisfiable:
        return
    assert texts_of(built.schema, SHORT) == inside
    grammar = grammar_of(allowed)
    following = [text for text in inside if text.startswith(begun)]
    if grammar is None or not grammar.possible(f'"{begun}'):
        assert not following
        return
    whole = f'"{begun}' + grammar.close(f'"{begun}')
    assert grammar.complete(whole)
    assert all(len(literal(text)) >= len(whole) for text in following)
