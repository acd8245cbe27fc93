"""The steps of ``tune``, in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from eval.benchmarks.samples import Benchmark
from eval.errors import EvalError
from eval.methods.scored_text import ScoredText
from eval.metrics.accuracy import Accuracy
from eval.metrics.significance import holm
from eval.tuning.choice import Choice, choose, demand_enough, p_of_loss
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions
from eval.tuning.decodes import Decodes, Latency, draw_prompts
from eval.tuning.evidence import Evidence, accuracy
from eval.tuning.options import TuneOptions
from eval.tuning.prompts import TuningPrompt
from voting import Stopping

SHARES: Final = tuple(n / 10 for n in range(11))
"""From 0 (any candidate with the key is enough) to 1 (the key is never given)."""

RULES: Final[tuple[Stopping, ...]] = ("none", "exact", "posterior")


@dataclass(frozen=True)
class LimitRow:
    """An order limit.

    Attributes
    ----------
    limit : int
    candidate : bool
        Whether the user asked for it. Limit 1 is always measured, as the base of ratios.
    right : Accuracy
        Samples that are right; without answers, prompts with the calls of the largest limit.
    value_errors : int
        0 without answers.
    again : int
        Prompts that had to be decoded again.
    latency : Latency
    """

    limit: int
    candidate: bool
    right: Accuracy
    value_errors: int
    again: int
    latency: Latency


@dataclass(frozen=True)
class ShareRow:
    """A share of optional keys at the largest limit; ``p`` is the one-sided p-value of its gain over the default,
    adjusted by Holm's method, and None for the default itself."""

    share: float
    right: Accuracy
    p: float | None


@dataclass(frozen=True)
class StoppingRow:
    """A stopping rule at a limit.

    Attributes
    ----------
    stopping : {"none", "exact", "posterior"}
    right : Accuracy
    changed : int
        Prompts whose calls differ from those without the rule.
    orders_used, orders_possible : float
        Mean over the prompts.
    latency : Latency
        The ratio is to the same limit without the rule.
    """

    stopping: Stopping
    right: Accuracy
    changed: int
    orders_used: float
    orders_possible: float
    latency: Latency


@dataclass(frozen=True)
class Tuning:
    """Everything that ``tune`` finds out.

    Attributes
    ----------
    about : dict
        What was asked for, where and when.
    answers : bool
        Whether there are reference answers.
    wanted : TuneOptions
    samples : int
        Number of prompts that figures are over.
    failures : sequence of str
        Why prompts could not be decoded.
    limits : sequence of LimitRow
        Ascending, limit 1 first.
    shares : sequence of ShareRow
        Empty without answers.
    stopping : sequence of StoppingRow
        At the chosen limit, or at the largest if that is 1 or none.
    choice : Choice
    optional_share : float
        The chosen share.
    deployed : VoteOptions or None
        None if no limit fits the budget.
    """

    about: Mapping[str, Any]
    answers: bool
    wanted: TuneOptions
    samples: int
    failures: Sequence[str]
    limits: Sequence[LimitRow]
    shares: Sequence[ShareRow]
    stopping: Sequence[StoppingRow]
    choice: Choice
    optional_share: float
    deployed: VoteOptions | None

    def reduction(self, row: LimitRow) -> float | None:
        """Return the value errors that a limit removes, in per cent of limit 1's (the paper's table 4)."""
        before = self.limits[0].value_errors
        return 100 * (before - row.value_errors) / before if before else None


@dataclass(frozen=True)
class Tuner:
    """One tuning.

    Parameters
    ----------
    prompts : sequence of TuningPrompt
    wanted : TuneOptions
    base : VoteOptions
        The settings before tuning, with the largest limit.
    benchmark : Benchmark or None
        None for own data without answers.
    scored : ScoredText or None
        What is scored of a prediction; by default its text.
    decodes : Decodes
    seed : int
    """

    prompts: Sequence[TuningPrompt]
    wanted: TuneOptions
    base: VoteOptions
    benchmark: Benchmark | None
    scored: ScoredText | None
    decodes: Decodes
    seed: int

    def run(self, about: Mapping[str, Any]) -> Tuning:
        """Take all steps; ``about`` becomes part of the result."""
        self._demand_enough()
        shares = self._compare_shares()
        share = choose_share(shares, self.base.optional_share, self.wanted.level)
        largest = replace(self.base, optional_share=share)
        limits = self._compare_limits(largest)
        choice = self._choose(limits, largest)
        stopping = self._compare_stopping(largest, choice)
        deployed = None
        if choice.limit is not None:
            rule = "none" if choice.limit == 1 else choose_stopping(stopping)
            deployed = replace(largest, order_limit=choice.limit, stopping=rule)
        return Tuning(
            about=about,
            answers=self.benchmark is not None,
            wanted=self.wanted,
            samples=len(self.evidence.prompts),
            failures=list(self._failed.values()),
            limits=limits,
            shares=shares,
            stopping=stopping,
            choice=choice,
            optional_share=share,
            deployed=deployed,
        )

    @cached_property
    def evidence(self) -> Evidence:
        """Outcomes and verdicts. Without answers, prompts that cannot be decoded count in no figure."""
        prompts = self._able if self.benchmark is None else self.prompts
        return Evidence(prompts, self._decoded, self.decodes.again, self.benchmark, self.scored)

    @cached_property
    def _decoded(self) -> dict[str, list[DecodedPrompt]]:
        return self.decodes.candidates(self.prompts, self.base)

    @cached_property
    def _failed(self) -> dict[str, str]:
        """Prompt id -> why it cannot be decoded."""
        return {prompt.id: error for prompt in self.prompts if (error := self._decoded[prompt.id][0].error)}

    @cached_property
    def _able(self) -> list[TuningPrompt]:
        return [prompt for prompt in self.prompts if prompt.id not in self._failed]

    @cached_property
    def _timed(self) -> list[TuningPrompt]:
        return draw_prompts(self._able, self.wanted.latency_prompts, self.seed)

    def _demand_enough(self) -> None:
        answers = self.benchmark is not None
        demand_enough(len(self.prompts), self.wanted, answers)  # before anything is decoded
        if not self._able:
            first = next(iter(self._failed.values()))
            raise EvalError(f"none of the {len(self.prompts)} prompts can be decoded; the first: {first}")
        demand_enough(len(self._able), self.wanted, answers, len(self._failed))

    def _compare_shares(self) -> list[ShareRow]:
        """Compare ``SHARES`` and the default share at the largest limit; empty without answers."""
        if self.benchmark is None:
            return []
        default = self.base.optional_share
        shares = sorted({*SHARES, default})
        right = {share: self.evidence.right(replace(self.base, optional_share=share), self.base) for share in shares}
        others = [share for share in shares if share != default]
        # what the default loses against another share is what that share gains
        p = dict(zip(others, holm([p_of_loss(right[default], right[share]) for share in others]), strict=True))
        return [ShareRow(share, accuracy(right[share]), p.get(share)) for share in shares]

    def _compare_limits(self, largest: VoteOptions) -> list[LimitRow]:
        limits = self.wanted.order_limits
        every = {n: replace(largest, order_limit=n) for n in sorted({1, *limits})}
        for options in every.values():  # all decoding before any measuring
            self.evidence.outcomes(options)
        latency = self.decodes.measure(self._timed, list(every.values()), every[1])
        return [
            LimitRow(
                limit,
                limit in limits,
                accuracy(self.evidence.right(options, largest)),
                self.evidence.value_errors(options),
                self.evidence.again[options],
                latency[options],
            )
            for limit, options in every.items()
        ]

    def _choose(self, rows: Sequence[LimitRow], largest: VoteOptions) -> Choice:
        times = "median_ms" if self.wanted.max_slowdown is None else "ratio"
        limits = {row.limit: row for row in rows if row.candidate}
        right = {n: self.evidence.right(replace(largest, order_limit=n), largest) for n in limits}
        costs = {n: getattr(row.latency, times) for n, row in limits.items()}
        return choose(right, costs, self.wanted, self.benchmark is not None)

    def _compare_stopping(self, largest: VoteOptions, choice: Choice) -> list[StoppingRow]:
        """Compare the rules at the chosen limit, or at the largest if that is 1 or none."""
        limit = choice.limit if choice.limit is not None and choice.limit > 1 else largest.order_limit
        every = [replace(largest, order_limit=limit, stopping=rule) for rule in RULES]
        outcomes = {options: self.evidence.outcomes(options) for options in every}
        plain = every[0]
        latency = self.decodes.measure(self._timed, every, plain)
        count = len(self.evidence.prompts)
        return [
            StoppingRow(
                options.stopping,
                accuracy(self.evidence.right(options, largest)),
                sum(outcome.text != outcomes[plain][i].text for i, outcome in found.items()),
                sum(outcome.orders_used for outcome in found.values()) / count,
                sum(outcome.orders_possible for outcome in found.values()) / count,
                latency[options],
            )
            for options, found in outcomes.items()
        ]


def choose_share(rows: Sequence[ShareRow], default: float, level: float) -> float:
    """Return the most accurate share among those significantly better than the default; the default if none is."""
    better = [row for row in rows if row.p is not None and row.p <= level]
    return max(better, key=lambda row: (row.right.right, -abs(row.share - default))).share if better else default


def choose_stopping(rows: Sequence[StoppingRow]) -> Stopping:
    """Return ``exact`` if it is significantly faster and changes no call."""
    exact = next(row for row in rows if row.stopping == "exact")
    return "exact" if exact.latency.ratio_high < 1 and not exact.changed else "none"
