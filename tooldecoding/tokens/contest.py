"""A contest: the likeliest token leaves determined bytes pending, and is not the tokenizer's own (see ``pending``).

A model may like a short token for what it wants to write behind it, and be held to the pending bytes instead. So the
token and the tokenizer's own one are compared together with what is permitted behind each, up to the same byte.
"""

import math
from collections.abc import Callable, Sequence

from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.tokens.likeliest import Accept, permitted_share
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie, TrieNode

Permitted = Callable[[NextTokenLogits, bytes], float]
"""The probability that a permitted token follows a text behind the settled tokens, by the logits behind this text."""


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
