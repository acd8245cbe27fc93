"""Regular languages of text, read character by character.

A language is an automaton with a length, or a union of such parts. The length is a counter, not states.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, reduce
from typing import Any, Final, TypeAlias

from lookup.languages.alphabet import Alphabet, joint
from lookup.languages.automaton import DEAD, Automaton
from lookup.languages.formats import FORMATS
from lookup.languages.lengths import ENDLESS
from lookup.languages.limits import COUNTED, TooLarge, UnsupportedPattern
from lookup.languages.parts import ALL_LENGTHS, ANY, Part, common_parts, completion, united_parts
from lookup.languages.pattern_reader import read_pattern
from lookup.languages.subsets import automaton_of
from lookup.languages.syntax_tree import Characters, Edge, Node, Repeat, Sequence
from lookup.languages.texts import automaton_of_texts

State: TypeAlias = Any
_MAX_BEGUN: Final = 2_000  # beginnings of texts from which others are found


class Language(ABC):
    """A set of texts. Immutable; two languages are equal if they are the same object.

    States are opaque. A state is always live: some text of the language goes on from it. No text has a surrogate or one
    of ``RESERVED``. Operations raise ``TooLarge`` beyond the bounds of ``lookup.languages.limits``.

    Attributes
    ----------
    parts : tuple of Part
        The language is their union.
    start : State
        The state of the empty text.
    """

    start: State

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts

    @property
    def is_empty(self) -> bool:
        """Whether no text belongs to the language."""
        return not self.parts

    @abstractmethod
    def step(self, state: State, character: str) -> State | None:
        """The state behind a character; ``None`` if no text of the language goes on so."""

    @abstractmethod
    def run(self, state: State, text: str) -> State | None:
        """The state behind a text; ``None`` if no text of the language goes on so."""

    @abstractmethod
    def whole(self, state: State) -> bool:
        """Whether the text may end here."""

    @abstractmethod
    def rest(self, state: State) -> str:
        """A shortest text that completes what was read; letters and digits where there is a choice."""

    @abstractmethod
    def extends(self, state: State) -> bool:
        """Whether some character may follow."""

    def letters(self, state: State) -> str:
        """The ASCII characters that may follow, and one of each class of other characters that may follow."""
        alphabet = self._alphabet
        return "".join(alphabet.plain_ascii[number] + alphabet.others[number] for number in self._numbers(state))

    @property
    @abstractmethod
    def longest_rest(self) -> int:
        """How many characters ``rest`` returns at most, whatever was read."""

    def both(self, other: "Language") -> "Language":
        """The texts of both languages."""
        return _language(common_parts(self.parts, other.parts))

    def either(self, other: "Language") -> "Language":
        """The texts of at least one of two languages."""
        return _language(united_parts([*self.parts, *other.parts]))

    def outside(self) -> "Language":
        """All other texts."""
        result = ANY_TEXT
        for automaton, least, most in self.parts:
            others = [Part(automaton.complement(), 0, ENDLESS)]
            if least:
                others.append(Part(ANY, 0, least - 1))
            if most < ENDLESS:
                others.append(Part(ANY, most + 1, ENDLESS))
            result = result.both(_language(united_parts(others)))
        return result

    def with_length(self, least: int, most: int | None) -> "Language":
        """The texts of ``least`` to ``most`` code points; ``None``: no upper limit."""
        return self.both(_with_lengths(ANY, least, most))

    def members(self, limit: int) -> tuple[str, ...] | None:
        """All texts, shortest first; ``None`` if there are more than ``limit``."""
        if any(part.most == ENDLESS and part.automaton.lengths.longest[0] == ENDLESS for part in self.parts):
            return None
        found: list[str] = []
        texts: list[tuple[str, State]] = [] if self.is_empty else [("", self.start)]
        while texts:
            found += [text for text, state in texts if self.whole(state)]
            longer: list[tuple[str, State]] = []
            for text, state in texts:
                for first, stop in self._spans(state):
                    for point in range(first, stop):
                        behind = self.step(state, chr(point))
                        assert behind is not None
                        longer.append((text + chr(point), behind))
                        if len(longer) > limit:  # each prefix begins a text of its own
                            return None
            if len(found) > limit:
                return None
            texts = longer
        return tuple(found)

    def _spans(self, state: State) -> Iterator[tuple[int, int]]:
        """The intervals of characters that may follow, each with the code point behind its last."""
        alphabet = self._alphabet
        for number in self._numbers(state):
            yield from alphabet.members[number]

    def _numbers(self, state: State) -> Iterator[int]:
        """The classes of characters that may follow."""
        alphabet = self._alphabet
        for number, character in enumerate(alphabet.plainest[:-1]):
            if self.step(state, character) is not None:
                yield number

    @cached_property
    def _alphabet(self) -> Alphabet:
        """The alphabet that tells apart what one of the parts does."""
        first, *others = [part.automaton.alphabet for part in self.parts] or [ANY.alphabet]
        return reduce(lambda one, two: joint(one, two)[0], others, first)


def completions(language: Language, state: State) -> Iterator[str]:
    """Texts that complete a text of a language, roughly the shorter ones first."""
    yield language.rest(state)
    waiting = [("", state)]
    for begun, place in waiting:  # it grows
        for character in language.letters(place):
            behind = language.step(place, character)
            if behind is not None:
                yield begun + character + language.rest(behind)
                if len(waiting) < _MAX_BEGUN:
                    waiting.append((begun + character, behind))


class _PlainLanguage(Language):
    """One automaton without limits of length. A state is the automaton's."""

    start = 0

    def __init__(self, parts: tuple[Part, ...]) -> None:
        super().__init__(parts)
        self._automaton = parts[0].automaton
        self._rows, self._class_of = self._automaton.rows, self._automaton.alphabet.class_of

    def step(self, state: State, character: str) -> State | None:
        behind = self._rows[state][self._class_of[character]]
        return None if behind < 0 else behind

    def run(self, state: State, text: str) -> State | None:
        behind = self._automaton.run(state, text)
        return None if behind < 0 else behind

    def whole(self, state: State) -> bool:
        return self._automaton.accepts[state]

    def rest(self, state: State) -> str:
        return completion(self._automaton, state, self._automaton.lengths.shortest[state])

    def extends(self, state: State) -> bool:
        return self._automaton.lengths.longest[state] > 0

    @cached_property
    def longest_rest(self) -> int:
        return max(self._automaton.lengths.shortest)


class _CountedLanguage(Language):
    """Parts with limits of length. A state is the number of characters, and the state of each part.

    The number stops where it makes no difference any more.
    """

    def __init__(self, parts: tuple[Part, ...]) -> None:
        super().__init__(parts)
        self.start = (0,) * (len(parts) + 1)
        self._lengths = [part.automaton.lengths for part in parts]
        self._is_simple = len(parts) == 1 and not self._lengths[0].has_gaps
        self._enough = max((part.least if part.most == ENDLESS else part.most + 1 for part in parts), default=0)

    def step(self, state: State, character: str) -> State | None:
        if self._is_simple:
            return self._step_simply(state, character)
        result = [min(state[0] + 1, self._enough)]
        for part, one in zip(self.parts, state[1:], strict=True):
            automaton = part.automaton
            result.append(automaton.rows[one][automaton.alphabet.class_of[character]])
        return self._live(result)

    def _step_simply(self, state: State, character: str) -> State | None:
        """The same for the usual case, one part without gaps: some five times as fast."""
        automaton, least, most = self.parts[0]
        one = automaton.rows[state[1]][automaton.alphabet.class_of[character]]
        if one < 0:
            return None
        count = state[0] + 1
        lengths = self._lengths[0]
        if lengths.shortest[one] > most - count or lengths.longest[one] < least - count:
            return None
        return (count if count < self._enough else self._enough), one

    def run(self, state: State, text: str) -> State | None:
        result = [min(state[0] + len(text), self._enough)]
        for part, one in zip(self.parts, state[1:], strict=True):
            result.append(part.automaton.run(one, text))
        return self._live(result)

    def _live(self, state: list[int]) -> State | None:
        """The state without the parts that no text of an admissible length completes."""
        count = state[0]
        is_live = False
        for place, (part, one) in enumerate(zip(self.parts, state[1:], strict=True), 1):
            if one >= 0 and self._length(part, one, count) is not None:
                is_live = True
            else:
                state[place] = DEAD
        return tuple(state) if is_live else None

    def _length(self, part: Part, state: int, count: int) -> int | None:
        """How many characters complete a part."""
        return part.automaton.lengths.next_length(state, max(0, part.least - count), part.most - count)

    def _parts(self, state: State) -> list[tuple[Part, int]]:
        return [(part, one) for part, one in zip(self.parts, state[1:], strict=True) if one >= 0]

    def whole(self, state: State) -> bool:
        return any(
            part.automaton.accepts[one] and part.least <= state[0] <= part.most for part, one in self._parts(state)
        )

    def rest(self, state: State) -> str:
        lengths = [(self._length(part, one, state[0]), part, one) for part, one in self._parts(state)]
        length, part, one = min(lengths, key=lambda item: ENDLESS if item[0] is None else item[0])
        assert length is not None
        return completion(part.automaton, one, length)

    def extends(self, state: State) -> bool:
        return any(
            part.automaton.lengths.next_length(one, max(1, part.least - state[0]), part.most - state[0]) is not None
            for part, one in self._parts(state)
        )

    @cached_property
    def longest_rest(self) -> int:
        return max((part.automaton.lengths.bound(part.least, part.most) for part in self.parts), default=0)


def _language(parts: tuple[Part, ...]) -> Language:
    """The language of united parts."""
    return _PlainLanguage(parts) if [part[1:] for part in parts] == [ALL_LENGTHS] else _CountedLanguage(parts)


def _with_lengths(automaton: Automaton, least: int = 0, most: int | None = None) -> Language:
    """The texts of an automaton with ``least`` to ``most`` characters."""
    return _language(united_parts([Part(automaton, max(least, 0), ENDLESS if most is None else min(most, ENDLESS))]))


ANY_TEXT: Final = _with_lengths(ANY)
"""All texts."""


def pattern_language(pattern: str) -> Language:
    """The texts in which a regular expression of ECMA 262 finds something. The last patterns are kept.

    Raises
    ------
    UnsupportedPattern
        If the pattern is malformed, or has backreferences, lookbehind or what only other dialects have.
    TooLarge
        If its automaton needs more states or more work than the bounds allow.
    """
    result = _compiled(pattern)
    if isinstance(result, Language):
        return result
    raise result.with_traceback(None)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Language | UnsupportedPattern | TooLarge:
    try:
        return _searched(read_pattern(pattern))
    except (UnsupportedPattern, TooLarge) as error:
        return error


def _searched(node: Node) -> Language:
    match node:
        case Sequence((Edge("start"), Repeat(Characters() as part, least, most), Edge("end"))) if (
            max(least, most or 0) > COUNTED
        ):
            whole = Sequence((Edge("start"), Repeat(part, 0, None), Edge("end")))
            return _with_lengths(automaton_of(whole), least, most)
    return _with_lengths(automaton_of(node))


@lru_cache(maxsize=64)
def format_language(name: str) -> Language | None:
    """The texts of a format of JSON Schema; ``None``: the format is not known."""
    if name not in FORMATS:
        return None
    pattern, most = FORMATS[name]
    return pattern_language(f"^(?:{pattern})$").with_length(0, most)


def any_of(texts: Iterable[str]) -> Language:
    """The language of some texts. One with a character that no text may have is left out."""
    return _with_lengths(automaton_of_texts(texts))
