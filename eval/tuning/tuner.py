"""The steps of ``tune``, in order, and the record of what they find."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

from eval.benchmarks.samples import Benchmark
from eval.errors import EvalError
from eval.methods.scored_text import ScoredText
from eval.metrics.accuracy import Accuracy
from eval.metrics.significance import holm
from eval.tuning.choice import Choice, choose, demand_enough, p_of_loss
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions
from eval.tuning.decodes import Decodes, TuningPrompt, draw_prompts, latency
from eval.tuning.evidence import Evidence
from eval.tuning.options import TuneOptions

SHARES: Final = tuple(n / 10 for n in range(11))
"""From 0 (any candidate with the key is enough) to 1 (the key is never given)."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Tuning:
    """Everything that ``tune`` finds out.

    Attributes
    ----------
    record : dict
        As it stands in ``tune.json``. Proportions lie between 0 and 1.
    deployed : VoteOptions or None
        None if no limit fits the budget.
    """

    record: Row
    deployed: VoteOptions | None


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
        """Take all steps; ``about`` becomes part of the record."""
        answers = self.benchmark is not None
        self._demand_enough(answers)
        shares = self._compare_shares()
        share = choose_share(shares, self.base.optional_share, self.wanted.level)
        largest = replace(self.base, optional_share=share)
        limits = self._compare_limits(largest)
        choice = self._choose(limits, largest, answers)
        reasons = [*self._share_reasons(shares, share), *choice.reasons]
        stopping = deployed = None
        if choice.limit is not None:
            deployed = replace(largest, order_limit=choice.limit)
            if choice.limit > 1:
                stopping = self._compare_stopping(deployed)
                faster = stopping["latency"]["ratio_high"] < 1 and not stopping["changed"]
                deployed = replace(deployed, stopping="exact" if faster else "none")
                reasons.append(_stopping_reason(stopping["latency"], faster))
        for row in limits:
            row["p"] = choice.p.get(row["limit"])
        chosen = {"order_limit": choice.limit, "best": choice.best, "settings": deployed and asdict(deployed)}
        record = {
            **about,
            "measure": "accuracy" if answers else "agreement with the largest limit, which is not accuracy",
            "answers": answers,
            "samples": len(self.evidence.prompts),
            "failures": list(self._failed.values()),
            "decision": self.wanted.to_json(),
            "chosen": chosen | {"reasons": reasons},
            "limits": limits,
            "optional_shares": shares,
            "stopping": stopping,
        }
        return Tuning(record, deployed)

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

    def _demand_enough(self, answers: bool) -> None:
        demand_enough(len(self.prompts), self.wanted, answers)  # before anything is decoded
        if not self._able:
            first = next(iter(self._failed.values()))
            raise EvalError(f"none of the {len(self.prompts)} prompts can be decoded; the first: {first}")
        demand_enough(len(self._able), self.wanted, answers, len(self._failed))

    def _compare_shares(self) -> list[Row]:
        """Compare ``SHARES`` and the default share at the largest limit; empty without answers."""
        if self.benchmark is None:
            return []
        default = self.base.optional_share
        shares = sorted({*SHARES, default})
        right = {share: self.evidence.right(replace(self.base, optional_share=share), self.base) for share in shares}
        others = [share for share in shares if share != default]
        # what the default loses against another share is what that share gains
        p = dict(zip(others, holm([p_of_loss(right[default], right[share]) for share in others]), strict=True))
        return [{"share": share, **_accuracy(right[share]), "p": p.get(share)} for share in shares]

    def _share_reasons(self, shares: Sequence[Row], share: float) -> list[str]:
        if len({row["right"] for row in shares}) < 2:
            return []
        default, chosen = (next(r for r in shares if r["share"] == s) for s in (self.base.optional_share, share))
        at, others = f"at limit {self.base.order_limit}", f"adjusted for {len(shares) - 1} comparisons"
        if chosen is default:
            return [
                f"optional_share stays {share:g}: no other share is significantly more accurate {at} "
                f"(level {self.wanted.level:g}, {others})"
            ]
        gain = 100 * (chosen["right"] - default["right"]) / chosen["total"]
        return [
            f"optional_share {share:g} is {gain:.1f} points more accurate than {default['share']:g} {at} "
            f"(p = {chosen['p']:.3g}, {others})"
        ]

    def _compare_limits(self, largest: VoteOptions) -> list[Row]:
        # limit 1 is the base of ratios
        every = {n: replace(largest, order_limit=n) for n in sorted({1, *self.wanted.limits})}
        for options in every.values():  # all decoding before any measuring
            self.evidence.outcomes(options)
        measured = self.decodes.measure(self._timed, list(every.values()))
        before = self.evidence.value_errors(every[1])
        rows = []
        for limit, options in every.items():
            errors = self.evidence.value_errors(options)
            rows.append(
                {
                    "limit": limit,
                    "candidate": limit in self.wanted.limits,
                    **_accuracy(self.evidence.right(options, largest)),
                    "value_errors": errors,
                    "value_errors_removed_percent": 100 * (before - errors) / before if before else None,
                    "again": self.evidence.again[options],
                    "latency": latency(measured, options, every[1], self.seed),
                }
            )
        return rows

    def _choose(self, rows: Sequence[Row], largest: VoteOptions, answers: bool) -> Choice:
        times = "median_ms" if self.wanted.max_slowdown is None else "ratio"
        costs = {row["limit"]: row["latency"][times] for row in rows if row["candidate"]}
        right = {n: self.evidence.right(replace(largest, order_limit=n), largest) for n in costs}
        return choose(right, costs, self.wanted, answers)

    def _compare_stopping(self, plain: VoteOptions) -> Row:
        """Measure exact stopping, which changes no call, at the chosen limit."""
        exact = replace(plain, stopping="exact")
        measured = self.decodes.measure(self._timed, [plain, exact])
        by_id = measured.set_index("id")
        with_rule, without = (by_id[by_id.options == options.label] for options in (exact, plain))
        return {
            "limit": plain.order_limit,
            "orders_used": float(with_rule.orders.mean()),
            "orders_possible": float(without.orders.mean()),
            "changed": int((with_rule.text != without.text).sum()),
            "latency": latency(measured, exact, plain, self.seed),
        }


def _accuracy(right: Mapping[str, bool]) -> Row:
    found = Accuracy(sum(right.values()), len(right))
    estimate = found.estimate
    interval = estimate and [estimate.low, estimate.high]
    return {**asdict(found), "accuracy": estimate and estimate.value, "interval": interval}


def choose_share(rows: Sequence[Row], default: float, level: float) -> float:
    """Return the most accurate share among those significantly better than the default; the default if none is."""
    better = [row for row in rows if row["p"] is not None and row["p"] <= level]
    best = max(better, key=lambda row: (row["right"], -abs(row["share"] - default)), default=None)
    return default if best is None else best["share"]


def _stopping_reason(found: Row, faster: bool) -> str:
    ratio = f"{found['ratio']:.2f} ({found['ratio_low']:.2f}-{found['ratio_high']:.2f})"
    if faster:
        return f"stopping exact changes no call and takes {ratio} times the latency of none"
    return f"stopping stays none: exact takes {ratio} times its latency"
