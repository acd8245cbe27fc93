"""Many durations in little room: counted in steps of one per cent."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_STEP: Final = math.log(1.01)


@dataclass
class Durations:
    """How often each duration occurred.

    Attributes
    ----------
    counts : Counter
        Step -> number of durations of about ``1.01 ** step`` nanoseconds.
    total, longest : int
        Nanoseconds.
    """

    counts: Counter[int] = field(default_factory=Counter)
    total: int = 0
    longest: int = 0

    def add(self, durations: Iterable[int]) -> None:
        """Count durations in nanoseconds."""
        for each in durations:
            self.counts[round(math.log(max(each, 1)) / _STEP)] += 1
            self.total += each
            self.longest = max(self.longest, each)

    def merge(self, row: Mapping[str, Any]) -> None:
        """Count what ``to_json`` has returned."""
        self.counts.update({int(step): count for step, count in row["counts"].items()})
        self.total += row["total"]
        self.longest = max(self.longest, row["longest"])

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON value."""
        return {"counts": dict(sorted(self.counts.items())), "total": self.total, "longest": self.longest}

    @property
    def number(self) -> int:
        """How many there are."""
        return self.counts.total()

    @property
    def mean(self) -> float | None:
        """Their mean in nanoseconds; None if there are none."""
        return self.total / self.number if self.counts else None

    def quantile(self, share: float) -> float | None:
        """Return the shortest duration, in nanoseconds, that this share does not exceed; None if there are none."""
        left = share * self.number
        for step, count in sorted(self.counts.items()):
            left -= count
            if left <= 0:
                return min(math.exp(step * _STEP), self.longest)
        return None
