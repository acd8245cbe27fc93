"""The name trie: the names of the tools that may be called, among which the model chooses (paper, section 3.1)."""

import itertools
from collections.abc import Sequence

from lookup.errors import DocumentationError
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie


def name_trie(table: TokenTable, names: Sequence[str], bracket: str) -> Trie:
    """Return the trie of the names, each with the bracket that opens its arguments.

    Raises
    ------
    DocumentationError
        If one name with its bracket is the beginning of another.
    """
    texts = [name + bracket for name in names]
    demand_distinct(texts, "tools")
    return Trie(table, texts)


def demand_distinct(texts: Sequence[str], what: str) -> None:
    """DocumentationError if one text is the beginning of another: a call could not tell them apart."""
    for shorter, longer in itertools.pairwise(sorted(texts)):
        if longer.startswith(shorter):
            raise DocumentationError(
                f"{what}: {shorter!r} is the beginning of {longer!r}, so a call cannot tell them apart; rename one"
            )
