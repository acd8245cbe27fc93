"""The figures of engines from their rows, and the tables that ``bench schemas`` prints."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from eval.report.table import NONE, Table, share

Figures = dict[str, Any]

_MOST: Final = 12
"""Reasons shown of each kind."""
_WIDTH: Final = 100
_QUANTILES: Final = ("p50", "mean", "p99", "max")

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
    instances = [
        {**verdict, "schema": number, "noted": bool(row["notes"])}
        for number, row in enumerate(judged)
        for verdict in row["verdicts"]
    ]
    frame = pd.DataFrame(instances, columns=["valid", "accepted", "kept", "schema", "noted"])
    frame = frame.astype({"valid": bool, "accepted": bool, "kept": bool, "noted": bool})
    wrong, wrong_checked = frame[frame.accepted != frame.valid], frame[frame.kept != frame.valid]
    return {
        "schemas": len(rows),
        "accepted": len(judged) - noted,
        "noted": noted,
        "refused": len(rows) - len(judged),
        "all_right": len(judged) - wrong.schema.nunique(),
        "all_right_checked": len(judged) - wrong_checked.schema.nunique(),
        "valid_refused": int(wrong.valid.sum()),
        "invalid_accepted": int((~wrong.valid).sum()),
        "unnoted": int((~wrong.valid & ~wrong.noted).sum()),
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
    times = [
        (label, *(_number(each[name][q]) for name in ("grammar_ms", "token_us") for q in _QUANTILES))
        for label, each in found.items()
    ]
    heads = tuple(f"{word}\n{q}" for word in ("grammar ms", "token µs") for q in _QUANTILES)
    rows = tuple((label, *_verdicts(each)) for label, each in found.items())
    return [
        Table("Schemas and instances", ("engine", *_COLUMNS), rows, 1, notes=(about, _SCHEMAS)),
        Table("Times", ("engine", *heads), tuple(times), 1, notes=(_TIMES,)),
        *(
            Table(f"{title}: {label}", ("reason", "schemas"), tuple(_counted(each[name])), 1)
            for label, each in found.items()
            for title, name in (
                ("Why there is no grammar", "reasons"),
                ("What is not enforced while decoding", "notes"),
            )
            if each[name]
        ),
    ]


def _verdicts(of: Figures) -> list[str]:
    """Return cells: counts, but for the schemas that are all right their share of all."""
    whole = of["schemas"]
    return [share(of[n], whole) if n.startswith("all_right") else f"{of[n]:,}" for n in _COLUMNS.values()]


def _counted(counts: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    for reason, count in list(counts.items())[:_MOST]:
        yield reason if len(reason) <= _WIDTH else reason[: _WIDTH - 1] + "…", f"{count:,}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
