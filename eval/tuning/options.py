"""The options of ``tooldecoding tune`` beside those of the decode."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from eval.commands.benchmark_command import BENCHMARK_NAMES, BenchmarkCommand
from eval.tuning.limit_list import DEFAULT_LIMITS, read_limits
from tooldecoding.options.option import check_all, option
from tooldecoding.options.values import Count

if TYPE_CHECKING:
    from eval.tuning.decision import Decision

OWN_DATA: Final = "batch"
"""What the command line calls prompts without answers."""


@dataclass(frozen=True, kw_only=True)
class TuneOptions(BenchmarkCommand):
    """What is tuned on, and how an order limit is chosen.

    Raises
    ------
    ConfigError
        If a value has the wrong type.
    EvalError
        For limits or a decision that cannot be.
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
    max_latency_ms: float | None = option(None, "Budget: most milliseconds of a prompt.")
    max_slowdown: float | None = option(None, "Budget: most times the latency of limit 1.")
    min_gain: float | None = option(None, "Budget: points that a larger limit must gain over a smaller one.")
    rule: Literal["mcnemar", "bootstrap"] = option("mcnemar", "Test of a limit against the best one.")
    level: float = option(0.05, "Level of the test.", expected="a number between 0 and 0.5")
    margin: float = option(
        5.0, "Points of a loss that the samples must be able to show.", expected="a number above 0, at most 100"
    )
    compare_documentation: bool = option(
        False, "Also choose how much of the documentation prompts print; decodes all samples thrice with one order."
    )
    latency_prompts: Count = option(24, "Prompts whose latency is measured.")

    def __post_init__(self) -> None:
        check_all(self)
        self.order_limits, self.decision  # noqa: B018  # they raise for what is wrong before anything is loaded

    @property
    def folder(self) -> Path:
        """Where the files go."""
        return Path(f"runs/tune-{self.benchmark}" if self.out is None else self.out)

    @property
    def order_limits(self) -> tuple[int, ...]:
        """The limits, ascending; EvalError for a wrong one."""
        return read_limits(self.limits)

    @property
    def decision(self) -> "Decision":
        """How a limit is chosen; EvalError for a number out of bounds, or several budgets."""
        from eval.tuning.decision import Decision

        return Decision(self.rule, self.level, self.margin, self.max_latency_ms, self.max_slowdown, self.min_gain)
