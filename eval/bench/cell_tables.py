"""The tables that ``bench`` prints, one per cell."""

from statistics import fmean
from typing import Final

from eval.bench.machine import machine_line
from eval.bench.measurements import Cell, MeasuredMethod, Record, Spread
from eval.bench.method import Run
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
    """Return one table for each cell that has a finished round."""
    return [_table(record, cell, number) for number, cell in enumerate(c for c in record.cells if c.rounds)]


def _table(record: Record, cell: Cell, number: int) -> Table:
    about = cell.about
    title = (
        f"{about['model']}, {about['dtype']}, {_count(about['batch'], 'prompt')}, {_count(len(cell.rounds), 'round')}"
    )
    teacher = max((fmean(r.teacher for r in cell.runs(m.name)) for m in cell.methods), default=0.0)
    notes = [
        f"{machine_line(dict(record.machine))}. Prompts of {_range(about['prompt_tokens'])} tokens, calls of "
        f"{_range(about['call_tokens'])}; {about['copied_values']} of {about['values']} values stand in the prompt; "
        f"{_drafts(about['draft_tokens'])}; stopping {about['stopping']}.",
        f"Made ready once: the table of {about['vocabulary']:,} tokens, in {1e3 * about['table_seconds']:,.0f} ms of "
        "the processor.",
        f"The teacher, taken out of all times, took {1e3 * teacher:.1f} ms a run at most.",
        *(_preparation(method) for method in cell.methods if method.preparation),
        *(f"Not measured: {name}: {reason}." for name, reason in cell.missing.items()),
    ]
    if number == 0:
        notes.insert(0, _LEGEND)
    return Table(title, COLUMNS, tuple(_row(cell, method) for method in cell.methods), 1, notes=tuple(notes))


def _row(cell: Cell, method: MeasuredMethod) -> tuple[str, ...]:
    runs = cell.runs(method.name)
    seconds = Spread.of([r.decode for r in runs])
    decode, total = (Spread.of(cell.ratios(method.name, part)) for part in ("decode", "total"))
    constraint, longest = cell.median(method, Run.constraint_us), cell.median(method, Run.longest_ms)
    return (
        method.name,
        NONE if seconds is None else f"{seconds.median:.3f}",
        NONE if decode is None else f"{decode.median:.2f} ({decode.low:.2f}-{decode.high:.2f})",
        NONE if total is None else f"{total.median:.2f}",
        str(runs[0].passes),
        NONE if method.formula is None else str(method.formula),
        f"{runs[0].positions:,}",
        f"{constraint:,.0f}" if constraint else NONE,
        NONE if longest is None else f"{longest:.1f}",
        _megabytes(runs[0].cache_bytes),
        NONE if method.peak_bytes is None else _megabytes(method.peak_bytes),
    )


def _megabytes(count: int) -> str:
    size = count / 1e6
    return f"{size:,.0f}" if size >= 1000 else f"{size:.1f}"


def _preparation(method: MeasuredMethod) -> str:
    seconds = ", ".join(f"{1e3 * value:,.0f} ms for the {what}" for what, value in method.preparation.items())
    return f"{method.name}: {method.note}; made ready once, in no figure above, in {seconds}."


def _drafts(tokens: int) -> str:
    return f"drafts of up to {tokens} tokens" if tokens else "no drafts"


def _range(numbers: list[int]) -> str:
    return str(numbers[0]) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
