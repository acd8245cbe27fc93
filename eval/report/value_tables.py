"""Tables of values: where the vote changes them, and votes of several methods side by side."""

from collections.abc import Mapping, Sequence
from math import isnan
from statistics import fmean
from typing import Final

from pandas import DataFrame, MultiIndex, Series

from eval.report.table import NONE, Table, points, probability
from eval.statistics import clustered, holm, sign_flips
from eval.votes.value_slot import ALL, COUNTS, ValueSlot

KINDS: Final = ("required", "optional", "presence")


def value_table(slots: Sequence[ValueSlot]) -> Table:
    """Return where the vote changes values: one row a kind, a number of keys, a type."""
    groups = _groups(DataFrame(map(_row, slots))) if slots else {}
    tests = {name: sign_flips(list(own["gain"]), list(own["dialogue"])) for name, own in groups.items()}
    adjusted = holm(list(tests.values()))
    rows = [
        (name, *_cells(own), probability(p), _first(own))
        for (name, own), p in zip(groups.items(), adjusted, strict=True)
    ]
    columns = ("values", "calls", "number", "documented", "mean", "vote", "any", "mended", "broken")
    notes = (
        "Per cent of the values that are right by documentation order alone, by one order (mean over those decoded), "
        "by the vote over all, and by any order. Mended, broken: values that only the vote, or only documentation "
        "order, gets right.",
        "Vote - documented, and first - last (orders that begin with the key against those that end with it), in "
        "points with 95 % intervals, dialogues resampled. p: of vote - documented, exact paired permutation test with "
        "dialogues as units, adjusted for the rows (Holm).",
        "Values of calls of the right tool, in samples with one reference call. Presence: optional keys that are "
        "there, or not, as they should be.",
    )
    return Table("Values", (*columns, "vote - documented", "p", "first - last"), tuple(rows), 1, notes=notes)


def _row(slot: ValueSlot) -> dict[str, object]:
    voted, documented = slot.votes[ALL], slot.orders[0]
    return {
        **{name: getattr(slot, name) for name in ("id", "dialogue", "kind", "keys", "type")},
        **{"documented": documented, "mean": fmean(slot.orders), "vote": voted, "any": any(slot.orders)},
        "gain": int(voted) - int(documented),
        "first": _first_over_last(slot),
    }


def _first_over_last(slot: ValueSlot) -> float | None:
    """Return the share right where the key is first minus where it is last; None without orders of both kinds."""
    placed = list(zip(slot.orders, slot.places, strict=False))
    first = [right for right, place in placed if place == 0]
    last = [right for right, place in placed if place == slot.keys - 1]
    return fmean(first) - fmean(last) if first and last and slot.keys > 1 else None


def _groups(values: DataFrame) -> dict[str, DataFrame]:
    """Return the values that are counted together: required ones, these by number of keys and by type, the others."""
    required, optional, presence = (values[values["kind"] == kind] for kind in KINDS)
    groups = {"required values": required}
    groups |= {f"  {n} {'keys' if n > 1 else 'key'}": own for n, own in required.groupby("keys")}
    by_keys = required.sort_values("keys", kind="stable")
    groups |= {f"  {name}": own for name, own in by_keys.groupby("type", sort=False)}
    groups |= {"optional values": optional, "presence": presence}
    return {name: own for name, own in groups.items() if len(own)}


def _cells(own: DataFrame) -> list[str]:
    shares = [f"{100 * own[name].mean():.1f}" for name in ("documented", "mean", "vote", "any")]
    counts = [str((own["gain"] == change).sum()) for change in (1, -1)]
    gain = points(clustered(list(own["gain"]), list(own["dialogue"])))
    return [str(own["id"].nunique()), str(len(own)), *shares, *counts, gain]


def _first(own: DataFrame) -> str:
    placed = own.dropna(subset=["first"])
    return points(clustered(list(placed["first"]), list(placed["dialogue"]))) if len(placed) else NONE


def vote_table(slots_by_method: Mapping[str, Sequence[ValueSlot]]) -> Table:
    """Return votes over the first orders, or samples, of several methods, on the values that all of them have.

    The first vote of the first method is the base of the gains. Without rows if no required value is in all.
    """
    columns = ("method", "vote over", "required values", "gain", "p", "tools", "optional values", "presence", "calls")
    right = {
        (method, vote): {(s.id, s.key, s.kind, s.dialogue, s.tool): s.votes[vote] for s in slots if vote in s.votes}
        for method, slots in slots_by_method.items()
        for vote in _votes(slots)
    }
    asked = dict.fromkeys(question for given in right.values() for question in given)
    common = [question for question in asked if all(question in given for given in right.values())]
    if not any(kind == "required" for _, _, kind, _, _ in common):
        return Table("Votes", columns, (), 2)
    index = MultiIndex.from_tuples(common, names=["id", "key", "kind", "dialogue", "tool"])
    answers = DataFrame({vote: [int(given[q]) for q in common] for vote, given in right.items()}, index=index)
    counts = answers.groupby("kind").size()
    calls = answers.groupby("id").min()
    notes = (
        "Vote over N: the first N orders, or samples, of a call; fewer if there are fewer. Likeliest of N: no vote, "
        "the call of the one whose required values have the highest mean log-probability.",
        f"Per cent right, on the values that all rows have: {', '.join(f'{counts.get(k, 0)} {k}' for k in KINDS)}, of "
        f"{len(calls)} calls; left out: {len(asked) - len(common)} values. Calls: all that is asked of them is right.",
        "Gain: required values, in points against the first row, with the 95 % interval, dialogues resampled; p: exact "
        "paired permutation test with dialogues as units, each row by itself. Tools: those that gain / lose; all calls "
        "of a tool have the same orders, so that a gain of few tools may be luck of the draw.",
    )
    required = answers.xs("required", level="kind")
    means = answers.groupby("kind").mean().reindex(KINDS)
    rows = []
    for number, vote in enumerate(answers):
        gain = required[vote] - required.iloc[:, 0]
        shares = [NONE if isnan(mean) else f"{100 * mean:.1f}" for mean in (*means[vote], calls[vote].mean())]
        rows.append((*vote, shares[0], *(_gain(gain) if number else [NONE] * 3), *shares[1:]))
    return Table("Votes", columns, tuple(rows), 2, notes=notes)


def _votes(slots: Sequence[ValueSlot]) -> list[str]:
    """Return the names of the votes to compare; that over all orders only if they are more than the largest count."""
    more = any(len(slot.orders) > COUNTS[-1] for slot in slots)
    return [vote for vote in (slots[0].votes if slots else ()) if vote != ALL or more]


def _gain(gain: Series) -> list[str]:
    """Return the cells for what is gained by each required value: 1, 0 or -1."""
    dialogues, by_tool = list(gain.index.get_level_values("dialogue")), gain.groupby("tool").sum()
    tools = f"{(by_tool > 0).sum()} / {(by_tool < 0).sum()}"
    return [points(clustered(list(gain), dialogues)), probability(sign_flips(list(gain), dialogues)), tools]
