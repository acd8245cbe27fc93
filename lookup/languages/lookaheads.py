"""The lookaheads of a pattern: what must follow is an automaton of its own, in some state."""

from collections.abc import Callable
from dataclasses import dataclass

from lookup.languages.automaton import DEAD, reaching
from lookup.languages.limits import Work
from lookup.languages.syntax_tree import Look, Node

Owed = frozenset[tuple[int, int]]
"""Lookaheads that must still come true: the number of each, and its state."""

Table = tuple[list[list[int]], list[bool]]
"""Rows and accepting states of an automaton."""


@dataclass(frozen=True)
class _LookTable:
    """The automaton of a lookahead, with a row for every state.

    Attributes
    ----------
    hopeless, granted : list of bool
        For each state whether no text fulfils the lookahead any more, or every text does.
    """

    rows: list[list[int]]
    accepts: list[bool]
    hopeless: list[bool]
    granted: list[bool]


class Lookaheads:
    """The lookaheads of a pattern, numbered; each is built when it is first met.

    Attributes
    ----------
    work : Work
        Counts the steps of the whole pattern.
    """

    def __init__(self, table_of: Callable[[Node, bool, bool], Table], work: Work) -> None:
        self._table_of, self.work = table_of, work
        self._tables: list[_LookTable] = []
        self._numbers: dict[tuple[int, bool, bool], int] = {}
        self._advanced: dict[tuple[Owed, int], Owed | None] = {}

    def owed(self, look: Look, at_start: bool, after_word: bool) -> Owed | None:
        """What a lookahead owes at a place; ``None`` if it cannot be paid."""
        # By identity: a lookahead's tree can be large.
        key = id(look), at_start, after_word
        number = self._numbers.get(key)
        if number is None:
            inside = self._table_of(look.part, at_start, after_word)
            number = self._numbers[key] = len(self._tables)
            self._tables.append(_look_table(*inside, look.negative))
        table = self._tables[number]
        if table.hopeless[0]:
            return None
        return frozenset() if table.granted[0] else frozenset([(number, 0)])

    def row(self, look: int, state: int) -> list[int]:
        """The states of a lookahead behind each class of characters."""
        return self._tables[look].rows[state]

    def advanced(self, owed: Owed, number: int) -> Owed | None:
        """What is owed behind a character of a class; ``None`` if it cannot be paid."""
        key = owed, number
        if key not in self._advanced:
            self.work.take(1 + len(owed))
            self._advanced[key] = self._behind(owed, number)
        return self._advanced[key]

    def _behind(self, owed: Owed, number: int) -> Owed | None:
        result = []
        for look, before in owed:
            table = self._tables[look]
            state = table.rows[before][number]
            if table.hopeless[state]:
                return None
            if not table.granted[state]:
                result.append((look, state))
        return frozenset(result)

    def paid(self, owed: Owed) -> bool:
        """Whether all lookaheads hold if the text ends here."""
        return all(self._tables[look].accepts[state] for look, state in owed)


def _look_table(rows: list[list[int]], accepts: list[bool], negative: bool) -> _LookTable:
    sink = len(rows)
    rows = [[sink if target == DEAD else target for target in row[:-1]] for row in rows]
    rows.append([sink] * len(rows[0]))
    accepts = [accepted != negative for accepted in (*accepts, False)]
    hopeful = reaching(rows, accepts)
    doubtful = reaching(rows, [not accepted for accepted in accepts])
    states = range(len(rows))
    return _LookTable(
        rows, accepts, [state not in hopeful for state in states], [state not in doubtful for state in states]
    )
