"""The options of ``tooldecoding tune`` beside those of the decode."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field as Bounds

from eval.commands.eval import BenchmarkCommand
from eval.errors import EvalError
from tooldecoding.options.option import Count, Positive, check_all, option

MOST_LIMIT: Final = 10_000
"""Largest limit; beyond it a vote costs more than any deployment has."""


@dataclass(frozen=True, kw_only=True)
class TuneOptions(BenchmarkCommand):
    """What is tuned on, and how an order limit is chosen.

    ConfigError if a value has the wrong type or is out of bounds. EvalError for two budgets.
    """

    out: str | None = option(
        None, "Folder; the same command goes on in it.", metavar="DIR", default_text="runs/tune-BENCHMARK"
    )
    limits: Annotated[tuple[Annotated[int, Bounds(ge=1, le=MOST_LIMIT)], ...], Bounds(min_length=1)] = option(
        (1, 2, 4, 6, 9, 12), "Order limits to choose from.", commas=True
    )
    max_latency_ms: Positive | None = option(None, "Budget: most milliseconds of a prompt.")
    max_slowdown: Positive | None = option(None, "Budget: most times the latency of limit 1.")
    level: Annotated[float, Bounds(gt=0, lt=0.5)] = option(
        0.05, "Level of the test.", expected="a number between 0 and 0.5"
    )
    margin: Annotated[float, Bounds(gt=0, le=100)] = option(
        5.0, "Points of a loss that the samples must be able to show."
    )
    risk: Annotated[float, Bounds(gt=0, lt=0.5)] | None = option(
        None,
        "Share of wrong calls, of those that pass, for which min_confidence is chosen.",
        metavar="R",
        expected="a number between 0 and 0.5",
    )
    latency_prompts: Count = option(24, "Prompts whose latency is measured.")

    def __post_init__(self) -> None:
        check_all(self)
        if self.max_latency_ms is not None and self.max_slowdown is not None:
            raise EvalError("expected one budget, got --max-latency-ms and --max-slowdown; leave out one")

    @property
    def folder(self) -> Path:
        """Where the files go."""
        return Path(f"runs/tune-{self.benchmark}" if self.out is None else self.out)

    @property
    def budget(self) -> float | None:
        """The most that a limit may cost, in milliseconds or times the latency of limit 1; None for no bound."""
        return self.max_latency_ms if self.max_slowdown is None else self.max_slowdown

    def to_json(self) -> dict[str, Any]:
        """Return what decides on a limit."""
        budgets = {"max_latency_ms": self.max_latency_ms, "max_slowdown": self.max_slowdown}
        given = {name: value for name, value in budgets.items() if value is not None}
        risk = {} if self.risk is None else {"risk": self.risk}
        return {"level": self.level, "margin": self.margin, **risk, **given}
