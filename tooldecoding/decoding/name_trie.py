"""The choice of what is called: the name trie (paper, section 3.1)."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie


class _Entry(NamedTuple):
    """The number of a tool, and the text behind its name and bracket that tells it from longer names."""

    tool: int
    behind: str


class NameTrie(Trie):
    """The names of tools, each with the bracket that opens its arguments.

    Where a format has no bracket, what may come next ends a name: a key, or the end of a call without arguments.

    DocumentationError if one name with its bracket is the beginning of another.

    Parameters
    ----------
    tools : sequence of ToolSpec
    number : int
        The number of the call among those of a turn.
    """

    def __init__(self, table: TokenTable, tools: Sequence[ToolSpec], call_format: CallFormat, number: int) -> None:
        bracket = call_format.bracket_of(number)
        self._entries = [_Entry(n, text) for n, tool in enumerate(tools) for text in _behind(tool, call_format)]
        texts = [tools[n].name + bracket + behind for n, behind in self._entries]
        demand_distinct(texts, "tools")
        super().__init__(table, texts, [entry.tool for entry in self._entries])
        ended = [(tools[n].name + (bracket + behind)[:1]).encode() for n, behind in self._entries]
        self._sizes = [len(e if self.node(e).is_decided else t.encode()) for e, t in zip(ended, texts, strict=True)]
        """The bytes of each name, and of the character that ends it; of the whole text if another has that, too."""

    async def choose(self, branch: Branch) -> tuple[int, float]:
        """Let the model choose a tool by its whole name, and write its name and bracket.

        Returns the number of the tool, and the probability of its name among all names.
        """
        number, probability = await branch.choose_text(self, self._sizes)
        tool, behind = self._entries[number]
        branch.take_back(behind)
        return tool, probability

    def called(self, written: bytes) -> tuple[int, int] | None:
        """Return the tool whose name and bracket ``written`` begins with, and the number of their bytes."""
        node = self.covered(written)
        if node is None:
            return None
        tool, behind = self._entries[node.number]
        return tool, node.written - len(behind.encode())


def _behind(tool: ToolSpec, call_format: CallFormat) -> list[str]:
    if call_format.bracket:
        return [""]
    key, end = call_format.key_opener, call_format.end_of(empty=True)
    return [key] * bool(tool.parameters) + [end] * (not tool.required)


def demand_distinct(texts: Sequence[str], what: str) -> None:
    """DocumentationError if one text is the beginning of another: a call could not tell them apart."""
    for shorter, longer in itertools.pairwise(sorted(texts)):
        if longer.startswith(shorter):
            raise DocumentationError(
                f"{what}: {shorter!r} is the beginning of {longer!r}, so a call cannot tell them apart; rename one"
            )
