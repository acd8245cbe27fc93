"""The tables that ``bench schemas`` prints, from the rows of each engine."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from eval.report.table import NONE, Table, share

Rows = Sequence[Mapping[str, Any]]

_MOST: Final = 12
"""Reasons shown of each kind."""

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


def tables(rows: Mapping[str, Rows], about: str) -> list[Table]:
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
        Table("Schemas and instances", columns, judgements, 1, notes=(about, _SCHEMAS)),
        Table("Times", ("engine", *heads), tuple(times), 1, notes=(_TIMES,)),
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
