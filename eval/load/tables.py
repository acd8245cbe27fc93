"""The tables that ``bench serve`` prints."""

from collections.abc import Sequence
from typing import Final, Literal

from eval.load.gaps import ROUNDS, STREAMS, Gaps
from eval.load.load import Load, quantile
from eval.load.peer import PeerRun
from eval.report.table import NONE, Table, times

_REQUESTS: Final = (
    "Lost: no answer, or a stream that was cut. Refused: the server said that something is wrong. Mixed up: answered "
    "otherwise than one after the other. Ratio: answers a second to those one after the other; requests that were hung "
    "up count as none. Seconds: of whole answers, and to the first piece of streams. MiB: largest resident memory of "
    "the server, up to the middle of the requests and to the end. Left: gauges of /metrics that are not 0 at the end. "
    "Each row has a fresh server."
)
_RATES: Final = (
    "Requests that were hung up count as none. Processor time: of the server, or of transformers; other work on the "
    "machine counts little in it. More than one thread wastes some, see OMP_NUM_THREADS."
)
_AGAINST: Final = (
    "transformers: continuous batching without a constraint or a vote, the same prompts and for each as many tokens as "
    "our answer has, greedy, all in its queue from the beginning, without HTTP; loading and warming up do not count."
)
_COLUMNS: Final = (
    "clients", "an-\nswered", "hung\nup", "lost", "re-\nfused", "mixed\nup", "ratio", "whole\np50", "p95",
    "first\np50", "p95", "MiB,\nhalf", "MiB", "left",
)  # fmt: skip
_MOST: Final = 5
_MIB: Final = 1 << 20


def request_tables(loads: Sequence[Load], about: str) -> list[Table]:
    """Return what came of the requests, and why some were lost or refused. The first load is one after the other."""
    rows = tuple(_row(load, loads[0]) for load in loads)
    tables = [Table("Requests", _COLUMNS, rows, 1, notes=(about, _REQUESTS))]
    reasons = tuple(
        (_name(load), reason, f"{count:,}") for load in loads for reason, count in load.reasons.most_common(_MOST)
    )
    if reasons:
        tables.append(Table("Why requests were lost or refused", ("clients", "reason", "requests"), reasons, 2))
    return tables


def rate_table(loads: Sequence[Load], peer: PeerRun | None) -> Table:
    """Return answers a second, by the clock and by processor time, beside transformers."""
    rates = [(_name(load), load.per_second, load.per_processor_second or 0.0) for load in loads]
    notes = [_RATES]
    if peer is not None and peer.failed:
        notes.append(f"transformers' continuous batching does not run here: {peer.failed}")
    elif peer is not None:
        rates.append(("transformers", peer.requests / peer.seconds, peer.requests / peer.processor))
        notes.append(_AGAINST)
    rows = tuple((name, *_rate(clock, rates, 1), *_rate(processor, rates, 2)) for name, clock, processor in rates)
    columns = ("clients", "answers\na second", "ratio to one\nafter the other", "ratio to\nthe last row")
    processor_columns = ("a second of\nprocessor time", *columns[2:])
    return Table("Answers a second", (*columns, *processor_columns), rows, 1, notes=tuple(notes))


def gap_table(gaps: Gaps) -> Table:
    """Return the milliseconds between the pieces of streams."""
    shares = (0.5, 0.95, 1.0)
    alone = [1e3 * (quantile(gaps.alone, share) or 0.0) for share in shares]
    beside = [1e3 * (quantile(gaps.beside, share) or 0.0) for share in shares]
    rows = (
        ("before", f"{len(gaps.alone):,}", *(f"{each:.1f}" for each in alone)),
        ("while it is computed", f"{len(gaps.beside):,}", *(f"{each:.1f}" for each in beside)),
        ("ratio", "", *(times(theirs, ours) for theirs, ours in zip(beside, alone, strict=True))),
    )
    note = f"{STREAMS} streams of text, beside which a prompt of {gaps.prompt_tokens:,} tokens comes; {ROUNDS} rounds."
    title = "Milliseconds between the pieces of streams, before a long prompt and while it is computed"
    return Table(title, ("", "gaps", "p50", "p95", "longest"), rows, 1, notes=(note,))


def _row(load: Load, alone: Load) -> tuple[str, ...]:
    endings = load.endings
    counts = (endings["answered"], endings["hung up"], endings["lost"], endings["refused"], len(load.mixed_up))
    seconds = (load.whole(0.5), load.whole(0.95), load.first(0.5), load.first(0.95))
    return (
        _name(load),
        *(f"{count:,}" for count in counts),
        times(load.per_second, alone.per_second),
        *(NONE if value is None else f"{value:.2f}" for value in seconds),
        *(NONE if value is None else f"{value / _MIB:,.0f}" for value in (load.half, load.peak)),
        ", ".join(f"{name} {value:,.0f}" for name, value in load.left.items()) or "0",
    )


def _rate(value: float, rates: Sequence[tuple[str, float, float]], column: Literal[1, 2]) -> tuple[str, ...]:
    """Return a rate, and its ratio to the first and the last."""
    if not value:
        return NONE, NONE, NONE
    return f"{value:.2f}", times(value, rates[0][column]), times(value, rates[-1][column])


def _name(load: Load) -> str:
    return str(load.clients) if load.clients else "one after the other"
