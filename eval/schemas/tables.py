"""The figures of engines from their rows, and the tables that ``bench schemas`` prints."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from eval.report.table import NONE, Table, share

Figures = dict[str, Any]

_MOST: Final = 12
"""Reasons shown of each kind."""
_WIDTH: Final = 100
_QUANTILES: Final = ("p50", "mean", "p99", "max")
_KINDS: Final = {"reasons": "refused", "notes": "not enforced"}

_SCHEMAS: Final = (
    "Accepted: all of the schema is enforced while decoding; noted: not all of it; refused: no grammar. All right: "
    "per cent of all schemas of which every instance is judged right, by the grammar alone, and with the check of the "
    "finished value. Unnoted: invalid instances accepted of schemas where nothing was noted. Not judged: instances of "
    "refused schemas."
)
_TIMES: Final = (
    "Grammar: from the schema to the answer for the first token. Token: over the tokens of valid instances; ours takes "
    "the token alone, the libraries make a mask of the vocabulary first. All in processor time."
)
_COLUMNS: Final = {
    "schemas": "schemas", "accepted": "accepted", "noted": "noted", "refused": "refused", "all\nright": "all_right",
    "with\ncheck": "all_right_checked", "valid\nrefused": "valid_refused", "invalid\naccepted": "invalid_accepted",
    "unnoted": "unnoted", "not\njudged": "not_judged",
}  # fmt: skip


def figures(rows: Sequence[Mapping[str, Any]]) -> Figures:
    """Return the figures of one engine on some files; times are None where there are none."""
    judged = [row for row in rows if "refused" not in row]
    noted = sum(bool(row["notes"]) for row in judged)
    every = [(number, bool(row["notes"]), verdict) for number, row in enumerate(judged) for verdict in row["verdicts"]]
    wrong = [one for one in every if one[2]["accepted"] != one[2]["valid"]]
    slipped = [one for one in wrong if not one[2]["valid"]]
    return {
        "schemas": len(rows),
        "accepted": len(judged) - noted,
        "noted": noted,
        "refused": len(rows) - len(judged),
        "all_right": len(judged) - len({schema for schema, *_ in wrong}),
        "all_right_checked": len(judged) - len({schema for schema, _, one in every if one["kept"] != one["valid"]}),
        "valid_refused": len(wrong) - len(slipped),
        "invalid_accepted": len(slipped),
        "unnoted": sum(not noted for _, noted, _ in slipped),
        "not_judged": sum(row["instances"] for row in rows if "refused" in row),
        "grammar_ms": _quantiles([row["grammar"] / 1e6 for row in judged]),
        "token_us": _quantiles([ns / 1e3 for row in judged for ns in row["tokens"]]),
        "notes": dict(Counter(note for row in judged for note in set(row["notes"])).most_common()),
        "reasons": dict(Counter(row["refused"] for row in rows if "refused" in row).most_common()),
    }


def _quantiles(values: Sequence[float]) -> dict[str, float | None]:
    found = pd.Series(values, dtype=float)
    every = (found.median(), found.mean(), found.quantile(0.99), found.max())
    return {name: float(value) if values else None for name, value in zip(_QUANTILES, every, strict=True)}


def tables(found: Mapping[str, Figures], about: str) -> list[Table]:
    """Return verdicts, times, and what was refused or noted.

    Parameters
    ----------
    found : mapping
        Label of an engine -> its figures.
    about : str
        Sample, tokenizer and machine; printed below the first table.
    """
    verdicts, times, reasons = [], [], []
    for label, each in found.items():
        counts = ((each[n], n) for n in _COLUMNS.values())
        cells = (share(c, each["schemas"]) if n.startswith("all_right") else f"{c:,}" for c, n in counts)
        verdicts.append((label, *cells))
        times.append((label, *(_number(each[name][q]) for name in ("grammar_ms", "token_us") for q in _QUANTILES)))
        for name, kind in _KINDS.items():
            shown = list(each[name].items())[:_MOST]
            reasons += [(label, kind, reason[:_WIDTH], f"{count:,}") for reason, count in shown]
    heads = (f"{word}\n{q}" for word in ("grammar ms", "token µs") for q in _QUANTILES)
    made = [
        Table("Schemas and instances", ("engine", *_COLUMNS), tuple(verdicts), 1, notes=(about, _SCHEMAS)),
        Table("Times", ("engine", *heads), tuple(times), 1, notes=(_TIMES,)),
        Table("What is refused, or not enforced while decoding", ("engine", "", "why", "schemas"), tuple(reasons), 3),
    ]
    return [table for table in made if table.rows]


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
