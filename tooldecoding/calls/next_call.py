"""The choice between a further call and the end of all calls."""

from collections.abc import Sequence

from lookup.dictionary import ToolSpec
from tooldecoding.engines.steps import Steps
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.special_texts import END
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie


class NextCall:
    """The choice behind a call; a format without a closer ends where the model ends its turn.

    Where the closer begins as a further call does, the names tell them apart.

    Parameters
    ----------
    number : int
        The number of the call that may follow.
    """

    def __init__(self, table: TokenTable, tools: Sequence[ToolSpec], call_format: CallFormat, number: int) -> None:
        self._start = call_format.start(number)
        end = call_format.closer or END
        self._behind = [""]
        if end.startswith(self._start):
            self._behind = [tool.name + call_format.bracket_of(number) for tool in tools]
        texts = [*(self._start + behind for behind in self._behind), end]
        self._trie = Trie(table, texts, [text == end for text in texts])

    def choose(self, branch: Branch) -> Steps[bool]:
        """Let the model choose, and write what opens the next call, or the end; whether a call follows."""
        number, _ = yield from branch.choose(self._trie)
        if number == len(self._behind):
            return False
        branch.take_back(self._behind[number])
        return True
