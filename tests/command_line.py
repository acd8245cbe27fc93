"""What a run of the command line left, the files that runs read, and what every bad input must give."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CASES = Path(__file__).parent / "cases"


class Ran(NamedTuple):
    """What a run of the command line left."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ran]
"""Runs the command line in this process."""


def assert_bad(ran: Ran, *said: str) -> None:
    """One clear line on standard error and exit code 2, as for every bad input."""
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    for part in said:
        assert part in ran.err
