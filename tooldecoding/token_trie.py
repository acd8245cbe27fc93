"""A trie of token sequences: which alternatives are still open, and which tokens may come next."""

from collections.abc import Iterable


class TokenTrie:
    """Node of a trie; ``alternatives`` are the numbers of the sequences that pass through it."""

    def __init__(self) -> None:
        self.children: dict[int, TokenTrie] = {}
        self.alternatives: list[int] = []

    @classmethod
    def of(cls, sequences: Iterable[Iterable[int]]) -> "TokenTrie":
        """The trie of token sequences, none of which is the beginning of another."""
        root = cls()
        for number, sequence in enumerate(sequences):
            node = root
            node.alternatives.append(number)
            for token in sequence:
                node = node.children.setdefault(token, cls())
                node.alternatives.append(number)
        return root

    @property
    def is_leaf(self) -> bool:
        """Whether a sequence ends here."""
        return not self.children
