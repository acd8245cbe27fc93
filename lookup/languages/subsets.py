"""Make a deterministic automaton of a pattern.

A state is a set of threads. A thread is a node of the pattern that reads the next character, and the lookaheads whose
texts have begun but not ended: each is an automaton of its own, in some state. So lookaheads may stand anywhere.
"""

from dataclasses import dataclass
from typing import Any, Final

from lookup.languages.alphabet import alphabet_of
from lookup.languages.automaton import DEAD, Automaton, reaching, trimmed
from lookup.languages.codepoints import WORD
from lookup.languages.limits import Work, check_states
from lookup.languages.syntax_tree import Characters, Edge, Look, Node
from lookup.languages.threads import FINAL, Check, Fork, Sets, Step, Threads

Owed = frozenset[tuple[int, int]]
"""Lookaheads that must still come true: the number of each, and its state."""

_NOTHING: Final[Owed] = frozenset()
_WORD_FOLLOWS: Final = {negative: Look(Characters(WORD), negative) for negative in (False, True)}

Threading = tuple[frozenset[int], bool]
"""Threads, and whether the text may end here."""

_EVERYTHING: Final[Threading] = frozenset((FINAL,)), True

Table = tuple[list[list[int]], list[bool]]


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


@dataclass
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


class _Context:
    """What a pattern and its lookaheads share: alphabet, lookaheads, work."""

    def __init__(self, node: Node) -> None:
        self.sets = Sets(node)
        self.alphabet, bits = alphabet_of(self.sets.sets)
        self.sets_of_class = bits[:-1]
        self.work = Work()
        self.work.take(len(self.alphabet.starts))
        self.word_bit = 1 << self.sets.number(WORD) if self.sets.has_boundary else 0
        self.looks: list[_LookTable] = []
        self.look_numbers: dict[tuple[int, bool, bool], int] = {}

    def look(self, look: Look, at_start: bool, after_word: bool) -> int:
        """The number of a lookahead."""
        key = id(look), at_start, after_word
        if key not in self.look_numbers:
            threads = Threads(look.part, self.sets, anywhere=False)
            table = _Subsets(threads, self).table(at_start, after_word)
            self.look_numbers[key] = len(self.looks)
            self.looks.append(_look_table(*table, look.negative))
        return self.look_numbers[key]


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


class _Subsets:
    """The subset construction of one pattern, or of the inside of one lookahead."""

    def __init__(self, threads: Threads, context: _Context) -> None:
        self.nodes, self.entry, self.skip, self.context = threads.nodes, threads.entry, threads.skip, context
        self.closures: dict[tuple[int, bool, bool], Threading] = {}
        # Threads that owe lookaheads are numbered behind the nodes.
        self.owing: list[tuple[int, Owed]] = []
        self.owing_numbers: dict[tuple[int, Owed], int] = {}
        self.anew: frozenset[int] = frozenset()
        self.anew_by_set: dict[int, list[int]] = {}
        self.anew_mask = 0
        self.anew_known: dict[int, Threading] = {}
        self.states: list[Threading] = []
        self.numbers: dict[Threading, int] = {}

    def table(self, at_start: bool, after_word: bool) -> Table:
        """The rows and the accepting states. State 0 is the start."""
        self.number(self.closure(self.entry, at_start, after_word))
        rows = []
        for threads, _ in self.states:
            rows.append(self.row(threads))
            if len(rows) == 1:
                self.begin_anew()
        return rows, [accepted for _, accepted in self.states]

    def begin_anew(self) -> None:
        """Take together the threads of a match that begins here, which are in almost every state of a search."""
        if self.skip is None or self.context.word_bit:
            return
        threads, _ = self.closure(self.entry, False, False)
        if max(threads) < len(self.nodes):
            self.anew = threads
            for thread in threads:
                number, target = self.nodes[thread]
                self.anew_by_set.setdefault(number, []).append(target)
                self.anew_mask |= 1 << number

    def behind_anew(self, bits: int) -> Threading:
        """The threads behind a character of some sets, of a match that begins there."""
        bits &= self.anew_mask
        found = self.anew_known.get(bits)
        if found is None:
            found = self.anew_known[bits] = self.merged(self.anew_by_set, bits, [])
        return found

    def number(self, found: Threading) -> int:
        """The number of the state of some threads; a new one for a new state."""
        number = self.numbers.get(found)
        if number is None:
            state = self.simplified(*found)
            number = self.numbers.get(state)
            if number is None:
                number = DEAD
                if state[0] or state[1] or not self.states:
                    number = len(self.states)
                    self.states.append(state)
                    check_states(number)
                self.numbers[state] = number
            self.numbers[found] = number
        return number

    def simplified(self, threads: frozenset[int], ended: bool) -> Threading:
        """The same state with fewer threads."""
        if FINAL in threads:
            return _EVERYTHING
        first = len(self.nodes)
        for thread in [thread for thread in threads if thread >= first]:
            node, owed = self.owing[thread - first]
            if node in threads:
                threads -= {thread}
            elif node == FINAL:
                ended = ended or self.paid(owed)
        return threads, ended

    def row(self, threads: frozenset[int]) -> list[int]:
        """The state behind each class of characters."""
        first, nodes = len(self.nodes), self.nodes
        by_set: dict[int, list[int]] = {}
        owing = []
        mask = self.context.word_bit
        classes = self.context.sets_of_class
        self.context.work.take(len(classes) + len(threads) // 4)
        is_anew = self.skip in threads and bool(self.anew)
        if is_anew:
            threads -= self.anew
            mask |= self.anew_mask
        for thread in threads:
            if thread < first:
                number, target = nodes[thread]
                by_set.setdefault(number, []).append(target)
            else:
                owing.append(self.owing[thread - first])
                number = nodes[owing[-1][0]][0]
            mask |= 1 << number
        self.context.work.take(len(threads))
        known: dict[Any, int] = {}
        row = []
        debts = [self.context.looks[look].rows[state] for _, owed in owing for look, state in owed]
        for number, bits in enumerate(classes):
            bits &= mask
            key = (bits, *[debt[number] for debt in debts]) if debts else bits
            target = known.get(key)
            if target is None:
                found = self.merged(by_set, bits, [self.behind_anew(bits)] if is_anew else [])
                if owing:
                    found = self.with_owing(found, owing, number)
                target = known[key] = self.number(found)
            row.append(target)
        row.append(DEAD)
        return row

    def merged(self, by_set: dict[int, list[int]], bits: int, found: list[Threading]) -> Threading:
        """What was found, and the threads behind a character of some sets, of the threads that owe nothing."""
        after_word = bool(bits & self.context.word_bit)
        closure = self.closure
        for number, targets in by_set.items():
            if bits >> number & 1:
                found += [closure(target, False, after_word) for target in targets]
        if len(found) == 1:
            return found[0]
        union = frozenset[int]().union(*[threads for threads, _ in found])
        self.context.work.take(len(found) + len(union) // 4)
        return union, any([ended for _, ended in found])

    def with_owing(self, plain: Threading, owing: list[tuple[int, Owed]], number: int) -> Threading:
        """The threads behind a class of characters, with those of the threads that owe lookaheads."""
        threads, ended = set(plain[0]), plain[1]
        bits = self.context.sets_of_class[number]
        after_word = bool(bits & self.context.word_bit)
        for at, owed in owing:
            set_number, target = self.nodes[at]
            self.context.work.take(1 + len(owed))
            still = self.advanced(owed, number) if bits >> set_number & 1 else None
            if still is None:
                continue
            more, more_ended = self.closure(target, False, after_word)
            ended = ended or (more_ended and self.paid(still))
            threads.update([self.indebted(thread, still) for thread in more])
            self.context.work.take(len(more))
        return frozenset(threads), ended

    def advanced(self, owed: Owed, number: int) -> Owed | None:
        """What is owed behind a character; ``None`` if it cannot be paid."""
        result = []
        for look, state in owed:
            table = self.context.looks[look]
            state = table.rows[state][number]
            if table.hopeless[state]:
                return None
            if not table.granted[state]:
                result.append((look, state))
        return frozenset(result)

    def paid(self, owed: Owed) -> bool:
        """Whether all lookaheads hold if the text ends here."""
        return all(self.context.looks[look].accepts[state] for look, state in owed)

    def indebted(self, thread: int, owed: Owed) -> int:
        """The thread that owes more."""
        if not owed:
            return thread
        at = thread
        if thread >= len(self.nodes):
            at, before = self.owing[thread - len(self.nodes)]
            owed |= before
        key = at, owed
        if key not in self.owing_numbers:
            self.owing_numbers[key] = len(self.nodes) + len(self.owing)
            self.owing.append(key)
        return self.owing_numbers[key]

    def closure(self, entry: int, at_start: bool, after_word: bool) -> Threading:
        """The threads at a node, and whether the text may end there."""
        key = entry, at_start, after_word
        found = self.closures.get(key)
        if found is None:
            found = self.closures[key] = self._closure(entry, at_start, after_word)
        return found

    def _closure(self, entry: int, at_start: bool, after_word: bool) -> Threading:
        nodes = self.nodes
        threads = set()
        may_end = False
        todo: list[tuple[int, bool, Owed]] = [(entry, False, _NOTHING)]
        seen = set(todo)
        while todo:
            at, ended, owed = todo.pop()
            node = nodes[at]
            kind = type(node)
            if kind is Step:
                if not ended:
                    threads.add(self.indebted(at, owed))
                elif at == FINAL:
                    may_end = may_end or self.paid(owed)
            elif kind is Fork:
                for target in node[0]:
                    item = target, ended, owed
                    if item not in seen:
                        seen.add(item)
                        todo.append(item)
            else:
                for item in self.checked(node, ended, owed, at_start, after_word):
                    if item not in seen:
                        seen.add(item)
                        todo.append(item)
        self.context.work.take(len(seen))
        return frozenset(threads), may_end

    def checked(
        self, check: Check, ended: bool, owed: Owed, at_start: bool, after_word: bool
    ) -> list[tuple[int, bool, Owed]]:
        """Where a thread goes on behind an edge or a lookahead; nowhere if it surely does not hold."""
        what = check.what
        if isinstance(what, Edge):
            if what.kind == "start":
                return [(check.target, ended, owed)] if at_start else []
            if what.kind == "end":
                return [(check.target, True, owed)]
            what = _WORD_FOLLOWS[after_word == (what.kind == "boundary")]
        number = self.context.look(what, at_start, after_word)
        table = self.context.looks[number]
        if table.hopeless[0]:
            return []
        return [(check.target, ended, owed if table.granted[0] else owed | {(number, 0)})]
