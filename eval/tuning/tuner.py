"""The steps of ``tune``: collect, share of optional keys, limits, latency, choice, stopping, confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from eval.errors import EvalError
from eval.metrics.accuracy import Accuracy
from eval.metrics.significance import holm
from eval.tuning.choice import Choice, Decision, Right, choose, p_of_loss
from eval.tuning.collect import Collector
from eval.tuning.confidence_study import COMBINED, SINGLE, Slots, Study, calibrate, label_values, study
from eval.tuning.decoded_prompt import DecodedPrompt
from eval.tuning.derive import Deriver, Outcome
from eval.tuning.latency import Latency, Stopwatch, draw_prompts
from eval.tuning.optional_keys import Presence, count_presence
from eval.tuning.order_sensitivity import Sensitivity, count_flips, reversed_is_missing
from eval.tuning.results import LimitRow, ShareRow, StoppingRow, Tuning
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.verdicts import Verdicts, accuracy, right, value_errors
from eval.tuning.vote_options import VoteOptions
from voting import Stopping
from voting.type_check import vote_identity

SHARES: Final = tuple(n / 10 for n in range(11))
"""From any candidate that carries an optional key to never."""

RULES: Final[tuple[Stopping, ...]] = ("exact", "posterior")


@dataclass(frozen=True)
class Tuner:
    """One tuning.

    Parameters
    ----------
    items : sequence of TuningPrompt
    limits : tuple of int
        Order limits to choose from, ascending.
    base : VoteOptions
        The settings before tuning, with the largest limit.
    verdicts : Verdicts or None
        None for own data without answers.
    decision : Decision
    collector : Collector
    stopwatch : Stopwatch
    latency_prompts : int
        Prompts whose latency is measured.
    seed : int
    """

    items: Sequence[TuningPrompt]
    limits: tuple[int, ...]
    base: VoteOptions
    verdicts: Verdicts | None
    decision: Decision
    collector: Collector
    stopwatch: Stopwatch
    latency_prompts: int
    seed: int

    def run(self, about: Mapping[str, Any]) -> Tuning:
        """All steps; ``about`` goes into the result as it stands."""
        self._demand_enough()
        shares = self._shares()
        share, share_reasons = self._choose_share(shares)
        full = replace(self.base, optional_share=share)
        limits = self._limit_rows(full)
        choice = self._choose(limits)
        stopping = self._stopping_rows(full, choice)
        deployed, stopping_reasons = self._deployed(full, choice, stopping)
        single = self._slots(replace(full, order_limit=1))
        found = study(single, self._slots(full), self.seed)
        return Tuning(
            about=about,
            answers=self.verdicts is not None,
            decision=self.decision,
            samples=len(self._counted),
            failures=list(self._failed.values()),
            limits=limits,
            shares=shares,
            stopping=stopping,
            sensitivity=self._sensitivity(),
            study=found,
            calibration=calibrate(self._slots(deployed)) if deployed else None,
            choice=choice,
            deployed=deployed,
            reasons=[*share_reasons, *choice.reasons, *stopping_reasons, *_confidence_reasons(found)],
        )

    @cached_property
    def _records(self) -> dict[str, list[DecodedPrompt]]:
        return self.collector.candidates(self.items, self.base)

    @cached_property
    def _deriver(self) -> Deriver:
        return Deriver(self.items, self._records, self.collector.again)

    @cached_property
    def _failed(self) -> dict[str, str]:
        """Prompts that cannot be decoded, and why."""
        return {item.id: error for item in self.items if (error := self._records[item.id][0].error)}

    @cached_property
    def _able(self) -> list[TuningPrompt]:
        return [item for item in self.items if item.id not in self._failed]

    @cached_property
    def _counted(self) -> list[TuningPrompt]:
        """What figures are over: all samples of a benchmark, the prompts that can be decoded of own data."""
        return list(self.items) if self.verdicts is not None else self._able

    @cached_property
    def _timed(self) -> list[TuningPrompt]:
        return draw_prompts(self._able, self.latency_prompts, self.seed)

    def outcomes(self, variant: VoteOptions) -> dict[str, Outcome]:
        """TuningPrompt id -> what a variant gives, for what figures are over."""
        every = self._deriver.outcomes(variant)
        return {item.id: every[item.id] for item in self._counted}

    def _demand_enough(self) -> None:
        answers = self.verdicts is not None
        self.decision.demand_enough(len(self.items), answers)  # before anything is decoded
        if not self._able:
            first = next(iter(self._failed.values()))
            raise EvalError(f"none of the {len(self.items)} prompts can be decoded; the first: {first}")
        self.decision.demand_enough(len(self._able), answers, len(self._failed))

    def _right(self, variant: VoteOptions, reference: VoteOptions) -> dict[str, bool]:
        """TuningPrompt id -> whether it is right, or gives the calls of the reference."""
        outcomes = self.outcomes(variant)
        if self.verdicts is not None:
            return right(self.verdicts.scores(outcomes))
        texts = self.outcomes(reference)
        return {identifier: outcome.text == texts[identifier].text for identifier, outcome in outcomes.items()}

    def _shares(self) -> list[ShareRow]:
        """Shares of optional keys with their accuracy; none without answers."""
        if self.verdicts is None:
            return []
        default = self.base.optional_share
        shares = sorted({*SHARES, default})
        variants = {share: replace(self.base, optional_share=share) for share in shares}
        hits = {share: self._right(v, v) for share, v in variants.items()}
        others = [share for share in shares if share != default]
        # what the default loses against another share is what that share gains
        losses = [p_of_loss(hits[default], hits[s], self._groups, self.decision.rule, self.seed) for s in others]
        p = dict(zip(others, holm(losses), strict=True))
        return [
            ShareRow(s, accuracy(hits[s]), p.get(s), self._presence(variants[s]), self._deriver.again[variants[s]])
            for s in shares
        ]

    def _choose_share(self, shares: Sequence[ShareRow]) -> tuple[float, list[str]]:
        default = self.base.optional_share
        if not any(row.presence.slots for row in shares):
            return default, []
        better = [row for row in shares if row.p is not None and row.p <= self.decision.level]
        if not better:
            return default, [
                f"optional_share stays {default:g}: no other share is significantly more accurate at limit "
                f"{self.base.order_limit} (level {self.decision.level:g}, adjusted for {len(shares) - 1} comparisons)"
            ]
        best = max(better, key=lambda row: (row.right.right, -abs(row.share - default)))
        gain = 100 * (best.right.right - next(r for r in shares if r.share == default).right.right) / best.right.total
        return best.share, [
            f"optional_share {best.share:g} is {gain:.1f} points more accurate than {default:g} at limit "
            f"{self.base.order_limit} (p = {best.p:.3g}, adjusted for {len(shares) - 1} comparisons)"
        ]

    def _presence(self, variant: VoteOptions) -> Presence:
        outcomes = self.outcomes(variant)
        pairs = []
        for item in self._counted:
            calls = outcomes[item.id].calls
            if item.sample is None or item.request is None or len(calls) != 1:
                continue
            if [c.name for c in item.sample.calls] == [calls[0].name]:
                tools = item.request.tools.decided(item.request.options.unknown_keys)
                pairs.append((item.sample, tools[calls[0].name], calls[0]))
        return count_presence(pairs)

    @cached_property
    def _groups(self) -> dict[str, str]:
        return {item.id: item.dialogue for item in self.items}

    def _limit_rows(self, full: VoteOptions) -> list[LimitRow]:
        variants = {n: replace(full, order_limit=n) for n in sorted({1, *self.limits})}
        for variant in variants.values():  # all decoding before any measuring
            self.outcomes(variant)
        latency = self.stopwatch.measure(self._timed, list(variants.values()), variants[1])
        return [self._limit_row(v, full, n in self.limits, latency[v]) for n, v in variants.items()]

    def _limit_row(self, variant: VoteOptions, full: VoteOptions, candidate: bool, latency: Latency) -> LimitRow:
        hits = self._right(variant, full)
        outcomes, reference = self.outcomes(variant), self.outcomes(full)
        pairs = [pair for i in outcomes for pair in _paired_values(outcomes[i], reference[i])]
        errors = value_errors(self.verdicts.scores(outcomes)) if self.verdicts is not None else 0
        flipped = sum(a != b for a, b in pairs)
        again = self._deriver.again[variant]
        return LimitRow(
            variant, candidate, accuracy(hits), self._by_category(hits), errors, flipped, len(pairs), again, latency
        )

    def _by_category(self, hits: Right) -> dict[str, Accuracy]:
        groups: dict[str, dict[str, bool]] = {}
        for item in self._counted:
            if item.sample is not None:
                groups.setdefault(item.sample.category, {})[item.id] = hits[item.id]
        return {category: accuracy(of) for category, of in groups.items()}

    def _choose(self, rows: Sequence[LimitRow]) -> Choice:
        candidates = {row.variant.order_limit: row for row in rows if row.candidate}
        full = rows[-1].variant
        return choose(
            {n: self._right(row.variant, full) for n, row in candidates.items()},
            self._groups,
            {n: row.latency.median_ms for n, row in candidates.items()},
            {n: row.latency.ratio for n, row in candidates.items()},
            self.decision,
            self.verdicts is not None,
            self.seed,
        )

    def _stopping_rows(self, full: VoteOptions, choice: Choice) -> list[StoppingRow]:
        """Both rules at the largest limit and at the chosen one; measured at the chosen one unless it is 1."""
        chosen = choice.limit if choice.limit is not None and choice.limit > 1 else full.order_limit
        rows = []
        for limit in sorted({chosen, full.order_limit}, reverse=True):
            plain = replace(full, order_limit=limit)
            variants = [plain, *(replace(plain, stopping=rule) for rule in RULES)]
            for variant in variants:
                self.outcomes(variant)
            latency: Mapping[VoteOptions, Latency] = {}
            if limit == chosen:
                latency = self.stopwatch.measure(self._timed, variants, plain)
            rows += [self._stopping_row(v, plain, full, latency.get(v)) for v in variants]
        return rows

    def _stopping_row(
        self, variant: VoteOptions, plain: VoteOptions, full: VoteOptions, latency: Latency | None
    ) -> StoppingRow:
        outcomes, reference = self.outcomes(variant), self.outcomes(plain)
        calls = max(1, sum(len(o.calls) for o in outcomes.values()))
        return StoppingRow(
            variant,
            accuracy(self._right(variant, full)),
            sum(outcome.text != reference[i].text for i, outcome in outcomes.items()),
            sum(o.orders_used for o in outcomes.values()) / calls,
            sum(o.orders_possible for o in outcomes.values()) / calls,
            latency,
        )

    def _deployed(
        self, full: VoteOptions, choice: Choice, rows: Sequence[StoppingRow]
    ) -> tuple[VoteOptions | None, list[str]]:
        """The chosen limit, with exact stopping where that is faster: it changes no call."""
        if choice.limit is None:
            return None, []
        plain = replace(full, order_limit=choice.limit)
        exact = next((r for r in rows if r.variant == replace(plain, stopping="exact") and r.latency), None)
        if choice.limit == 1 or exact is None or exact.latency is None:
            return plain, []
        ratio = f"{exact.latency.ratio:.2f} ({exact.latency.ratio_low:.2f}-{exact.latency.ratio_high:.2f})"
        if exact.latency.ratio_high < 1 and not exact.changed:
            return exact.variant, [f"stopping exact changes no call and takes {ratio} times the latency of none"]
        return plain, [f"stopping stays none: exact takes {ratio} times its latency"]

    def _sensitivity(self) -> Sensitivity:
        """Flips in the first call of each prompt, whose context does not depend on a vote."""
        first = {i: records[0].calls[0] for i, records in self._records.items() if records[0].calls}
        missing = [item for item in self.items if item.id in first and reversed_is_missing(first[item.id])]
        if missing:
            again = self.collector.again(missing, replace(self.base, order_limit=1, orders="reversed"))
            for identifier, record in again.items():
                call = first.pop(identifier)
                if record.calls:
                    first[identifier] = replace(call, candidates=call.candidates + record.calls[0].candidates)
        return count_flips((call.tool, call.candidates) for call in first.values())

    def _slots(self, variant: VoteOptions) -> Slots:
        return label_values(self._counted, self.outcomes(variant), self.verdicts.judge) if self.verdicts else {}


def _paired_values(one: Outcome, other: Outcome) -> list[tuple[Any, Any]]:
    """Values of the parameters that both have, call by call where these are of the same tools."""
    if [c.name for c in one.calls] != [c.name for c in other.calls]:
        return []
    return [
        (vote_identity(value), vote_identity(b.arguments[key]))
        for a, b in zip(one.calls, other.calls, strict=True)
        for key, value in a.arguments.items()
        if key in b.arguments
    ]


def _confidence_reasons(found: Study | None) -> list[str]:
    if found is None:
        return []
    gain, single = found[COMBINED].gain, found[SINGLE].auroc
    text = (
        f"confidence: AUROC {found[COMBINED].auroc.value:.3f} from share and log-probability of the vote, "
        f"{single.value:.3f} from a single pass; difference {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
    )
    if gain.low > 0:
        return [f"{text}: voting tells right from wrong values better"]
    if gain.high < 0:
        return [f"{text}: voting tells right from wrong values worse"]
    return [f"{text}: no significant gain from voting"]
