"""The tables of values, for ``report`` and ``tune``."""

from collections.abc import Mapping, Sequence

from eval.metrics.accuracy import Estimate
from eval.metrics.significance import holm
from eval.report.table import NONE, Table, probability, share
from eval.votes.first_orders import ALL, COUNTS, LIKELIEST
from eval.votes.value_groups import ValueGroup, value_groups
from eval.votes.value_slot import ValueSlot
from eval.votes.vote_rows import VoteRow, VoteRows, vote_rows


def value_table(slots: Sequence[ValueSlot]) -> Table:
    """Return where the vote changes values: one row a kind, a number of keys, a type."""
    groups = value_groups(slots)
    adjusted = holm([group.p for group in groups])
    rows = [_group_cells(group, p) for group, p in zip(groups, adjusted, strict=True)]
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


def _group_cells(group: ValueGroup, p: float) -> tuple[str, ...]:
    return (
        group.name,
        str(group.calls),
        str(group.values),
        share(group.documented, group.values),
        f"{100 * group.mean:.1f}",
        share(group.voted, group.values),
        share(group.any, group.values),
        str(group.mended),
        str(group.broken),
        _points(group.gain),
        probability(p),
        NONE if group.first is None else _points(group.first),
    )


def vote_table(slots_by_method: Mapping[str, Sequence[ValueSlot]]) -> Table:
    """Return votes over the first orders, or samples, of several methods side by side."""
    plain = {method: _with_plain_votes(slots) for method, slots in slots_by_method.items()}
    notes = (
        "Vote over N: the first N orders, or samples, of a call; fewer if there are fewer. Likeliest of N: no vote, "
        "the call of the one whose required values have the highest mean log-probability."
    )
    return _vote_table("Votes", plain, notes)


def _with_plain_votes(slots: Sequence[ValueSlot]) -> list[ValueSlot]:
    """Return the slots with the votes over the first orders alone; over all orders only if these are more."""
    more = any(len(slot.orders) > COUNTS[-1] for slot in slots)
    wanted = {*map(str, COUNTS), *([ALL] if more else []), *LIKELIEST.values()}
    return [slot.model_copy(update={"votes": {v: r for v, r in slot.votes.items() if v in wanted}}) for slot in slots]


def _vote_table(title: str, slots_by_method: Mapping[str, Sequence[ValueSlot]], notes: str) -> Table:
    found = vote_rows(slots_by_method)
    numbers = ", ".join(f"{count} {kind}" for kind, count in found.values.items())
    columns = ("method", "vote over", "required values", "gain", "p", "tools", "optional values", "presence", "calls")
    rows = tuple(_vote_cells(row, found, number == 0) for number, row in enumerate(found.rows))
    about = (
        f"Per cent right, on the values that all rows have: {numbers}, of {found.calls} calls; left out: "
        f"{found.left_out} values. Calls: all that is asked of them is right.",
        "Gain: required values, in points against the first row, with the 95 % interval, dialogues resampled; p: exact "
        "paired permutation test with dialogues as units, each row by itself. Tools: those that gain / lose; all calls "
        "of a tool have the same orders, so that a gain of few tools may be luck of the draw.",
    )
    return Table(title, columns, rows if found.values["required"] else (), 2, notes=(notes, *about))


def _vote_cells(row: VoteRow, found: VoteRows, is_base: bool) -> tuple[str, ...]:
    return (
        row.method,
        row.vote,
        share(row.right["required"], found.values["required"]),
        NONE if is_base else _points(row.gain),
        NONE if is_base else probability(row.p),
        NONE if is_base else f"{row.better} / {row.worse}",
        share(row.right["optional"], found.values["optional"]),
        share(row.right["presence"], found.values["presence"]),
        share(row.calls, found.calls),
    )


def _points(estimate: Estimate) -> str:
    return f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f})"
