"""Regular languages of text, read character by character."""

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import heappop, heappush
from typing import Final, NamedTuple

from lookup.languages import terms
from lookup.languages.codepoints import WORD, alphabet_of
from lookup.languages.formats import FORMATS
from lookup.languages.limits import MAX_SHORTEST, MAX_STATES, TooLarge, UnsupportedPattern, Work
from lookup.languages.pattern_reader import read_pattern
from lookup.languages.syntax_tree import Characters, Edge, characters, nodes_of
from lookup.languages.terms import ALL, ENDLESS, NEVER, Term

_MAX_BEGUN: Final = 2_000  # beginnings of texts from which others are found
_MORE_REST: Final = 64  # characters beyond twice the shortest text, where no bound on what completes a text is known
_MAX_TRIED: Final = 2_000_000  # kinds of characters at all places of the shortest text
_MAX_LEVELS: Final = 5_000  # the longest text of a language whose texts are listed


class State(NamedTuple):
    """What may follow, and whether a character of a word came before, if that makes a difference."""

    term: Term
    after_word: bool


class _Row(NamedTuple):
    """The states behind a state: by class of characters, and by the sets that a character is in."""

    by_class: dict[int, State]
    by_sets: dict[frozenset[Characters], State]


class Language:
    """A set of texts. Immutable; two languages are equal if they are the same object.

    States are opaque. A state is always live: some text of the language goes on from it. No text has a surrogate or one
    of ``RESERVED``. Operations raise ``TooLarge`` beyond the bounds of ``lookup.languages.limits``. A character behind
    which a text is not found within these bounds may not follow.

    Parameters
    ----------
    term : Term
        The texts.
    sets : frozenset of Characters
        The sets of characters that the term has.

    Attributes
    ----------
    shortest : int or None
        How many characters the shortest text has; ``None`` if there is none.
    longest_rest : int
        How many characters ``completion`` returns at most, whatever was read. No state that needs more is live.
    """

    def __init__(self, term: Term, sets: frozenset[Characters] = frozenset()) -> None:
        self.start = State(term, False)
        self._sets = sets
        self._alphabet = alphabet_of(frozenset(one.points for one in sets))
        self._word = frozenset((characters(WORD),)) if term.looks_back else frozenset()
        self._rows: dict[State, _Row] = {}
        self._lengths: dict[State, int | None] = {}
        self.shortest = self._length(self.start)
        if self.shortest is not None and self.shortest > MAX_SHORTEST:
            raise TooLarge(f"the shortest text has more than {MAX_SHORTEST} characters")
        if (self.shortest or 0) * self._alphabet.size > _MAX_TRIED:
            raise TooLarge("the shortest text is long, and there are many kinds of characters")
        known = term.max_completion < ENDLESS
        self.longest_rest = term.max_completion if known else _MORE_REST + 2 * (self.shortest or 0)

    @property
    def is_empty(self) -> bool:
        """Whether no text belongs to the language."""
        return self.shortest is None

    def __contains__(self, text: str) -> bool:
        state = self.run(self.start, text)
        return state is not None and self.accepts(state)

    def run(self, state: State, text: str) -> State | None:
        """The state behind a text; ``None`` if no text of the language goes on so."""
        alphabet, rows = self._alphabet, self._rows
        row = rows.get(state)
        for character in text:
            number = alphabet[character]
            found = None if row is None else row.by_class.get(number)
            if found is None:
                if number == alphabet.size:
                    return None
                try:
                    found = self._behind(state, number, character)
                except TooLarge:
                    return None
            if found is not state or row is None:
                state, row = found, rows.get(found)
        return self._live(state)

    def accepts(self, state: State) -> bool:
        """Whether the text may end here."""
        return state.term.nullable >> state.after_word & 1 == 1

    def completion(self, state: State) -> str:
        """A shortest text that completes what was read; letters and digits where there is a choice."""
        whole = self._length(state)
        assert whole is not None
        result = []
        for left in range(whole - 1, -1, -1):
            for number, character in self._alphabet.plain_order:
                behind = self._behind(state, number, character)
                if behind.term.least <= left and self._length(behind, left) == left:
                    break
            result.append(character)
            state = behind
        return "".join(result)

    def letters(self, state: State) -> str:
        """The ASCII characters that may follow, and one of each class of other characters that may follow."""
        alphabet = self._alphabet
        return "".join(alphabet.ascii[number] + alphabet.others[number] for number, _ in self._following(state))

    def allowed_ranges(self, state: State) -> Iterator[tuple[int, int]]:
        """The characters that may follow: intervals of code points, each with the one behind its last."""
        for number, _ in self._following(state):
            yield from self._alphabet.spans[number]

    def intersection(self, other: "Language") -> "Language":
        """The texts of both languages."""
        if ANY_TEXT in (self, other):
            return other if self is ANY_TEXT else self
        return Language(terms.intersection((self.start.term, other.start.term)), self._sets | other._sets)

    def union(self, other: "Language") -> "Language":
        """The texts of at least one of two languages."""
        return Language(terms.union((self.start.term, other.start.term)), self._sets | other._sets)

    def complement(self) -> "Language":
        """All other texts."""
        return Language(terms.complement(self.start.term), self._sets)

    def with_length(self, least: int, most: int | None) -> "Language":
        """The texts of ``least`` to ``most`` code points; ``None``: no upper limit."""
        return Language(terms.intersection((self.start.term, terms.length(max(least, 0), most))), self._sets)

    def members(self, limit: int) -> tuple[str, ...] | None:
        """All texts, shortest first; ``None`` if there are more than ``limit``, or if they are long."""
        if self.start.term.has_all_lengths and self.start.term.most - self.start.term.least >= limit:
            return None
        found: list[str] = []
        begun: dict[State, list[str]] = {} if self.is_empty else {self.start: [""]}
        for _ in range(_MAX_LEVELS):
            if not begun or len(found) > limit:
                return tuple(found) if len(found) <= limit else None
            found += [text for state, texts in begun.items() if self.accepts(state) for text in texts]
            longer: dict[State, list[str]] = {}
            count = 0
            for state, texts in begun.items():
                for number, behind in self._following(state):
                    spans = self._alphabet.spans[number]
                    count += len(texts) * sum(stop - first for first, stop in spans)
                    if count > limit:  # each prefix begins a text of its own
                        return None
                    single = [chr(point) for first, stop in spans for point in range(first, stop)]
                    longer.setdefault(behind, []).extend(text + one for text in texts for one in single)
            begun = longer
        return None

    def _following(self, state: State) -> Iterator[tuple[int, State]]:
        """The classes of characters that may follow, and the states behind."""
        for number, character in self._alphabet.order:
            behind = self._live(self._behind(state, number, character))
            if behind is not None:
                yield number, behind

    def _behind(self, state: State, number: int, character: str) -> State:
        """The state behind a character of a class, live or not; TooLarge beyond the bounds."""
        row = self._rows.get(state)
        if row is None:
            if len(self._rows) >= MAX_STATES:
                self._rows.clear()
            row = self._rows[state] = _Row({}, {})
        found = row.by_class.get(number)
        if found is None:
            point = ord(character)
            sets = frozenset(one for one in state.term.heads | self._word if terms.contains(one, point))
            found = row.by_sets.get(sets)
            if found is None:
                term = terms.derivative(state.term, point, state.after_word)
                found = State(term, term.looks_back and terms.contains(characters(WORD), point))
                row.by_sets[sets] = found
            row.by_class[number] = found
        return found

    def _live(self, state: State) -> State | None:
        """The state, if a text that goes on from it is found within the bounds."""
        if state.term.has_least and state.term.least <= self.longest_rest:
            return state
        try:
            found = self._length(state, self.longest_rest)
        except TooLarge:
            found = None
        if found is not None and found <= self.longest_rest:
            return state
        self._lengths[state] = None
        return None

    def _length(self, state: State, most: int = ENDLESS) -> int | None:
        """How many characters complete a text at least; ``None`` if more than ``most``, or if none do."""
        term = state.term
        if term.has_least:
            return term.least
        if term is NEVER:
            return None
        if state not in self._lengths:
            found = self._search(state, most)
            if found is None and most < ENDLESS:
                return None
            if len(self._lengths) >= 4 * MAX_STATES:
                self._lengths.clear()
            self._lengths[state] = found
        return self._lengths[state]

    def _search(self, start: State, most: int) -> int | None:
        """See ``_length``: the search A*, with the bounds of terms as its heuristic.

        Of ``^(?=.*[0-9])[a-z0-9]{3}$`` behind ``ab`` it is 1: the term is ``[a-z0-9]`` that has a digit, whose bounds
        are 1 and 1, and ``0`` leads to the empty text. Behind ``abc`` no state is live.
        """
        work = Work()
        order = itertools.count()
        waiting = [(start.term.least, 0, next(order), start)]
        read = {start: 0}
        before: dict[State, State] = {}
        while waiting:
            total, minus, _, state = heappop(waiting)
            if -minus > read[state]:
                continue
            bound = state.term.least if state.term.has_least else -1
            known = 0 if self.accepts(state) else self._lengths.get(state, bound)
            if known is None:
                continue
            if known >= 0 and known - minus == total:
                self._remember(state, known, before)
                return total
            for number, character in self._alphabet.plain_order:
                work.take(1)
                behind = self._behind(state, number, character)
                count = read[state] + 1
                least = count + (self._lengths.get(behind) or behind.term.least)
                if behind.term is NEVER or least > most or read.get(behind, ENDLESS) <= count:
                    continue
                read[behind] = count
                before[behind] = state
                heappush(waiting, (least, -count, next(order), behind))
        if most == ENDLESS:
            self._lengths.update(dict.fromkeys(read, None))
        return None

    def _remember(self, state: State, known: int, before: dict[State, State]) -> None:
        """Keep the lengths of the states on the shortest way to a state."""
        while not state.term.has_least:
            self._lengths[state] = known
            if state not in before:
                break
            state, known = before[state], known + 1


def completions(language: Language, state: State) -> Iterator[str]:
    """Texts that complete a text of a language, roughly the shorter ones first; digits are tried first.

    Of ``^[ab]{1,2}$``: ``a``, the shortest; ``a`` and ``b`` with their shortest ends; ``aa``, ``ab``, ``ba``, ``bb``.
    """
    yield language.completion(state)
    waiting = [("", state)]
    for begun, place in waiting:  # it grows
        for character in sorted(language.letters(place), key=lambda one: not "0" <= one <= "9"):
            behind = language.run(place, character)
            if behind is not None:
                yield begun + character + language.completion(behind)
                if len(waiting) < _MAX_BEGUN:
                    waiting.append((begun + character, behind))


ANY_TEXT: Final = Language(ALL)
"""All texts; where nothing limits them, this object."""


def pattern_language(pattern: str) -> Language:
    """The texts in which a regular expression of ECMA 262 finds something. The last patterns are kept.

    UnsupportedPattern if the pattern is malformed, or has backreferences, lookbehind or what only other dialects have.
    TooLarge if it needs more work than the bounds allow.
    """
    result = _compiled(pattern)
    if isinstance(result, Language):
        return result
    raise result.with_traceback(None)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Language | UnsupportedPattern | TooLarge:
    try:
        node = read_pattern(pattern)
        first, late = terms.concat(node.at(True), ALL), terms.concat(node.at(False), ALL)
        term = terms.union((first, terms.concat(terms.BEFORE, late)))
        nodes = list(nodes_of(node))
        words = [characters(WORD)] if any(isinstance(one, Edge) and "boundary" in one.kind for one in nodes) else []
        return Language(term, frozenset([*words, *(one for one in nodes if isinstance(one, Characters))]))
    except (UnsupportedPattern, TooLarge) as error:
        return error


@lru_cache(maxsize=64)
def format_language(name: str) -> Language:
    """The texts of a format of JSON Schema; all texts if the format is not known."""
    if name not in FORMATS:
        return ANY_TEXT
    pattern, most = FORMATS[name]
    return pattern_language(f"^(?:{pattern})$").with_length(0, most)


def any_of(texts: Iterable[str]) -> Language:
    """The language of some texts. One with a character that no text may have is left out."""
    given = set(texts)
    sets = frozenset(characters((ord(one), ord(one) + 1)) for one in set().union(*given))
    return Language(terms.of_texts(given), sets)
