"""The share of optional keys: are they given where the reference has them, and which share is most accurate?

Presence is counted if the reference is one call and the voted call is one of the same tool: an optional key of the tool
should be given exactly if the reference has it. Keys that the benchmark leaves open do not count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eval.benchmarks.samples import Sample
from eval.metrics.accuracy import Accuracy
from eval.metrics.significance import holm
from eval.tuning.choice import p_of_loss
from eval.tuning.decision import Decision
from eval.tuning.evidence import Evidence
from eval.tuning.verdicts import Verdicts, accuracy
from eval.tuning.vote_options import VoteOptions
from lookup.dictionary import ToolSpec
from voting import VotedCall

SHARES: Final = tuple(n / 10 for n in range(11))
"""From 0 (any candidate with the key is enough) to 1 (the key is never given)."""


@dataclass(frozen=True)
class Presence:
    """Counts of optional keys.

    Attributes
    ----------
    right, surplus, missing : int
        Given as in the reference; given but not in the reference; in the reference but not given.
    slots : int
        Optional keys that count, given or not.
    calls : int
        Calls of tools with such keys.
    """

    right: int
    surplus: int
    missing: int
    slots: int
    calls: int

    @property
    def precision(self) -> float | None:
        """Share of the given keys that the reference has; None if none is given."""
        return _ratio(self.right, self.right + self.surplus)

    @property
    def recall(self) -> float | None:
        """Share of the reference's keys that are given; None if it has none."""
        return _ratio(self.right, self.right + self.missing)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None without any key."""
        return _ratio(2 * self.right, 2 * self.right + self.surplus + self.missing)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class ShareRow:
    """A share of optional keys at the largest limit.

    Attributes
    ----------
    share : float
    right : Accuracy
    p : float or None
        One-sided p-value of its gain over the default, adjusted by Holm's method; None for the default itself.
    presence : Presence
    again : int
        Prompts that had to be decoded again.
    """

    share: float
    right: Accuracy
    p: float | None
    presence: Presence
    again: int


def compare_shares(evidence: Evidence, base: VoteOptions, decision: Decision, seed: int) -> list[ShareRow]:
    """Compare ``SHARES`` and the share of ``base``, which is the default; empty without answers."""
    if evidence.verdicts is None:
        return []
    default = base.optional_share
    variants = {share: replace(base, optional_share=share) for share in sorted({*SHARES, default})}
    hits = {share: evidence.right(options, base) for share, options in variants.items()}
    others = [share for share in variants if share != default]
    # what the default loses against another share is what that share gains
    losses = [p_of_loss(hits[default], hits[s], evidence.dialogues, decision.rule, seed) for s in others]
    p = dict(zip(others, holm(losses), strict=True))
    return [
        ShareRow(
            share,
            accuracy(hits[share]),
            p.get(share),
            _presence(evidence, options, evidence.verdicts),
            evidence.decoded_again(options),
        )
        for share, options in variants.items()
    ]


def choose_share(rows: Sequence[ShareRow], default: float, level: float) -> float:
    """Return the most accurate share among those significantly better than the default; the default if none is."""
    better = [row for row in rows if row.p is not None and row.p <= level]
    if not better or not any(row.presence.slots for row in rows):
        return default
    return max(better, key=lambda row: (row.right.right, -abs(row.share - default))).share


def _presence(evidence: Evidence, options: VoteOptions, verdicts: Verdicts) -> Presence:
    outcomes = evidence.outcomes(options)
    calls = []
    for prompt in evidence.prompts:
        voted = outcomes[prompt.id].calls
        if prompt.sample is None or prompt.request is None or len(voted) != 1:
            continue
        if [c.name for c in prompt.sample.calls] == [voted[0].name]:
            tools = prompt.request.tools.decided(prompt.request.options.unknown_keys)
            open_keys = verdicts.benchmark.open_keys(prompt.sample)
            calls.append((prompt.sample, tools[voted[0].name], voted[0], open_keys))
    return count_presence(calls)


def count_presence(calls: Iterable[tuple[Sample, ToolSpec, VotedCall, frozenset[str]]]) -> Presence:
    """Count optional keys over samples, each with its tool, the voted call and the keys that do not count."""
    right = surplus = missing = slots = counted_calls = 0
    for sample, tool, voted, open_keys in calls:
        [reference] = sample.calls
        counted = {p.name for p in tool.optional} - open_keys
        given = counted & voted.arguments.keys()
        wanted = counted & reference.arguments.keys()
        right += len(given & wanted)
        surplus += len(given - wanted)
        missing += len(wanted - given)
        slots += len(counted)
        counted_calls += bool(counted)
    return Presence(right, surplus, missing, slots, counted_calls)
