"""The options of ``tooldecoding tune`` beside those of the decode."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field as Bounds

from eval.commands.benchmark_command import BENCHMARK_NAMES, BenchmarkCommand
from eval.errors import EvalError
from tooldecoding.options.option import check_all, option
from tooldecoding.options.values import Count, Positive

OWN_DATA: Final = "batch"
"""What the command line calls prompts without answers."""

DEFAULT_LIMITS: Final = "1,2,4,6,9,12"
"""The paper's limits (tables 4 and 5) with two between them."""

MOST_LIMIT: Final = 10_000
"""Largest limit; beyond it a vote costs more than any deployment has."""


@dataclass(frozen=True, kw_only=True)
class TuneOptions(BenchmarkCommand):
    """What is tuned on, and how an order limit is chosen.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds.
    EvalError
        For limits that cannot be, or several budgets.
    """

    benchmark: str = option(..., "batch: your own prompts.", metavar=f"{BENCHMARK_NAMES}|batch", positional=True)
    data: str = option(..., "As for eval; for batch the rows of decode --batch.", metavar="DIR")
    out: str | None = option(
        None, "Folder; the same command goes on in it.", metavar="DIR", default_text="runs/tune-BENCHMARK"
    )
    tools: str | None = option(None, "For batch: documentation for rows without tools.", metavar="DOCS")
    limits: str = option(
        DEFAULT_LIMITS, "Order limits to choose from.", metavar="N,N,…", expected="whole numbers, separated by commas"
    )
    max_latency_ms: Positive | None = option(None, "Budget: most milliseconds of a prompt.")
    max_slowdown: Positive | None = option(None, "Budget: most times the latency of limit 1.")
    min_gain: Positive | None = option(None, "Budget: points that a larger limit must gain over a smaller one.")
    level: Annotated[float, Bounds(gt=0, lt=0.5)] = option(
        0.05, "Level of the test.", expected="a number between 0 and 0.5"
    )
    margin: Annotated[float, Bounds(gt=0, le=100)] = option(
        5.0, "Points of a loss that the samples must be able to show."
    )
    latency_prompts: Count = option(24, "Prompts whose latency is measured.")

    def __post_init__(self) -> None:
        check_all(self)
        read_limits(self.limits)
        if len(self.budgets) > 1:
            given = " and ".join(f"--{name.replace('_', '-')}" for name in self.budgets)
            raise EvalError(f"expected one budget, got {given}; leave out all but one")

    @property
    def folder(self) -> Path:
        """Where the files go."""
        return Path(f"runs/tune-{self.benchmark}" if self.out is None else self.out)

    @property
    def order_limits(self) -> tuple[int, ...]:
        """The limits, ascending."""
        return read_limits(self.limits)

    @property
    def budgets(self) -> dict[str, float]:
        """The budgets that were given, by the names of their options."""
        names = ("max_latency_ms", "max_slowdown", "min_gain")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def to_json(self) -> dict[str, Any]:
        """Return what decides on a limit."""
        return {"level": self.level, "margin": self.margin, **self.budgets}


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
