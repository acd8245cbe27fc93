"""The tables that ``bench`` prints, one per cell."""

from collections.abc import Mapping
from typing import Any, Final

from eval.bench.machine import machine_line
from eval.report.table import NONE, Table

_COLUMNS: Final = (
    "method", "decode\ns", "decode\n÷ greedy", "total\n÷ greedy", "passes", "positions", "µs per\ntoken",
    "cache\nMB",
)  # fmt: skip
_LEGEND: Final = (
    "Decode: all behind the prompt's forward pass. Ratios to greedy of the same round: median (10th to 90th "
    "percentile). µs per token: time outside of forward pass and head a token written, of all orders. Cache: bytes of "
    "the KV cache. The teacher's time is taken out of all times."
)


def tables(record: Mapping[str, Any]) -> list[Table]:
    """Return one table for each cell of ``bench.json`` that has a finished round."""
    return [_table(record, cell) for cell in record["cells"] if cell["rounds"]]


def _table(record: Mapping[str, Any], cell: Mapping[str, Any]) -> Table:
    drafts = f"drafts of up to {cell['draft_tokens']} tokens" if cell["draft_tokens"] else "no drafts"
    notes = [
        f"{machine_line(record['machine'])}. Prompts of {_range(cell['prompt_tokens'])} tokens, calls of "
        f"{_range(cell['call_tokens'])}; {cell['copied_values']} of {cell['values']} values stand in the prompt; "
        f"{drafts}.",
    ]
    for method in cell["methods"]:
        seconds = [f"{1e3 * value:,.0f} ms for the {what}" for what, value in method["preparation_seconds"].items()]
        if seconds:
            ready = f"made ready once, in no figure above, in {', '.join(seconds)}"
            notes.append(f"{method['name']}: {method['note']}; {ready}.")
    notes += [f"Not measured: {name}: {reason}." for name, reason in cell["missing"].items()]
    title = f"{cell['model']}, {cell['dtype']}, batch {cell['batch']}, rounds {cell['rounds']}"
    return Table(title, _COLUMNS, tuple(map(_row, cell["methods"])), 1, notes=(_LEGEND, *notes))


def _row(method: Mapping[str, Any]) -> tuple[str, ...]:
    decode, total = method["decode_to_greedy"], method["total_to_greedy"]
    constraint = method["constraint_us_per_token"]
    return (
        method["name"],
        f"{method['decode_seconds']['median']:.3f}",
        NONE if decode is None else f"{decode['median']:.2f} ({decode['p10']:.2f}-{decode['p90']:.2f})",
        NONE if total is None else f"{total['median']:.2f}",
        str(method["passes"]),
        f"{method['positions']:,}",
        f"{constraint:,.0f}" if constraint else NONE,
        f"{method['cache_bytes'] / 1e6:,.1f}",
    )


def _range(numbers: list[int]) -> str:
    return str(numbers[0]) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"
