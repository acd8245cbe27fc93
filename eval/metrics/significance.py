"""Is one run better than another on the same samples?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True)
class Paired:
    """Two runs on the samples that both have.

    Attributes
    ----------
    won : int
        Samples that only the first run gets right.
    lost : int
        Samples that only the second run gets right.
    both_right, both_wrong : int
    left_out : int
        Samples that only one of the runs has.
    p : float
        Two-sided exact McNemar test: the binomial test of ``won`` against ``lost`` with probability 1/2 (McNemar 1947).
    """

    won: int
    lost: int
    both_right: int
    both_wrong: int
    left_out: int
    p: float

    @property
    def samples(self) -> int:
        """Samples that both runs have."""
        return self.won + self.lost + self.both_right + self.both_wrong


def mcnemar(first: Mapping[str, bool], second: Mapping[str, bool]) -> Paired:
    """Compare two runs, each given as sample id -> whether it is right."""
    common = first.keys() & second.keys()
    won = sum(first[i] and not second[i] for i in common)
    lost = sum(second[i] and not first[i] for i in common)
    both = sum(first[i] and second[i] for i in common)
    return Paired(
        won=won,
        lost=lost,
        both_right=both,
        both_wrong=len(common) - won - lost - both,
        left_out=len(first.keys() ^ second.keys()),
        # the test is symmetric, but its last digits are not
        p=float(binomtest(min(won, lost), won + lost).pvalue) if won + lost else 1.0,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several simultaneous comparisons by Holm's step-down method (Holm 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
