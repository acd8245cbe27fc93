"""The steps of ``tune``, in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eval.errors import EvalError
from eval.tuning.choice import Choice, choose
from eval.tuning.collect import Collector
from eval.tuning.confidence_study import calibrate, study
from eval.tuning.decision import Decision
from eval.tuning.decoded_prompt import DecodedPrompt
from eval.tuning.derive import Deriver
from eval.tuning.evidence import Evidence
from eval.tuning.latency import Latency, Stopwatch, draw_prompts
from eval.tuning.optional_keys import choose_share, compare_shares
from eval.tuning.order_limits import LimitRow, limit_row
from eval.tuning.order_sensitivity import Sensitivity, count_flips, reversed_is_missing
from eval.tuning.results import Tuning
from eval.tuning.stopping_rules import RULES, StoppingRow, choose_stopping, measured_exact, stopping_row
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.verdicts import Verdicts
from eval.tuning.vote_options import VoteOptions
from eval.votes.judge_values import value_slots
from eval.votes.value_slot import ValueSlot


@dataclass(frozen=True)
class Tuner:
    """One tuning.

    Parameters
    ----------
    prompts : sequence of TuningPrompt
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
        Number of prompts whose latency is measured.
    seed : int
    """

    prompts: Sequence[TuningPrompt]
    limits: tuple[int, ...]
    base: VoteOptions
    verdicts: Verdicts | None
    decision: Decision
    collector: Collector
    stopwatch: Stopwatch
    latency_prompts: int
    seed: int

    def run(self, about: Mapping[str, Any]) -> Tuning:
        """Take all steps; ``about`` becomes part of the result."""
        self._demand_enough()
        shares = compare_shares(self.evidence, self.base, self.decision, self.seed)
        share = choose_share(shares, self.base.optional_share, self.decision.level)
        largest = replace(self.base, optional_share=share)
        limits = self._compare_limits(largest)
        choice = self._choose(limits)
        stopping = self._compare_stopping(largest, choice)
        deployed = None
        if choice.limit is not None:
            rule = choose_stopping(measured_exact(stopping, choice.limit))
            deployed = replace(largest, order_limit=choice.limit, stopping=rule)
        single = self.evidence.slots(replace(largest, order_limit=1))
        return Tuning(
            about=about,
            answers=self.verdicts is not None,
            decision=self.decision,
            samples=len(self.evidence.prompts),
            failures=list(self._failed.values()),
            limits=limits,
            shares=shares,
            stopping=stopping,
            sensitivity=self._sensitivity(),
            values=self._values(largest),
            study=study(single, self.evidence.slots(largest), self.seed),
            calibration=calibrate(self.evidence.slots(deployed)) if deployed else None,
            choice=choice,
            optional_share=share,
            deployed=deployed,
        )

    @cached_property
    def evidence(self) -> Evidence:
        """Outcomes and verdicts. Without answers, prompts that cannot be decoded count in no figure."""
        scored = None if self.verdicts is None else self.verdicts.scored
        deriver = Deriver(self.prompts, self._decoded, self.collector.again, scored)
        return Evidence(self.prompts if self.verdicts is not None else self._able, deriver, self.verdicts)

    @cached_property
    def _decoded(self) -> dict[str, list[DecodedPrompt]]:
        return self.collector.candidates(self.prompts, self.base)

    @cached_property
    def _failed(self) -> dict[str, str]:
        """Prompt id -> why it cannot be decoded."""
        return {prompt.id: error for prompt in self.prompts if (error := self._decoded[prompt.id][0].error)}

    @cached_property
    def _able(self) -> list[TuningPrompt]:
        return [prompt for prompt in self.prompts if prompt.id not in self._failed]

    @cached_property
    def _timed(self) -> list[TuningPrompt]:
        return draw_prompts(self._able, self.latency_prompts, self.seed)

    def _demand_enough(self) -> None:
        answers = self.verdicts is not None
        self.decision.demand_enough(len(self.prompts), answers)  # before anything is decoded
        if not self._able:
            first = next(iter(self._failed.values()))
            raise EvalError(f"none of the {len(self.prompts)} prompts can be decoded; the first: {first}")
        self.decision.demand_enough(len(self._able), answers, len(self._failed))

    def _compare_limits(self, largest: VoteOptions) -> list[LimitRow]:
        every = {n: replace(largest, order_limit=n) for n in sorted({1, *self.limits})}
        for options in every.values():  # all decoding before any measuring
            self.evidence.outcomes(options)
        latency = self.stopwatch.measure(self._timed, list(every.values()), every[1])
        return [limit_row(self.evidence, o, largest, n in self.limits, latency[o]) for n, o in every.items()]

    def _choose(self, rows: Sequence[LimitRow]) -> Choice:
        candidates = {row.options.order_limit: row for row in rows if row.candidate}
        largest = rows[-1].options
        return choose(
            {n: self.evidence.right(row.options, largest) for n, row in candidates.items()},
            self.evidence.dialogues,
            {n: row.latency.median_ms for n, row in candidates.items()},
            {n: row.latency.ratio for n, row in candidates.items()},
            self.decision,
            self.verdicts is not None,
            self.seed,
        )

    def _compare_stopping(self, largest: VoteOptions, choice: Choice) -> list[StoppingRow]:
        """Compare the rules at the largest limit and at the chosen one, and measure them there unless it is 1."""
        chosen = choice.limit if choice.limit is not None and choice.limit > 1 else largest.order_limit
        rows = []
        for limit in sorted({chosen, largest.order_limit}, reverse=True):
            plain = replace(largest, order_limit=limit)
            every = [plain, *(replace(plain, stopping=rule) for rule in RULES)]
            for options in every:
                self.evidence.outcomes(options)
            latency: Mapping[VoteOptions, Latency] = {}
            if limit == chosen:
                latency = self.stopwatch.measure(self._timed, every, plain)
            rows += [stopping_row(self.evidence, o, plain, largest, latency.get(o)) for o in every]
        return rows

    def _values(self, largest: VoteOptions) -> list[ValueSlot]:
        """Judge the values of the prompts with one call, which depends on no vote."""
        if self.verdicts is None:
            return []
        return [
            slot
            for prompt in self.prompts
            if prompt.sample is not None
            for slot in value_slots(
                prompt.sample,
                self._decoded[prompt.id][0].calls,
                largest.optional_share,
                self.verdicts.benchmark,
                self.verdicts.judge,
            )
        ]

    def _sensitivity(self) -> Sensitivity:
        """Count flips in the first call of each prompt, whose context depends on no vote."""
        first = {i: decoded[0].calls[0] for i, decoded in self._decoded.items() if decoded[0].calls}
        missing = [prompt for prompt in self.prompts if prompt.id in first and reversed_is_missing(first[prompt.id])]
        if missing:
            again = self.collector.again(missing, replace(self.base, order_limit=1, orders="reversed"))
            for identifier, decoded in again.items():
                call = first.pop(identifier)
                if decoded.calls:
                    first[identifier] = replace(call, candidates=call.candidates + decoded.calls[0].candidates)
        return count_flips((call.tool, call.candidates) for call in first.values())
