"""The threads at a node of a pattern.

A thread is a node that reads the next character, and the lookaheads whose texts have begun but not ended. So lookaheads
may stand anywhere in a pattern.
"""

from collections.abc import Iterable
from typing import Final

from lookup.languages.codepoints import WORD
from lookup.languages.lookaheads import Lookaheads, Owed
from lookup.languages.syntax_tree import Characters, Edge, Look
from lookup.languages.threads import FINAL, Check, Fork, Threads

Closure = tuple[frozenset[int], bool]
"""Threads, and whether the text may end here."""

_NOTHING: Final[Owed] = frozenset()
_WORD_FOLLOWS: Final = {negative: Look(Characters(WORD), negative) for negative in (False, True)}


class Closures:
    """Node -> the threads there. A thread that owes nothing has the number of its node; others are numbered behind."""

    def __init__(self, threads: Threads, lookaheads: Lookaheads) -> None:
        self._nodes, self._lookaheads = threads.nodes, lookaheads
        self.first_owing = len(threads.nodes)
        self._owing: list[tuple[int, Owed]] = []
        self._numbers: dict[tuple[int, Owed], int] = {}
        self._known: dict[tuple[int, bool, bool], Closure] = {}

    def owing(self, thread: int) -> tuple[int, Owed]:
        """The node of a thread that owes something, and what it owes."""
        return self._owing[thread - self.first_owing]

    def indebted(self, thread: int, owed: Owed) -> int:
        """The thread that owes more."""
        if not owed:
            return thread
        at = thread
        if thread >= self.first_owing:
            at, before = self.owing(thread)
            owed |= before
        key = at, owed
        if key not in self._numbers:
            self._numbers[key] = self.first_owing + len(self._owing)
            self._owing.append(key)
        return self._numbers[key]

    def at(self, node: int, at_start: bool, after_word: bool) -> Closure:
        """The threads at a node; ``at_start``: of the text; ``after_word``: behind a character of a word."""
        key = node, at_start, after_word
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._closure(node, at_start, after_word)
        return found

    def _closure(self, entry: int, at_start: bool, after_word: bool) -> Closure:
        nodes = self._nodes
        threads = set()
        may_end = False
        todo: list[tuple[int, bool, Owed]] = [(entry, False, _NOTHING)]
        seen = set(todo)
        while todo:
            at, ended, owed = todo.pop()
            node = nodes[at]
            items: Iterable[tuple[int, bool, Owed]] = ()
            if isinstance(node, Fork):
                items = [(target, ended, owed) for target in node.targets]
            elif isinstance(node, Check):
                items = self._checked(node, ended, owed, at_start, after_word)
            elif not ended:
                threads.add(self.indebted(at, owed))
            elif at == FINAL:
                may_end = may_end or self._lookaheads.paid(owed)
            for item in items:
                if item not in seen:
                    seen.add(item)
                    todo.append(item)
        self._lookaheads.work.take(len(seen))
        return frozenset(threads), may_end

    def _checked(
        self, check: Check, ended: bool, owed: Owed, at_start: bool, after_word: bool
    ) -> list[tuple[int, bool, Owed]]:
        """Where a thread goes on behind an edge or a lookahead; nowhere if that surely does not hold."""
        what = check.what
        if isinstance(what, Edge):
            if what.kind == "start":
                return [(check.target, ended, owed)] if at_start else []
            if what.kind == "end":
                return [(check.target, True, owed)]
            what = _WORD_FOLLOWS[after_word == (what.kind == "boundary")]
        more = self._lookaheads.owed(what, at_start, after_word)
        return [] if more is None else [(check.target, ended, owed | more)]
