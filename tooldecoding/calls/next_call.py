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

    Where the closer begins as a further call does, the names tell them apart, and the tool is chosen with it.

    Parameters
    ----------
    tools : sequence of ToolSpec
        Those that may be called.
    number : int
        The number of the call that may follow.
    """

    def __init__(self, table: TokenTable, tools: Sequence[ToolSpec], call_format: CallFormat, number: int) -> None:
        start, end = call_format.start(number), call_format.closer or END
        self._names: list[str | None] = [None]
        if end.startswith(start):
            self._names = [tool.name for tool in tools]
        behind = [name + call_format.bracket_of(number) if name else "" for name in self._names]
        self._trie = Trie(table, [*(start + text for text in behind), end])

    def choose(self, branch: Branch) -> Steps[tuple[bool, str | None]]:
        """Let the model choose, and write what opens the next call, or the end.

        Returns whether a call follows, and the name of its tool if that and its bracket are written already.
        """
        number, _ = yield from branch.choose(self._trie)
        goes_on = number < len(self._names)
        return goes_on, self._names[number] if goes_on else None
