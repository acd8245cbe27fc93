"""Patterns whose meaning Python's re knows, too."""

import re
from typing import NamedTuple

from hypothesis import strategies as st

from lookup.languages.language import Language

ALPHABET = "ab1_ é\n"


class Pattern(NamedTuple):
    """The same pattern for ECMA 262 and for ``re.compile(…, re.ASCII)``."""

    ecma: str
    python: str

    def finds(self, text: str) -> bool:
        return re.search(self.python, text, re.ASCII) is not None


ATOMS = st.sampled_from(
    [
        *[
            Pattern(atom, atom)
            for atom in ("a", "b", "1", "é", "[ab]", "[^a]", "[a-b1]", r"\d", r"\w", "[_\n]", r"[^\d_]")
        ],
        *[Pattern(atom, atom) for atom in (r"\x61", r"\u00e9", r"\n", "(?:)")],
        Pattern(".", r"[^\n\r\u2028\u2029]"),
        Pattern(r"\u{e9}", "é"),
        Pattern("[^]", r"[\s\S]"),
        Pattern("[]", r"[^\s\S]"),
        Pattern(r"\cj", r"\n"),
        Pattern("^", "^"),
        Pattern("$", r"\Z"),
        Pattern(r"\b", r"\b"),
        Pattern(r"\B", r"(?!\b)"),  # re's \B does not hold in the empty text
        Pattern("{", r"\{"),
        Pattern("]", r"\]"),
    ]
)
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{2,3}", "*?", "+?", "??", "{1,2}?"])
GROUPS = st.sampled_from(["(", "(?:", "(?=", "(?!"])


def _wrapped(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    return st.one_of(
        st.tuples(inner, inner).map(lambda two: Pattern(two[0].ecma + two[1].ecma, two[0].python + two[1].python)),
        st.tuples(inner, inner).map(
            lambda two: Pattern(f"(?:{two[0].ecma}|{two[1].ecma})", f"(?:{two[0].python}|{two[1].python})")
        ),
        st.tuples(inner, QUANTIFIERS).map(
            lambda two: Pattern(f"(?:{two[0].ecma}){two[1]}", f"(?:{two[0].python}){two[1]}")
        ),
        st.tuples(inner, GROUPS).map(lambda two: Pattern(f"{two[1]}{two[0].ecma})", f"{two[1]}{two[0].python})")),
    )


PATTERNS = st.recursive(ATOMS, _wrapped, max_leaves=8)
TEXTS = st.text(ALPHABET, max_size=7)


def holds(language: Language, text: str) -> bool:
    """Whether a text belongs to a language."""
    state = language.run(language.start, text)
    return state is not None and language.whole(state)
