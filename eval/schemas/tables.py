"""The figures of engines and of calls, from their rows, and the tables that ``bench schemas`` prints."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from eval.report.table import NONE, Table, share

Rows = Sequence[Mapping[str, Any]]
Figures = dict[str, Any]

_MOST: Final = 12
"""Reasons shown of each kind."""
_WIDTH: Final = 100

_SCHEMAS: Final = (
    "Accepted: all of the schema is enforced while decoding; noted: not all of it; refused: no grammar. All right: "
    "per cent of all schemas of which every instance is judged right, by the grammar alone, and with the check of the "
    "finished value. Unnoted: invalid instances accepted of schemas where nothing was noted. Not judged: instances of "
    "refused schemas."
)
_TIMES: Final = (
    "Grammar: from the schema to the answer for the first token. Token: over the tokens of valid instances; ours takes "
    "the token alone, the libraries make a mask of the vocabulary first. Search: to find the likeliest token that is "
    "allowed, with random logits. All in processor time."
)
_CALLS: Final = (
    "Tools: schemas with properties, each the parameters of one tool. Refused: the documentation was not read, or no "
    "call was decoded. Noted: not all of the schema is enforced while decoding. Unjudged: jsonschema cannot read the "
    "schema. Said valid: calls that jsonschema refuses and the vote calls valid. Cut off: calls with a value that was "
    "closed by force."
)


def engine_figures(rows: Rows) -> Figures:
    """Return the figures of one engine on some files; times are None where there are none."""
    judged = [row for row in rows if "refused" not in row]
    wrong = {column: [each for row in judged for each in row[column]] for column in ("wrong", "wrong_after_check")}
    refused = {column: sum(each["valid"] for each in found) for column, found in wrong.items()}
    unnoted = [each for row in judged if not row["notes"] for each in row["wrong"]]
    grammar = [row["grammar"] / 1e6 for row in judged]
    times = {name: [ns / 1e3 for row in judged for ns in row[name]] for name in ("tokens", "search")}
    noted = sum(bool(row["notes"]) for row in judged)
    return {
        "schemas": len(rows),
        "accepted": len(judged) - noted,
        "noted": noted,
        "refused": len(rows) - len(judged),
        "all_right": sum(not row["wrong"] for row in judged),
        "all_right_checked": sum(not row["wrong_after_check"] for row in judged),
        "right": sum(row["valid"] + row["invalid"] for row in judged) - len(wrong["wrong"]),
        "valid_refused": refused["wrong"],
        "invalid_accepted": len(wrong["wrong"]) - refused["wrong"],
        "valid_refused_checked": refused["wrong_after_check"],
        "invalid_accepted_checked": len(wrong["wrong_after_check"]) - refused["wrong_after_check"],
        "unnoted": sum(not each["valid"] for each in unnoted),
        "not_judged": sum(row["valid"] + row["invalid"] for row in rows if "refused" in row),
        "grammar_ms": _quantiles(grammar),
        "token_us": _quantiles(times["tokens"]),
        "search_us": _quantiles(times["search"]),
        "tokens": len(times["tokens"]),
        "notes": dict(Counter(note for row in judged for note in set(row["notes"])).most_common()),
        "reasons": dict(Counter(row["refused"] for row in rows if "refused" in row).most_common()),
    }


def _quantiles(values: Sequence[float]) -> dict[str, float | None]:
    """Return median, mean, 99th percentile and maximum."""
    if not values:
        return dict.fromkeys(("p50", "mean", "p99", "max"))
    p50, p99 = np.quantile(values, [0.5, 0.99])
    return {"p50": float(p50), "mean": float(np.mean(values)), "p99": float(p99), "max": max(values)}


def call_figures(rows: Rows) -> Figures:
    """Return the figures of calls with random weights."""
    calls = [row for row in rows if "said_valid" in row]
    judged = [row for row in calls if "faults" in row]
    noted, unnoted = [r for r in judged if r["notes"]], [r for r in judged if not r["notes"]]
    reasons = [r["refused"] for r in rows if "refused" in r] + [
        f"unjudged: {r['unjudged']}" for r in calls if "unjudged" in r
    ]
    return {
        "tools": sum("no_tool" not in row for row in rows),
        "no_tool": sum("no_tool" in row for row in rows),
        "refused": sum("refused" in row for row in rows),
        "unjudged": len(calls) - len(judged),
        "noted": len(noted),
        "noted_valid": sum(not row["faults"] for row in noted),
        "unnoted": len(unnoted),
        "valid": sum(not row["faults"] for row in unnoted),
        "said_valid": sum(row["said_valid"] and bool(row["faults"]) for row in judged),
        "refused_by_vote": sum(not row["said_valid"] and not row["faults"] for row in judged),
        "truncated": sum(row["truncated"] for row in calls),
        "reasons": dict(Counter(reasons).most_common()),
        "notes": dict(Counter(n for row in noted for n in {_word(n) for n in row["notes"]}).most_common()),
        "words": dict(Counter(w for row in unnoted for w in {f["word"] for f in row["faults"]}).most_common()),
    }


def _word(note: str) -> str:
    """Return a note without the place."""
    return note.rpartition(": ")[2]


def by_split(rows: Rows, figures: Callable[[Rows], Figures]) -> Figures:
    """Return the figures of all rows, and those of each split."""
    splits = sorted({row["split"] for row in rows})
    return figures(rows) | {"splits": {split: figures([r for r in rows if r["split"] == split]) for split in splits}}


def engine_tables(found: Mapping[str, Figures], about: str) -> list[Table]:
    """Return verdicts, times, verdicts by split, and what was refused or noted.

    Parameters
    ----------
    found : mapping
        Label of an engine -> its figures by split.
    about : str
        Sample, tokenizer and machine; printed below the first table.
    """
    columns = {
        "schemas": "schemas", "accepted": "accepted", "noted": "noted", "refused": "refused",
        "all\nright": "all_right", "with\ncheck": "all_right_checked", "valid\nrefused": "valid_refused",
        "invalid\naccepted": "invalid_accepted", "unnoted": "unnoted", "not\njudged": "not_judged",
        "checked:\nvalid": "valid_refused_checked", "invalid": "invalid_accepted_checked",
    }  # fmt: skip
    rows = [(label, *_verdicts(figures, columns.values())) for label, figures in found.items()]
    few = list(columns.values())[:8]
    splits = [
        (split, label.partition(" ")[0], *_verdicts(figures["splits"][split], few))
        for split in next(iter(found.values()))["splits"]
        for label, figures in found.items()
        if split in figures["splits"]
    ]
    names = ("grammar_ms", "token_us", "search_us")
    times = [
        (label, *(_number(figures[name][each]) for name in names for each in ("p50", "mean", "p99", "max")))
        for label, figures in found.items()
    ]
    heads = tuple(f"{word}\n{each}" for word in ("grammar ms", "token µs", "search") for each in _HEADS)
    return [
        Table("Schemas and instances", ("engine", *columns), tuple(rows), 1, notes=(about, _SCHEMAS)),
        Table("Times", ("engine", *heads), tuple(times), 1, notes=(_TIMES,)),
        Table("By split", ("split", "engine", *list(columns)[:8]), tuple(splits), 2),
        *(
            table
            for label, figures in found.items()
            for table in (
                *_counted(f"Why there is no grammar: {label}", figures["reasons"]),
                *_counted(f"What is not enforced while decoding: {label}", figures["notes"]),
            )
        ),
    ]


_HEADS: Final = ("p50", "mean", "p99", "max")


def _verdicts(figures: Figures, names: Iterable[str]) -> list[str]:
    """Return cells: counts, but for the schemas that are all right their share of all."""
    whole = figures["schemas"]
    return [share(figures[name], whole) if name.startswith("all_right") else f"{figures[name]:,}" for name in names]


def call_tables(figures: Figures, about: str) -> list[Table]:
    """Return calls by split, why there is none, what was noted, and what is broken where nothing was."""
    names = (
        "no_tool", "tools", "refused", "unjudged", "noted", "noted_valid", "unnoted", "valid", "said_valid",
        "truncated",
    )  # fmt: skip
    every = {"all": figures, **figures["splits"]}
    rows = [(split, *(f"{f[name]:,}" for name in names), share(f["valid"], f["unnoted"])) for split, f in every.items()]
    columns = ("split", *(name.replace("_", "\n") for name in names), "valid of\nunnoted, %")
    return [
        Table("Calls with random weights", columns, tuple(rows), 1, notes=(about, _CALLS)),
        *_counted("Why there is no call, or no verdict", figures["reasons"]),
        *_counted("What is not enforced while decoding", figures["notes"]),
        *_counted("What calls break where nothing was noted", figures["words"]),
    ]


def _counted(title: str, counts: Mapping[str, int]) -> list[Table]:
    rows = [
        (reason if len(reason) <= _WIDTH else reason[: _WIDTH - 1] + "…", f"{count:,}")
        for reason, count in list(counts.items())[:_MOST]
    ]
    return [Table(title, ("reason", "schemas"), tuple(rows), 1)] if rows else []


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
