"""A contest: the likeliest token leaves determined bytes pending, and is not the tokenizer's own (see ``pending``).

A model may like a short token for what it wants to write behind it, and be held to the pending bytes instead. So the
token and the tokenizer's own one are compared together with what is permitted behind each, up to the same byte.

In a choice, one token on offer may begin with another: ``)`` and ``)]``. Where the model would not go on behind the
shorter one as it may, it chooses the outcome that is likeliest by all these tokens together, byte by byte.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.tokens.likeliest import Accept, permitted_share
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie, TrieNode

_WEIGHED: Final = 32
"""So many of the likeliest tokens are weighed at a place."""

Permitted = Callable[[NextTokenLogits, bytes], float]
"""The probability that a permitted token follows a text behind the settled tokens, by the logits behind this text."""


class _Path(NamedTuple):
    """One or two tokens of a choice: their text behind the pending one, the first of them, and their probability."""

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
) -> int:
    """Return the next token on the way to the likeliest outcome of a choice.

    Parameters
    ----------
    token : int
        The likeliest of those that are ``offered``; it writes all of ``pending``, and others begin with it.
    logits, behind : NextTokenLogits
        Before and behind this token.
    """
    node = trie.narrowed(place, table.text(token)[len(pending) :])
    permitted = trie.tokens(b"", node)
    if behind.best in permitted:
        return token  # this is what the model writes freely
    found = dict(logits.likeliest_among(offered, _WEIGHED))
    share, begun = found.pop(token), table.text(token)[len(pending) :]
    paths = [_Path(table.text(other)[len(pending) :], other, probability) for other, probability in found.items()]
    for further, probability in behind.likeliest_among(permitted, _WEIGHED):
        paths.append(_Path(begun + table.text(further), token, share * probability))
    node, size = place, 0
    while not trie.is_decided(node) and any(len(path.text) > size for path in paths):
        weights: dict[bytes, float] = defaultdict(float)
        for path in paths:
            weights[path.text[: size + 1]] += path.probability * (len(path.text) > size)
        size += 1
        likeliest = max(weights, key=weights.__getitem__)
        paths = [path for path in paths if path.text[:size] == likeliest]
        node = trie.narrowed(place, likeliest)
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
