"""Where the effect of the vote lives: values by kind, number of keys and type."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.metrics.accuracy import Estimate
from eval.metrics.significance import clustered, sign_flips
from eval.votes.first_orders import ALL
from eval.votes.value_slot import KINDS, Kind, ValueSlot


@dataclass(frozen=True)
class ValueGroup:
    """Values counted together.

    Attributes
    ----------
    name : str
    values, calls : int
    documented : int
        Right by documentation order alone.
    mean : float
        Right by an order of the call, mean over its orders.
    any : int
        Right by any order.
    voted : int
        Right by the vote over all orders.
    mended, broken : int
        Right only by the vote, and only by documentation order.
    gain : Estimate
        The share that the vote gets right minus that of documentation order.
    p : float
        Of the gain: paired permutation test, dialogues as units.
    first : Estimate or None
        The share that is right by orders that begin with the key, minus that of orders that end with it; None for
        optional keys, and for tools of one key.
    """

    name: str
    values: int
    calls: int
    documented: int
    mean: float
    any: int
    voted: int
    mended: int
    broken: int
    gain: Estimate
    p: float
    first: Estimate | None


def value_groups(slots: Sequence[ValueSlot]) -> list[ValueGroup]:
    """Return the groups that have values: all required ones, by number of keys and by type, then the optional ones."""
    names: dict[Kind, str] = {"required": "required values", "optional": "optional values", "presence": "presence"}
    found = []
    for kind in KINDS:
        own = [slot for slot in slots if slot.kind == kind]
        found += _group(names[kind], own)
        if kind == "required":
            found += _split(own, lambda slot: f"{slot.keys} {'keys' if slot.keys > 1 else 'key'}")
            found += _split(own, lambda slot: slot.type)
    return found


def _split(slots: Sequence[ValueSlot], name: Callable[[ValueSlot], str]) -> list[ValueGroup]:
    parts: dict[str, list[ValueSlot]] = {}
    for slot in sorted(slots, key=lambda slot: slot.keys):
        parts.setdefault(name(slot), []).append(slot)
    return [group for part, own in parts.items() for group in _group(f"  {part}", own)]


def _group(name: str, slots: Sequence[ValueSlot]) -> list[ValueGroup]:
    if not slots:
        return []
    alone, voted = [slot.orders[0] for slot in slots], [slot.votes[ALL] for slot in slots]
    differences = [int(vote) - int(one) for vote, one in zip(voted, alone, strict=True)]
    dialogues = [slot.dialogue for slot in slots]
    placed = [
        (by_place, slot.dialogue) for slot in slots if slot.keys > 1 and (by_place := _by_place(slot)) is not None
    ]
    return [
        ValueGroup(
            name,
            len(slots),
            len({slot.id for slot in slots}),
            sum(alone),
            fmean(fmean(slot.orders) for slot in slots),
            sum(any(slot.orders) for slot in slots),
            sum(voted),
            differences.count(1),
            differences.count(-1),
            clustered(differences, dialogues),
            sign_flips(differences, dialogues),
            clustered([by_place for by_place, _ in placed], [dialogue for _, dialogue in placed]) if placed else None,
        )
    ]


def _by_place(slot: ValueSlot) -> float | None:
    """Return the share right where the key is first minus where it is last; None without orders of both kinds."""
    first = [right for right, place in zip(slot.orders, slot.places, strict=False) if place == 0]
    last = [right for right, place in zip(slot.orders, slot.places, strict=False) if place == slot.keys - 1]
    return fmean(first) - fmean(last) if first and last else None
