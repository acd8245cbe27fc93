"""Make a deterministic automaton of a pattern. Each of its states is a set of threads."""

from typing import Any, Final

from lookup.languages.alphabet import alphabet_of
from lookup.languages.automaton import DEAD, Automaton, trimmed
from lookup.languages.closures import Closure, Closures
from lookup.languages.codepoints import WORD
from lookup.languages.limits import Work, check_states
from lookup.languages.lookaheads import Lookaheads, Owed, Table
from lookup.languages.syntax_tree import Node
from lookup.languages.threads import FINAL, Sets, Threads

_EVERYTHING: Final[Closure] = frozenset((FINAL,)), True

BySet = dict[int, list[int]]
"""The number of a set of characters -> the nodes behind."""


def automaton_of(node: Node) -> Automaton:
    """Return the automaton of the texts in which a pattern is found.

    Raises
    ------
    TooLarge
        If it needs more states or more work than the bounds allow.
    """
    context = _Context(node)
    rows, accepts = _Subsets(Threads(node, context.sets, anywhere=True), context).table(True, False)
    return trimmed(context.alphabet, rows, accepts)


class _Context:
    """What a pattern and its lookaheads share.

    Attributes
    ----------
    sets_of_class : list of int
        For each class of characters the sets that have it, as bits.
    word_bit : int
        The bit of the characters of words; 0 if the pattern has no word boundaries.
    """

    def __init__(self, node: Node) -> None:
        self.sets = Sets(node)
        self.alphabet, bits = alphabet_of(self.sets.sets)
        self.sets_of_class = bits[:-1]
        self.word_bit = 1 << self.sets.number(WORD) if self.sets.has_boundary else 0
        self.work = Work()
        self.work.take(len(self.alphabet.starts))
        self.lookaheads = Lookaheads(self._inside, self.work)

    def _inside(self, node: Node, at_start: bool, after_word: bool) -> Table:
        """The table of the inside of a lookahead."""
        return _Subsets(Threads(node, self.sets, anywhere=False), self).table(at_start, after_word)


class _Subsets:
    """The subset construction of a pattern, or of the inside of a lookahead."""

    def __init__(self, threads: Threads, context: _Context) -> None:
        self._entry, self._skip, self._steps = threads.entry, threads.skip, threads.steps()
        self._context, self._work = context, context.work
        self._closures = Closures(threads, context.lookaheads)
        self._states: list[Closure] = []
        self._numbers: dict[Closure, int] = {}
        # The threads of a match that begins anew: they are in almost every state of a search.
        self._anew: frozenset[int] = frozenset()
        self._anew_by_set: BySet = {}
        self._anew_mask = 0
        self._anew_known: dict[int, Closure] = {}

    def table(self, at_start: bool, after_word: bool) -> Table:
        """The rows and the accepting states. State 0 is the start."""
        self._number(self._closures.at(self._entry, at_start, after_word))
        rows: list[list[int]] = []
        for threads, _ in self._states:
            rows.append(self._row(threads))
            if len(rows) == 1 and self._skip is not None and not self._context.word_bit:
                self._begin_anew()
        return rows, [accepted for _, accepted in self._states]

    def _begin_anew(self) -> None:
        threads, _ = self._closures.at(self._entry, False, False)
        if max(threads) < self._closures.first_owing:
            self._anew = threads
            self._anew_by_set, self._anew_mask = self._by_set(threads)

    def _by_set(self, threads: frozenset[int]) -> tuple[BySet, int]:
        """The nodes behind threads that owe nothing, by what they read; and the sets that they read, as bits."""
        result: BySet = {}
        mask = 0
        for thread in threads:
            number, target = self._steps[thread]
            result.setdefault(number, []).append(target)
            mask |= 1 << number
        return result, mask

    def _number(self, found: Closure) -> int:
        """The number of a state; a new one for a new state, ``DEAD`` for none."""
        number = self._numbers.get(found)
        if number is None:
            state = self._simplified(*found)
            number = self._numbers.get(state)
            if number is None:
                number = DEAD
                if state[0] or state[1] or not self._states:
                    number = len(self._states)
                    self._states.append(state)
                    check_states(number)
                self._numbers[state] = number
            self._numbers[found] = number
        return number

    def _simplified(self, threads: frozenset[int], ended: bool) -> Closure:
        """The same state with fewer threads."""
        if FINAL in threads:
            return _EVERYTHING
        for thread in [thread for thread in threads if thread >= self._closures.first_owing]:
            node, owed = self._closures.owing(thread)
            if node in threads:
                threads -= {thread}
            elif node == FINAL:
                ended = ended or self._context.lookaheads.paid(owed)
        return threads, ended

    def _row(self, threads: frozenset[int]) -> list[int]:
        """The state behind each class of characters."""
        context = self._context
        self._work.take(len(context.sets_of_class) + len(threads) // 4)
        is_anew = self._skip in threads and bool(self._anew)
        if is_anew:
            threads -= self._anew
        self._work.take(len(threads))
        owing = [self._closures.owing(thread) for thread in threads if thread >= self._closures.first_owing]
        if owing:
            threads = frozenset(thread for thread in threads if thread < self._closures.first_owing)
        by_set, mask = self._by_set(threads)
        mask |= context.word_bit | self._anew_mask * is_anew
        debts = []
        for node, owed in owing:
            mask |= 1 << self._steps[node].set_number
            debts += [context.lookaheads.row(look, state) for look, state in owed]
        keys: list[Any] = [sets & mask for sets in context.sets_of_class]
        if debts:
            keys = list(zip(keys, *debts, strict=True))
        known: dict[Any, int] = {}
        for key, number in dict(zip(keys, range(len(keys)), strict=True)).items():
            bits = key[0] if debts else key
            found = self._behind(by_set, bits, [self._behind_anew(bits)] if is_anew else [])
            known[key] = self._number(self._with_owing(found, owing, number) if owing else found)
        return [*[known[key] for key in keys], DEAD]

    def _behind(self, by_set: BySet, bits: int, found: list[Closure]) -> Closure:
        """What was found, and the threads behind a character of some sets."""
        after_word = bool(bits & self._context.word_bit)
        closure = self._closures.at
        for number, targets in by_set.items():
            if bits >> number & 1:
                found += [closure(target, False, after_word) for target in targets]
        if len(found) == 1:
            return found[0]
        union = frozenset[int]().union(*[threads for threads, _ in found])
        self._work.take(len(found) + len(union) // 4)
        return union, any(ended for _, ended in found)

    def _behind_anew(self, bits: int) -> Closure:
        """The threads behind a character of some sets, of a match that begins there."""
        bits &= self._anew_mask
        found = self._anew_known.get(bits)
        if found is None:
            found = self._anew_known[bits] = self._behind(self._anew_by_set, bits, [])
        return found

    def _with_owing(self, plain: Closure, owing: list[tuple[int, Owed]], number: int) -> Closure:
        """What was found, and the threads behind a class of characters, of the threads that owe lookaheads."""
        threads, ended = set(plain[0]), plain[1]
        lookaheads = self._context.lookaheads
        bits = self._context.sets_of_class[number]
        after_word = bool(bits & self._context.word_bit)
        for node, owed in owing:
            set_number, target = self._steps[node]
            self._work.take(1)
            still = lookaheads.advanced(owed, number) if bits >> set_number & 1 else None
            if still is None:
                continue
            more, more_ended = self._closures.at(target, False, after_word)
            ended = ended or (more_ended and lookaheads.paid(still))
            threads.update([self._closures.indebted(thread, still) for thread in more])
            self._work.take(len(more))
        return frozenset(threads), ended
