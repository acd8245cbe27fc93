"""What a language may cost, and the errors beyond. Patterns are untrusted."""

from typing import Final

from lookup.errors import ToolDecodingError

MAX_PATTERN: Final = 20_000
"""Characters of a pattern."""

MAX_DEPTH: Final = 40
"""Groups inside each other."""

MAX_PROPERTIES: Final = 8
"""Different Unicode properties in a pattern; the first use of each takes some 50 ms."""

MAX_NODES: Final = 20_000
"""Nodes of a pattern after its counted repetitions are written out."""

MAX_STATES: Final = 4_096
"""States of an automaton."""

MAX_WORK: Final = 100_000
"""Steps to build an automaton: threads advanced, nodes visited and cells of its table. About 1 µs each."""

COUNTED: Final = 30
"""Repetitions of one character from which on a counter replaces a state for each."""

MAX_PARTS: Final = 8
"""Parts with lengths of their own in a union."""


class LanguageError(ToolDecodingError):
    """A language of texts that cannot be made."""


class TooLarge(LanguageError):
    """A language that needs more states or more work than the bounds allow."""


class UnsupportedPattern(LanguageError):
    """A pattern that is malformed, or that says what no automaton can say."""


class Work:
    """Counts the steps that build an automaton.

    Attributes
    ----------
    left : int
        Steps that remain.
    """

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def take(self, steps: int) -> None:
        """Count steps; raise ``TooLarge`` if none remain."""
        self.left -= steps
        if self.left < 0:
            raise TooLarge(f"the automaton takes more than {MAX_WORK} steps to build")


def check_states(count: int) -> None:
    """Raise ``TooLarge`` if an automaton has too many states."""
    if count > MAX_STATES:
        raise TooLarge(f"the automaton has more than {MAX_STATES} states")
