"""Reads the order limits of ``--limits``."""

from typing import Final

from eval.errors import EvalError

DEFAULT_LIMITS: Final = "1,2,4,6,9,12"
"""The paper's limits (tables 4 and 5) with two between them."""

MOST_LIMIT: Final = 10_000
"""Largest limit; beyond it a vote costs more than any deployment has."""


def read_limits(text: str) -> tuple[int, ...]:
    """Read order limits separated by commas; return them in ascending order.

    Raises
    ------
    EvalError
        If a limit is missing, is no whole number from 1 to ``MOST_LIMIT``, or is repeated.
    """
    limits: list[int] = []
    for part in text.split(","):
        word = part.strip()
        if not word:
            raise EvalError(f"--limits: expected order limits such as {DEFAULT_LIMITS}, found an empty one in {text!r}")
        if not word.isascii() or not word.isdigit() or len(word) > 9 or not 1 <= int(word) <= MOST_LIMIT:
            raise EvalError(f"--limits: expected whole numbers from 1 to {MOST_LIMIT}, found {word[:40]!r}")
        if int(word) in limits:
            raise EvalError(f"--limits: {int(word)} stands twice; name each order limit once")
        limits.append(int(word))
    return tuple(sorted(limits))
