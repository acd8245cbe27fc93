"""The tables that ``bench`` prints, one per cell, and those of ``bench schemas``, from the rows of each engine."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from eval.bench.machine import machine_line
from eval.report.table import NONE, Table, share

_COLUMNS: Final = (
    "method", "decode\ns", "decode\n÷ greedy", "total\n÷ greedy", "passes", "positions", "µs per\ntoken",
    "cache\nMB",
)  # fmt: skip
_LEGEND: Final = (
    "Decode: all behind the prompt's forward pass. Ratios to greedy of the same round: median (10th to 90th "
    "percentile). µs per token: time outside of forward pass and head a token written, of all orders. Cache: bytes of "
    "the KV cache. The teacher's time is taken out of all times."
)

Rows = Sequence[Mapping[str, Any]]

_MOST: Final = 12
"""Reasons shown of each kind."""

_SCHEMA_LEGEND: Final = (
    "Accepted: all of the schema is enforced while decoding; noted: not all of it; refused: no grammar. All right: "
    "per cent of all schemas of which every instance is judged right, by the grammar alone, and with the check of the "
    "finished value. Unnoted: invalid instances accepted of schemas where nothing was noted. Not judged: instances of "
    "refused schemas."
)
_TIME_LEGEND: Final = (
    "Grammar: from the schema to the answer for the first token. Token: over the tokens of valid instances; ours takes "
    "the token alone, the libraries make a mask of the vocabulary first. All in processor time."
)


def bench_tables(record: Mapping[str, Any]) -> list[Table]:
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


def schema_tables(rows: Mapping[str, Rows], about: str) -> list[Table]:
    """Return verdicts, times, and what was refused or noted, of each engine by its label.

    ``about``, printed below the first table, names sample, tokenizer and machine.
    """
    counts = {label: verdicts(own) for label, own in rows.items()}
    times, reasons = [], []
    for label, own in rows.items():
        judged = [row for row in own if "refused" not in row]
        tokens = [ns / 1e3 for row in judged for ns in row["tokens"]]
        times.append((label, *_quantiles([row["grammar"] / 1e6 for row in judged]), *_quantiles(tokens)))
        refused = Counter(row["refused"] for row in own if "refused" in row)
        noted = Counter(note for row in judged for note in set(row["notes"]))
        for kind, found in (("refused", refused), ("not enforced", noted)):
            reasons += [(label, kind, why[:100], f"{count:,}") for why, count in found.most_common(_MOST)]
    columns = ("engine", *next(iter(counts.values())))
    judgements = tuple((label, *found.values()) for label, found in counts.items())
    heads = (f"{word}\n{q}" for word in ("grammar ms", "token µs") for q in ("p50", "mean", "p99", "max"))
    made = [
        Table("Schemas and instances", columns, judgements, 1, notes=(about, _SCHEMA_LEGEND)),
        Table("Times", ("engine", *heads), tuple(times), 1, notes=(_TIME_LEGEND,)),
        Table("What is refused, or not enforced while decoding", ("engine", "", "why", "schemas"), tuple(reasons), 3),
    ]
    return [table for table in made if table.rows]


def verdicts(rows: Rows) -> dict[str, str]:
    """Return the counts of one engine: column -> cell."""
    judged = [row for row in rows if "refused" not in row]
    noted = sum(bool(row["notes"]) for row in judged)
    every = [(number, bool(row["notes"]), verdict) for number, row in enumerate(judged) for verdict in row["verdicts"]]
    wrong = [one for one in every if one[2]["accepted"] != one[2]["valid"]]
    slipped = [one for one in wrong if not one[2]["valid"]]
    all_right = len(judged) - len({schema for schema, *_ in wrong})
    with_check = len(judged) - len({schema for schema, _, one in every if one["kept"] != one["valid"]})
    return {
        "schemas": f"{len(rows):,}",
        "accepted": f"{len(judged) - noted:,}",
        "noted": f"{noted:,}",
        "refused": f"{len(rows) - len(judged):,}",
        "all\nright": share(all_right, len(rows)),
        "with\ncheck": share(with_check, len(rows)),
        "valid\nrefused": f"{len(wrong) - len(slipped):,}",
        "invalid\naccepted": f"{len(slipped):,}",
        "unnoted": f"{sum(not noted for _, noted, _ in slipped):,}",
        "not\njudged": f"{sum(row['instances'] for row in rows if 'refused' in row):,}",
    }


def _quantiles(values: Sequence[float]) -> list[str]:
    """Return median, mean, 99th percentile and maximum."""
    found = pd.Series(values, dtype=float)
    every = (found.median(), found.mean(), found.quantile(0.99), found.max())
    return [f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if values else NONE for value in every]
