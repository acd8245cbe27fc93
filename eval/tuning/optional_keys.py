"""Whether optional keys are given where the reference gives them: precision, recall and F1 of their presence.

Counted where the reference is one call and the voted call is one of the same tool. An optional key of the tool is to be
given if the reference call has it. For BFCL a key whose alternatives hold "" may be given or not, and does not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from eval.benchmarks.bfcl.data import BfclAnswer
from eval.benchmarks.samples import Sample
from lookup.dictionary import ToolSpec
from voting import VotedCall


@dataclass(frozen=True)
class Presence:
    """Counts of optional keys.

    Attributes
    ----------
    right, surplus, missing : int
        Given as in the reference; given and not in the reference; in the reference and not given.
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
        """Of the given keys; None if none is."""
        return _ratio(self.right, self.right + self.surplus)

    @property
    def recall(self) -> float | None:
        """Of the reference's keys; None if there are none."""
        return _ratio(self.right, self.right + self.missing)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; None where neither says anything."""
        return _ratio(2 * self.right, 2 * self.right + self.surplus + self.missing)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def count_presence(pairs: Iterable[tuple[Sample, ToolSpec, VotedCall]]) -> Presence:
    """Count over samples, each with its documented tool and the voted call; see this module's docstring."""
    right = surplus = missing = slots = calls = 0
    for sample, tool, voted in pairs:
        [reference] = sample.calls
        free = _either_way(sample)
        counted = {p.name for p in tool.optional} - free
        given = counted & voted.arguments.keys()
        wanted = counted & reference.arguments.keys()
        right += len(given & wanted)
        surplus += len(given - wanted)
        missing += len(wanted - given)
        slots += len(counted)
        calls += bool(counted)
    return Presence(right, surplus, missing, slots, calls)


def _either_way(sample: Sample) -> set[str]:
    """Keys that may be given or not."""
    if not isinstance(sample.answer, BfclAnswer):
        return set()
    [answer] = sample.answer.truth
    [accepted] = answer.values()
    return {key for key, alternatives in accepted.items() if isinstance(alternatives, list) and "" in alternatives}
