"""How many characters can complete a text, for each state of an automaton."""

from functools import cached_property
from typing import Final

from lookup.languages.limits import Work

ENDLESS: Final = 1 << 60
"""More characters than any text has."""


class Lengths:
    """The numbers of characters that complete a text, for each state.

    In most automata each state has all numbers between its smallest and its largest one. Otherwise the states that have
    a number are computed number by number, until they repeat.

    Attributes
    ----------
    shortest, longest : list of int
        For each state its smallest and its largest number; the largest may be ``ENDLESS``.
    """

    def __init__(self, targets: list[list[int]], accepts: list[bool]) -> None:
        self._targets, self._accepts = targets, accepts
        before: list[list[int]] = [[] for _ in targets]
        for state, behind in enumerate(targets):
            for target in behind:
                before[target].append(state)
        self.shortest = self._shortest(before)
        self.longest = self._longest(before)

    def _shortest(self, before: list[list[int]]) -> list[int]:
        result = [ENDLESS] * len(before)
        level = [state for state, accepted in enumerate(self._accepts) if accepted]
        distance = 0
        while level:
            for state in level:
                result[state] = distance
            distance += 1
            level = [one for one in {one for state in level for one in before[state]} if result[one] == ENDLESS]
        return result

    def _longest(self, before: list[list[int]]) -> list[int]:
        left = [len(targets) for targets in self._targets]
        result = [ENDLESS] * len(left)
        ready = [state for state, count in enumerate(left) if not count]
        while ready:
            state = ready.pop()
            result[state] = 1 + max((result[target] for target in self._targets[state]), default=-1)
            for one in before[state]:
                left[one] -= 1
                if not left[one]:
                    ready.append(one)
        return result

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a number between the smallest and the largest of a state may be missing."""
        return any(self._gap(state) for state in range(len(self._targets)))

    def _gap(self, state: int) -> bool:
        """Whether the numbers through the next states leave a gap, if those states have none."""
        spans = sorted((self.shortest[target] + 1, self.longest[target] + 1) for target in self._targets[state])
        reached = 0 if self._accepts[state] else self.shortest[state] - 1
        for least, most in spans:
            if least > reached + 1:
                return True
            reached = max(reached, most)
        return False

    @cached_property
    def _levels(self) -> tuple[list[int], int, int]:
        """For each state the bits of its numbers; the number from which on they repeat; their period."""
        work = Work()
        masks = [sum(1 << target for target in targets) for targets in self._targets]
        level = sum(1 << state for state, accepted in enumerate(self._accepts) if accepted)
        seen: dict[int, int] = {}
        while level not in seen:
            work.take(len(masks))
            seen[level] = len(seen)
            level = sum(1 << state for state, mask in enumerate(masks) if mask & level)
        levels = list(seen)
        bits = [
            sum(1 << number for number, one in enumerate(levels) if one >> state & 1) for state in range(len(masks))
        ]
        work.take(len(masks) * len(levels) // 8)
        return bits, seen[level], len(levels) - seen[level]

    def next_length(self, state: int, least: int, most: int) -> int | None:
        """The smallest number of a state from ``least`` to ``most``; ``None`` if there is none."""
        least = max(least, self.shortest[state])
        if least > min(most, self.longest[state]):
            return None
        if not self.has_gaps:
            return least
        bits, repeats, period = self._levels
        found = self._next(bits[state], repeats, period, least)
        return found if found is not None and found <= most else None

    def bound(self, least: int, most: int) -> int:
        """How many characters complete a text at most, in any state, if it has ``least`` to ``most`` altogether."""
        found = [self.next_length(state, least, ENDLESS) for state in range(len(self._targets))]
        most_left = [one if length is None else length for one, length in zip(self.longest, found, strict=True)]
        return min(most, max(most_left))

    @staticmethod
    def _next(bits: int, repeats: int, period: int, least: int) -> int | None:
        """The first number from ``least`` on, of bits of which the last ``period`` repeat for ever."""
        turns = max(0, least - repeats) // period
        least -= turns * period
        above = bits >> least
        if above:
            return least + _lowest(above) + turns * period
        again = bits >> repeats
        return repeats + _lowest(again) + (turns + 1) * period if again else None


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
