"""How often does the value of a parameter depend on the order of the required keys?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.tuning.decoded_prompt import DecodedCall
from lookup.dictionary import ToolSpec
from voting import CandidateCall
from voting.type_check import vote_identity


@dataclass
class Flips:
    """Counts of values that differ between two orders of the same call.

    Attributes
    ----------
    parameters : int
        Required keys of calls that have at least two of them.
    reversed : int
        Parameters whose values by documented and reversed order differ.
    shuffled : float
        Parameters whose values by documented order and another one differ; mean over the other orders decoded.
    reversed_shuffled : float
        Parameters whose values by reversed order and another one differ; mean over the orders that are neither.
    comparable : int
        Parameters with an order that is neither documented nor reversed.
    any : int
        Parameters whose values are not the same in all orders decoded.
    """

    parameters: int = 0
    reversed: int = 0
    shuffled: float = 0.0
    reversed_shuffled: float = 0.0
    comparable: int = 0
    any: int = 0

    def add(self, documented: Any, backwards: Any, others: Sequence[Any]) -> None:
        """Count one parameter: its value by documented and reversed order, and by the other orders."""
        self.parameters += 1
        self.reversed += documented != backwards
        every = [backwards, *others]
        self.shuffled += sum(v != documented for v in every) / len(every)
        if others:
            self.comparable += 1
            self.reversed_shuffled += sum(v != backwards for v in others) / len(others)
        self.any += any(v != documented for v in every)


@dataclass
class Sensitivity:
    """Flips in total, by number of required keys, and by parameter (``tool.key``)."""

    total: Flips = field(default_factory=Flips)
    by_keys: dict[int, Flips] = field(default_factory=dict)
    by_parameter: dict[str, Flips] = field(default_factory=dict)
    calls: int = 0


def reversed_is_missing(call: DecodedCall) -> bool:
    """Whether a call of at least two required keys has no candidate in reversed order."""
    backwards = tuple(p.name for p in reversed(call.tool.required))
    return len(backwards) > 1 and all(c.order != backwards for c in call.candidates)


def count_flips(calls: Iterable[tuple[ToolSpec, Sequence[CandidateCall]]]) -> Sensitivity:
    """Count over calls, each with candidates by documented order, reversed order and any others."""
    found = Sensitivity()
    for tool, candidates in calls:
        keys = [p.name for p in tool.required]
        if len(keys) < 2:
            continue
        found.calls += 1
        by_order = {c.order: {v.key: vote_identity(v.value) for v in c.values} for c in candidates}
        documented, backwards = by_order.pop(tuple(keys)), by_order.pop(tuple(reversed(keys)))
        for key in keys:
            _add(found, tool.name, key, len(keys), documented, backwards, list(by_order.values()))
    return found


def _add(
    found: Sensitivity,
    tool: str,
    key: str,
    keys: int,
    documented: Mapping[str, Any],
    backwards: Mapping[str, Any],
    others: Sequence[Mapping[str, Any]],
) -> None:
    counts = (
        found.total,
        found.by_keys.setdefault(keys, Flips()),
        found.by_parameter.setdefault(f"{tool}.{key}", Flips()),
    )
    for flips in counts:
        flips.add(documented[key], backwards[key], [other[key] for other in others])
