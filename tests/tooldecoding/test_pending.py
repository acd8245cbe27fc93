"""Pending text and choices: what is sure, what is on offer, by their definitions."""

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_law_nasty_merges import KINDS, tokenizer

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer
from tooldecoding.tokens.pending import Pending
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie, TrieNode

TABLES = [TokenTable(byte_level_tokenizer()), TokenTable(sentencepiece_tokenizer(byte_fallback=True))]
NASTY = [TokenTable(tokenizer(seed, kind)) for seed in range(3) for kind in KINDS]
PIECES = ["'", "')", "]", "['", "=[", "={'", ", ", "a=", "='", "(", "b", "New York", " ", "  ", "京", "é", "12", "#"]
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
SETS = [
    ("C", "C#", "C++", "Java", "JavaScript", ""),
    ("get(", "get_x(", "getter(", "京都(", "京(", "é(", "è("),
    (", b=", ", bb=", ", 城=", ", 坝=", ")"),
    ("True", "False"),
    ("only",),
]


@settings(max_examples=150, deadline=None)
@given(table=st.sampled_from([*TABLES, *NASTY]), context=texts, text=texts, more=texts)
def test_sure_tokens_are_the_tokenizers_own_whatever_follows(
    table: TokenTable, context: str, text: str, more: str
) -> None:
    before = f"x{context}"
    sure = table.sure_after(before.encode(), text.encode())
    assert table.encode_after(before.encode(), (text + more).encode())[: len(sure)] == sure


def on_offer(table: TokenTable, pending: bytes, rests: Sequence[bytes]) -> list[int]:
    """The definition: tokens that begin the pending text and an alternative, or go beyond one."""
    whole = [pending + rest for rest in rests]
    return [
        token
        for token, text in enumerate(table.texts)
        if text and any(w.startswith(text) or text.startswith(w) for w in whole)
    ]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("alternatives", [tuple(f"{a}'" for a in SETS[0]), *SETS[1:]])
@pytest.mark.parametrize("pending", ["", "'", "='", " [", "a=["])
def test_every_token_that_fits_is_on_offer(table: TokenTable, alternatives: tuple[str, ...], pending: str) -> None:
    choices, encoded = Trie(table, alternatives), [a.encode() for a in alternatives]
    for seed in range(8):
        chance, state, place = random.Random(seed), Pending(b"x", pending.encode()), choices.all
        open_ones = list(range(len(alternatives)))
        while place.left > 1:
            shared = choices.shared(place)
            assert all(encoded[n][place.written :].startswith(shared) for n in open_ones)
            rests = [encoded[n][place.written :] for n in open_ones]
            offer = choices.tokens(state.text, place).tolist()
            assert offer == on_offer(table, state.text, rests)
            text = table.join([chance.choice(offer)])
            piece = text[len(state.text) :]
            narrowed = choices.narrowed(place, piece)
            fitting = [n for n in open_ones if encoded[n][place.written :].startswith(piece)]
            covered = [n for n in open_ones if piece.startswith(encoded[n][place.written :])]
            open_ones = covered or fitting
            assert sorted(open_ones) == sorted(numbers(choices, narrowed))
            state, place = state.behind(text), narrowed
        assert choices.number(place) == open_ones[0]


def numbers(choices: Trie, place: TrieNode) -> list[int]:
    """The numbers of the alternatives that are open at a place."""
    start, end, _ = place
    return [choices.number(choices.all._replace(start=n, end=n + 1)) for n in range(start, end)]


@pytest.mark.parametrize("alternatives", SETS[1:])
def test_a_text_that_goes_beyond_an_alternative_covers_it(alternatives: tuple[str, ...]) -> None:
    choices = Trie(TABLES[0], alternatives)
    for (number, text), behind in itertools.product(enumerate(alternatives), ("", "x", "('京")):
        place = choices.covered((text + behind).encode())
        assert place and (choices.number(place), place.written) == (number, len(text.encode()))
        assert choices.covered(text.encode()[:-1]) is None


@pytest.mark.parametrize("alternatives", SETS[1:])
def test_what_is_expected_is_shared_by_all(alternatives: tuple[str, ...]) -> None:
    choices, encoded = Trie(TABLES[0], alternatives), [a.encode() for a in alternatives]
    for text in encoded:
        for size in range(len(text) + 1):
            fitting = [a for a in encoded if a.startswith(text[:size])]
            expected = choices.expected(text[:size])
            assert all(a.startswith(text[:size] + expected) for a in fitting)
            assert len(fitting) > 1 or text[:size] + expected == text
    assert choices.expected(b"?") == b""
