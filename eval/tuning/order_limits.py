"""The order limits side by side: accuracy, value errors, values that differ from the largest limit's, latency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.metrics.accuracy import Accuracy
from eval.tuning.derive import Outcome
from eval.tuning.evidence import Evidence
from eval.tuning.latency import Latency
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.verdicts import accuracy, value_errors
from eval.tuning.vote_options import VoteOptions
from voting.type_check import vote_identity


@dataclass(frozen=True)
class LimitRow:
    """An order limit.

    Attributes
    ----------
    options : VoteOptions
    candidate : bool
        Whether the user asked for it. Limit 1 is always measured, as the base of ratios.
    right : Accuracy
        Samples that are right; without answers, prompts with the calls of the largest limit.
    by_category : dict
    value_errors : int
        0 without answers.
    flipped, parameters : int
        Parameters whose value differs from the largest limit's, of those that both have.
    again : int
        Prompts that had to be decoded again.
    latency : Latency
    """

    options: VoteOptions
    candidate: bool
    right: Accuracy
    by_category: Mapping[str, Accuracy]
    value_errors: int
    flipped: int
    parameters: int
    again: int
    latency: Latency


def limit_row(
    evidence: Evidence, options: VoteOptions, largest: VoteOptions, candidate: bool, latency: Latency
) -> LimitRow:
    """Return the row of one limit."""
    hits = evidence.right(options, largest)
    outcomes, reference = evidence.outcomes(options), evidence.outcomes(largest)
    pairs = [pair for i in outcomes for pair in _paired_values(outcomes[i], reference[i])]
    return LimitRow(
        options,
        candidate,
        accuracy(hits),
        {category: accuracy(group) for category, group in _by_category(evidence.prompts, hits).items()},
        value_errors(evidence.verdicts.scores(outcomes)) if evidence.verdicts is not None else 0,
        sum(a != b for a, b in pairs),
        len(pairs),
        evidence.decoded_again(options),
        latency,
    )


def _paired_values(one: Outcome, other: Outcome) -> list[tuple[Any, Any]]:
    """Return the values of the parameters that both have, call by call if the calls are of the same tools."""
    if [c.name for c in one.calls] != [c.name for c in other.calls]:
        return []
    return [
        (vote_identity(value), vote_identity(b.arguments[key]))
        for a, b in zip(one.calls, other.calls, strict=True)
        for key, value in a.arguments.items()
        if key in b.arguments
    ]


def _by_category(prompts: Sequence[TuningPrompt], hits: Mapping[str, bool]) -> dict[str, dict[str, bool]]:
    """Group verdicts by the category of their samples."""
    groups: dict[str, dict[str, bool]] = {}
    for prompt in prompts:
        if prompt.sample is not None:
            groups.setdefault(prompt.sample.category, {})[prompt.id] = hits[prompt.id]
    return groups
