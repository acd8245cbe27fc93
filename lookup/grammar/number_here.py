"""A number in the making: what is written of it where a literal stands."""

from typing import Final, NamedTuple

NUMBER_CHARACTERS: Final = "-+.0123456789eE"
"""What decimal numbers are written with."""


class NumberHere(NamedTuple):
    """A number inside of which a literal ends, or that may begin there.

    Attributes
    ----------
    written : str
        What stands of it; empty if it may only begin.
    is_whole : bool
        Whether it must be an integer.
    may_end : bool
        Whether it is a number that may stand there as it is.
    """

    written: str
    is_whole: bool
    may_end: bool
