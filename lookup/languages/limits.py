"""What a language may cost, and the errors beyond. Patterns are untrusted."""

from typing import Final

from lookup.errors import ToolDecodingError

MAX_PATTERN: Final = 20_000  # characters of a pattern
MAX_DEPTH: Final = 40  # groups inside each other
MAX_PROPERTIES: Final = 8  # different Unicode properties in a pattern; the first use of each takes some 50 ms
MAX_OPTIONAL: Final = 100  # optional parts in a row
MAX_SIZE: Final = 2_000  # alternatives and conditions that hold side by side, behind any text
MAX_SHORTEST: Final = 10_000  # characters of the shortest text
MAX_STATES: Final = 4_096  # states that are kept
MAX_READ: Final = 100_000  # steps to read the sets of a pattern; about 1 µs each
MAX_WORK: Final = 10_000  # steps to find out whether and how a text can be completed; about 10 µs each


class LanguageError(ToolDecodingError):
    """A language of texts that cannot be made."""


class TooLarge(LanguageError):
    """A language that needs more states or more work than the bounds allow."""


class UnsupportedPattern(LanguageError):
    """A pattern that is malformed, or that says what no regular language can say."""


class Work:
    """Counts the steps of one piece of work.

    ``left``: steps that remain.
    """

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def take(self, steps: int) -> None:
        """Count steps; raise ``TooLarge`` if none remain."""
        self.left -= steps
        if self.left < 0:
            raise TooLarge("the language takes too many steps to look through")
