"""The tables that ``bench`` prints, one a cell."""

from statistics import fmean
from typing import Final

from eval.bench.bench_record import Cell, Entry, Record, Spread
from eval.bench.machine import machine_line
from eval.report.table import NONE, Table

COLUMNS: Final = (
    "method", "decode\ns", "decode\n÷ greedy", "total\n÷ greedy", "passes", "formula", "positions", "µs per\ntoken",
    "longest\nms", "cache\nMB", "peak\nMB",
)  # fmt: skip

_LEGEND: Final = (
    "Decode: all behind the prompt's forward pass. Ratios to greedy of the same round: median (10th to 90th "
    "percentile). Formula: passes without drafts. µs per token: time of the constraint a token written; for Tool "
    "Decoding all that is not forward pass or head, over the tokens of all orders. Longest: the longest time between "
    "two passes, the choices of all orders in it. Cache: bytes of the KV cache. Peak: memory above what there was "
    "before the run."
)


def tables(record: Record) -> list[Table]:
    """One table for each cell that has a finished round."""
    return [_table(record, cell, number) for number, cell in enumerate(c for c in record.cells if c.rounds)]


def _table(record: Record, cell: Cell, number: int) -> Table:
    about = cell.about
    title = (
        f"{about['model']}, {about['dtype']}, {_count(about['batch'], 'prompt')}, {_count(len(cell.rounds), 'round')}"
    )
    notes = [
        f"{machine_line(dict(record.machine))}. Prompts of {_range(about['prompt_tokens'])} tokens, calls of "
        f"{_range(about['call_tokens'])}; {about['copied_values']} of {about['values']} values stand in the prompt; "
        f"{_drafts(about['draft_tokens'])}.",
        f"Made ready once: the table of {about['vocabulary']:,} tokens, in {1e3 * about['table_seconds']:,.0f} ms of "
        "the processor.",
        f"The teacher, taken out of all times, took {1e3 * _teacher(cell):.1f} ms a run at most.",
    ]
    for entry in cell.entries:
        notes += _notes(entry)
    notes += [f"Not measured: {name}: {reason}." for name, reason in cell.missing.items()]
    if number == 0:
        notes.insert(0, _LEGEND)
    rows = tuple(_row(cell, entry) for entry in cell.entries)
    return Table(title, COLUMNS, rows, 1, notes=tuple(notes))


def _row(cell: Cell, entry: Entry) -> tuple[str, ...]:
    run = cell.runs(entry.name)[0]
    seconds = Spread.of([r.decode for r in cell.runs(entry.name)])
    decode, total = (Spread.of(cell.ratios(entry.name, figure)) for figure in ("decode", "total"))
    constraint, longest = cell.constraint(entry), cell.longest(entry)
    return (
        entry.name,
        NONE if seconds is None else f"{seconds.median:.3f}",
        NONE if decode is None else f"{decode.median:.2f} ({decode.low:.2f}-{decode.high:.2f})",
        NONE if total is None else f"{total.median:.2f}",
        str(run.passes),
        NONE if entry.formula is None else str(entry.formula),
        f"{run.positions:,}",
        f"{constraint:,.0f}" if constraint else NONE,
        NONE if longest is None else f"{longest:.1f}",
        _megabytes(run.cache_bytes),
        NONE if entry.peak_bytes is None else _megabytes(entry.peak_bytes),
    )


def _megabytes(count: int) -> str:
    size = count / 1e6
    return f"{size:,.0f}" if size >= 1000 else f"{size:.1f}"


def _notes(entry: Entry) -> list[str]:
    if not entry.preparation:
        return []
    seconds = ", ".join(f"{1e3 * value:,.0f} ms for the {what}" for what, value in entry.preparation.items())
    return [f"{entry.name}: {entry.note}; made ready once, in no figure above, in {seconds}."]


def _teacher(cell: Cell) -> float:
    return max(fmean(run.teacher for run in cell.runs(entry.name)) for entry in cell.entries)


def _drafts(tokens: int) -> str:
    return f"drafts of up to {tokens} tokens" if tokens else "no drafts"


def _range(numbers: list[int]) -> str:
    return str(numbers[0]) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
