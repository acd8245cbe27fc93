"""A contest: the likeliest token leaves determined bytes pending, and is not the tokenizer's own (see ``pending``).

A model may like a short token for what it wants to write behind it, and be held to the pending bytes instead. So the
token and the tokenizer's own one are compared together with what is permitted behind each, up to the same byte.

In a choice, one token on offer may begin with another: ``)`` and ``)]``. Where the model would not go on behind the
shorter one as it may, it chooses the outcome that is likeliest by all these tokens together, byte by byte. In a value,
where the shorter one ends with the pending text (``=[`` and ``=["``), it begins the likeliest text.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.tokens.likeliest import Accept, permitted_beyond, permitted_share
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie, TrieNode

_WEIGHED: Final = 32
"""So many of the likeliest tokens are weighed at a place."""

Permitted = Callable[[NextTokenLogits, bytes], float]
"""The probability that a permitted token follows a text behind the settled tokens, by the logits behind this text."""


class _Path(NamedTuple):
    """One or two tokens: their text behind the pending one, the first of them, and their probability."""

    text: bytes
    first: int
    probability: float


def in_value(accept: Accept, table: TokenTable, pending: bytes) -> Permitted:
    """Return what is permitted within the pending text, and an accepted piece behind it."""

    def permitted(logits: NextTokenLogits, written: bytes) -> float:
        return permitted_share(logits, accept, table, pending[len(written) :])

    return permitted


def in_choice(trie: Trie, place: TrieNode, pending: bytes) -> Permitted:
    """Return what is permitted within the pending text, and a text of the node behind it."""

    def permitted(logits: NextTokenLogits, written: bytes) -> float:
        node, rest = trie.narrowed(place, written[len(pending) :]), pending[len(written) :]
        return logits.share(trie.tokens(rest, node)) if rest or trie.rest(node) else 1.0

    return permitted


def likeliest_outcome(
    trie: Trie,
    place: TrieNode,
    pending: bytes,
    table: TokenTable,
    token: int,
    offered: Tokens,
    logits: NextTokenLogits,
    behind: NextTokenLogits,
    ends_count: bool,
) -> int:
    """Return the next token on the way to the likeliest outcome of a choice.

    Parameters
    ----------
    token : int
        The likeliest of those that are ``offered``; it writes all of ``pending``, and others begin with it.
    logits, behind : NextTokenLogits
        Before and behind this token.
    ends_count : bool
        See ``_likeliest_first``.
    """
    permitted = trie.tokens(b"", trie.narrowed(place, table.text(token)[len(pending) :]))
    if behind.best in permitted:
        return token  # this is what the model writes freely
    others = [(other, share) for other, share in logits.likeliest_among(offered, _WEIGHED) if other != token]
    paths = _paths(token, others, behind.likeliest_among(permitted, _WEIGHED), pending, table, logits)
    return _likeliest_first(paths, lambda begun: trie.is_decided(trie.narrowed(place, begun)), ends_count)


def likeliest_start(
    token: int, pending: bytes, accept: Accept, table: TokenTable, logits: NextTokenLogits, behind: NextTokenLogits
) -> int:
    """Return the token that begins the likeliest text of a value.

    Parameters
    ----------
    token : int
        It writes just ``pending``, and is compared with the tokens that go on.
    logits, behind : NextTokenLogits
        Before and behind this token.
    """
    longer = permitted_beyond(logits, accept, table, pending)
    paths = _paths(token, longer, permitted_beyond(behind, accept, table, b""), pending, table, logits)
    return _likeliest_first(paths, lambda _: False, ends_count=True) if paths else token


def _paths(
    token: int,
    others: Sequence[tuple[int, float]],
    further: Sequence[tuple[int, float]],
    pending: bytes,
    table: TokenTable,
    logits: NextTokenLogits,
) -> list[_Path]:
    """Return the ways to go on, through other tokens and through a token with further ones behind it."""
    share, begun = math.exp(logits.logprob(token)), table.text(token)[len(pending) :]
    found = [_Path(table.text(other)[len(pending) :], other, probability) for other, probability in others]
    return found + [_Path(begun + table.text(other), token, share * probability) for other, probability in further]


def _likeliest_first(paths: list[_Path], is_decided: Callable[[bytes], bool], ends_count: bool) -> int:
    """Return the first token of the likeliest text, found byte by byte.

    Parameters
    ----------
    ends_count : bool
        What follows behind the end of a path is not known. Whether the end is chosen where it outweighs each further
        byte; else a path that goes on is.
    """
    begun = b""
    while not is_decided(begun):
        weights: dict[bytes, float] = defaultdict(float)
        for path in paths:
            goes_on = len(path.text) > len(begun)
            weights[path.text[: len(begun) + 1]] += path.probability * (goes_on or ends_count)
        likeliest = max(weights, key=weights.__getitem__)
        if likeliest == begun:
            break
        begun = likeliest
        paths = [path for path in paths if path.text.startswith(begun)]
    firsts: dict[int, float] = defaultdict(float)
    for path in paths:
        firsts[path.first] += path.probability
    return max(firsts, key=firsts.__getitem__)


def log_weight(
    logits: NextTokenLogits, path: Sequence[int], behind: Sequence[NextTokenLogits], table: TokenTable, may: Permitted
) -> float:
    """Return the natural log-probability of a token together with what is permitted behind it.

    Parameters
    ----------
    logits : NextTokenLogits
        Before the token.
    path : sequence of int
        The token, and the tokenizer's own tokens of the determined bytes behind it.
    behind : sequence of NextTokenLogits
        Behind each of them.
    """
    written = table.join(path)
    share = may(behind[-1], written)
    for token, before in zip(path[:0:-1], behind[-2::-1], strict=True):
        written = written[: -len(table.text(token))]
        # what is permitted besides this token counts in full, the token with what is permitted behind it
        share = max(0.0, may(before, written) - math.exp(before.logprob(token)) * (1 - share))
    return logits.logprob(path[0]) + (math.log(share) if share else -math.inf)
