"""Patterns: the same texts as Python's re finds; every prefix can be completed; bounds hold."""

import random
import re
import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from language_strategies import PATTERNS, TEXTS, Pattern, holds

from lookup.languages import limits
from lookup.languages.codepoints import either_case, property_set, ranges_of
from lookup.languages.language import ANY_TEXT, any_of, pattern_language
from lookup.languages.limits import TooLarge, UnsupportedPattern
from lookup.reserved import RESERVED


@given(PATTERNS, st.lists(TEXTS, min_size=5, max_size=20))
def test_a_pattern_finds_what_re_finds(pattern: Pattern, texts: list[str]) -> None:
    language = pattern_language(pattern.ecma)
    for text in texts:
        assert holds(language, text) == pattern.finds(text), text


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
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
        ("^a{3}$", ["aaa"], ["aa", "aaaa"]),
        ("", ["", "a"], []),
        (r"x|\b$", ["b", " b", "bb", "x "], ["", "b "]),
        ("(?=a)$", [], ["", "a"]),
        ("(?!a)$", ["", "a"], []),
        (r"(?i)^[\u212a\xe9]$", ["\u212a", "É"], ["k", "K"]),
    ],
)
def test_what_a_pattern_means(pattern: str, inside: list[str], outside: list[str]) -> None:
    language = pattern_language(pattern)
    assert [text for text in inside if not holds(language, text)] == []
    assert [text for text in outside if holds(language, text)] == []
    assert language.is_empty or inside


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "backreference"),
        (r"(?<n>a)\k<n>", "backreference"),
        ("(?<=a)b", "lookbehind"),
        ("(?<!a)b", "lookbehind"),
        ("a*+", "quantifier"),
        ("*a", "quantifier"),
        ("a{2}{3}", "quantifier"),
        ("a{3,2}", "order"),
        ("[b-a]", "order"),
        ("[a", "without"),
        ("(a", "without"),
        ("a)", "closes nothing"),
        ("a\\", "backslash"),
        (r"\xg", "digits"),
        (r"\u{110000}", "code point"),
        (r"\p{Nonsense}", "property"),
        (r"\q", "escape"),
        ("(?>a)", "group"),
        ("(?#a)", "group"),
    ],
)
def test_what_is_refused_names_its_reason(pattern: str, reason: str) -> None:
    for _ in range(2):  # the second time from the cache
        with pytest.raises(UnsupportedPattern, match=reason):
            pattern_language(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
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
    ],
    ids=lambda pattern: pattern[:20],
)
def test_what_is_too_large_is_refused(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    take = limits.Work.take

    def counting(work: limits.Work, steps: int) -> None:
        nonlocal taken
        taken += steps
        take(work, steps)

    monkeypatch.setattr(limits.Work, "take", counting)
    with pytest.raises(TooLarge):
        pattern_language(pattern)
    assert taken < 3 * limits.MAX_READ


def test_deep_groups_do_not_need_a_deep_stack() -> None:
    depth = limits.MAX_DEPTH
    for opening in ("(", "(?=", "(?!(?:", "(?:a|"):
        groups = opening.count("(")
        pattern = opening * (depth // groups) + "a" + ")" * (depth // groups * groups)
        limit = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(len_of_stack() + 700)
            pattern_language(pattern)
        finally:
            sys.setrecursionlimit(limit)


def len_of_stack() -> int:
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


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
    language, chooser = pattern_language(pattern), random.Random(0)
    text = "".join(chooser.choices("abx", [9, 9, 1], k=200))
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        state = language.start
        for character in text:
            state = language.step(state, character) or state
        rest = language.rest(state)
    finally:
        sys.setprofile(None)
    assert calls < 3_000_000
    assert len(rest) <= language.longest_rest


def test_no_text_has_surrogates_or_reserved_code_points() -> None:
    for language in (ANY_TEXT, pattern_language("[^a]"), pattern_language(r"\uD800|\u{F0000}|b"), ANY_TEXT.outside()):
        for point in (0xD800, 0xDFFF, RESERVED.start, RESERVED.stop - 1):
            assert language.step(language.start, chr(point)) is None
    assert ANY_TEXT.outside().is_empty
    assert any_of(["a", "\ud800", "b\U000f0000"]).members(9) == ("a",)


@pytest.mark.parametrize("name", ["Lu", "L", "Script=Greek", "Alphabetic"])
def test_a_property_has_the_code_points_of_regex(name: str) -> None:
    inside = {point for first, last in ranges_of(property_set(name)) for point in range(first, last + 1)}
    assert all((regex.match(rf"\p{{{name}}}", chr(point)) is not None) == (point in inside) for point in range(0x3000))


def test_either_case_has_the_cases_of_letters() -> None:
    for first, last in (("a", "c"), ("Ä", "Ö"), ("я", "я")):
        cased = either_case((ord(first), ord(last) + 1))
        inside = {chr(point) for low, high in ranges_of(cased) for point in range(low, high + 1)}
        letters = {chr(point) for point in range(ord(first), ord(last) + 1)}
        assert inside == letters | {letter.swapcase() for letter in letters}


def test_letters_have_one_of_each_other_class() -> None:
    language = pattern_language(r"^(?:[\u03b1-\u03c9]1|[\u0430-\u044f]2|x)")
    others = [letter for letter in language.letters(language.start) if not letter.isascii()]
    assert sorted(bool(re.match("[\u03b1-\u03c9]", letter)) for letter in others) == [False, True]
