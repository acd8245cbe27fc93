"""Deterministic automata over code points, without states that lead nowhere."""

from collections.abc import Callable
from functools import cached_property

from lookup.languages.alphabet import Alphabet, joint, rank
from lookup.languages.lengths import Lengths
from lookup.languages.limits import Work, check_states

DEAD = -1
"""No state. It is the last row of every table, too, and leads only to itself."""


class Automaton:
    """A table of states and classes of characters. State 0 is the start; every other state can end in a text.

    Attributes
    ----------
    alphabet : Alphabet
    rows : list of list of int
        The next state for each state and class; ``DEAD`` if there is none. The last row is the one of ``DEAD``.
    accepts : list of bool
        For each state whether a text may end in it.
    """

    def __init__(self, alphabet: Alphabet, rows: list[list[int]], accepts: list[bool]) -> None:
        self.alphabet, self.rows, self.accepts = alphabet, rows, accepts

    def run(self, state: int, text: str) -> int:
        """The state behind a text; ``DEAD`` if there is none."""
        rows, class_of = self.rows, self.alphabet.class_of
        for character in text:
            state = rows[state][class_of[character]]
        return state

    def following(self, state: int) -> dict[int, str]:
        """The next states, each with the plainest character that leads there, plainest first."""
        known = self._following.get(state)
        if known is None:
            row, known = self.rows[state], {}
            for number, character in self._plain_order:
                if row[number] != DEAD:
                    known.setdefault(row[number], character)
            self._following[state] = known
        return known

    @cached_property
    def _following(self) -> dict[int, dict[int, str]]:
        return {}

    @cached_property
    def _plain_order(self) -> list[tuple[int, str]]:
        plainest = self.alphabet.plainest
        order = sorted(range(self.alphabet.size - 1), key=lambda number: rank(plainest[number]))
        return [(number, plainest[number]) for number in order]

    @cached_property
    def lengths(self) -> Lengths:
        """How many characters complete a text, for each state."""
        return Lengths([list(set(row) - {DEAD}) for row in self.rows[:-1]], self.accepts)

    def complement(self) -> "Automaton":
        """All other texts."""
        alphabet, count = self.alphabet, len(self.accepts)
        full = [[count if target == DEAD else target for target in row[:-1]] + [DEAD] for row in self.rows[:-1]]
        full.append([count] * (alphabet.size - 1) + [DEAD])
        return trimmed(alphabet, full, [not accepted for accepted in (*self.accepts, False)])


def product(first: Automaton, second: Automaton, accepts: Callable[[bool, bool], bool], needs_both: bool) -> Automaton:
    """Run two automata side by side; ``needs_both``: until one is dead, else until both are."""
    alphabet, pairs = joint(first.alphabet, second.alphabet)
    work = Work()
    work.take(len(alphabet.starts))
    known = {(0, 0): 0}
    states = [(0, 0)]
    rows: list[list[int]] = []
    first_rows, second_rows = first.rows, second.rows
    for left, right in states:
        work.take(len(pairs))
        left_row, right_row = first_rows[left], second_rows[right]
        row: list[int] = []
        for left_class, right_class in pairs:
            target = left_row[left_class], right_row[right_class]
            if target == (DEAD, DEAD) or (needs_both and DEAD in target):
                row.append(DEAD)
                continue
            number = known.setdefault(target, len(known))
            if number == len(states):
                states.append(target)
            row.append(number)
        rows.append(row)
        check_states(len(states))
    ends = [
        accepts(left != DEAD and first.accepts[left], right != DEAD and second.accepts[right]) for left, right in states
    ]
    return trimmed(alphabet, rows, ends)


def trimmed(alphabet: Alphabet, rows: list[list[int]], accepts: list[bool]) -> Automaton:
    """The automaton without states that lead nowhere, and with classes merged that it cannot tell apart.

    ``rows`` has no row for ``DEAD``. State 0 stays the start.
    """
    rows, accepts = _without_copies(rows, accepts)
    live = reaching(rows, accepts)
    if 0 not in live:
        rows, accepts = [[DEAD] * alphabet.size], [False]
    elif len(live) < len(rows):
        kept = sorted(live)
        new = dict(zip(kept, range(len(kept)), strict=True))
        rows = [[new.get(target, DEAD) for target in rows[state]] for state in kept]
        accepts = [accepts[state] for state in kept]
    return _with_fewer_classes(alphabet, rows, accepts)


def reaching(rows: list[list[int]], ends: list[bool]) -> set[int]:
    """The states from which one of the ends can be reached."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            if target != DEAD:
                before[target].append(state)
    live = {state for state, accepted in enumerate(ends) if accepted}
    new = list(live)
    while new:
        for state in before[new.pop()]:
            if state not in live:
                live.add(state)
                new.append(state)
    return live


def _without_copies(rows: list[list[int]], accepts: list[bool]) -> tuple[list[list[int]], list[bool]]:
    """Merge states with the same row, from the last one up; chains that end alike fall together in one pass."""
    known: dict[tuple[bool, tuple[int, ...]], int] = {}
    new = list(range(len(rows)))
    for state in range(len(rows) - 1, -1, -1):
        row = tuple([new[target] if target != DEAD else DEAD for target in rows[state]])
        new[state] = known.setdefault((accepts[state], row), state)
    if len(known) == len(rows):
        return rows, accepts
    kept = [state for state in range(len(rows)) if new[state] == state]
    if new[0] != 0:  # the start has a copy further behind: it takes the start's place
        kept.remove(new[0])
        kept.insert(0, new[0])
    place = {state: number for number, state in enumerate(kept)}
    place[DEAD] = DEAD
    final = [place[target] for target in new] + [DEAD]
    return [[final[target] for target in rows[state]] for state in kept], [accepts[state] for state in kept]


def _with_fewer_classes(alphabet: Alphabet, rows: list[list[int]], accepts: list[bool]) -> Automaton:
    known: dict[tuple[int, ...], int] = {}
    columns = list(zip(*rows, strict=True))
    new = [known.setdefault(column, len(known)) for column in columns[:-1]]
    new.append(len(known))
    size = len(known) + 1
    if size < alphabet.size:
        alphabet = alphabet.renumbered(new, size)
        rows = [list(row) for row in zip(*known, [DEAD] * len(rows), strict=True)]
    return Automaton(alphabet, [*rows, [DEAD] * size], accepts)
