"""A trie of texts by their UTF-8 bytes, for the names and keys of TOOLDEC.

Unlike ``tooldecoding.tokens.trie``, it reads byte by byte without a token table, and a text may be the beginning of
another one with the same goal (optional white space).
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from lookup.errors import DocumentationError

T = TypeVar("T")


class TextTrie(Generic[T]):
    """Node of a trie; ``goal`` is set where a text ends.

    A node with a goal may have children: optional white space behind a text leads to the same goal.
    """

    __slots__ = ("children", "goal")

    def __init__(self) -> None:
        self.children: dict[int, TextTrie[T]] = {}
        self.goal: T | None = None

    @classmethod
    def of(cls, texts: Iterable[tuple[str, T]]) -> "TextTrie[T]":
        """Return the trie of texts with their goals.

        Raises
        ------
        DocumentationError
            If one text is the beginning of another one with another goal: a call could not tell them apart.
        """
        root = cls()
        for text, goal in sorted(texts, key=lambda pair: len(pair[0])):
            node = root
            written = text.encode()
            for count, byte in enumerate(written, 1):
                node = node.children.setdefault(byte, cls())
                if node.goal is not None and node.goal is not goal:
                    raise DocumentationError(
                        f"{written[:count].decode()!r} is the beginning of {text!r}, so a call cannot tell them apart; "
                        "rename one of the tools or keys"
                    )
            node.goal = goal
        return root
