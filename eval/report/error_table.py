"""Tables of error classes."""

from collections.abc import Callable, Sequence

from eval.metrics.error_class import ERROR_CLASSES
from eval.metrics.summary import Summary
from eval.report.entry import Entry
from eval.report.table import Table, share

CLASSES = tuple(c for c in ERROR_CLASSES if c != "unsatisfiable")
"""The paper's five classes."""


def error_tables(entries: Sequence[Entry], heads: Sequence[str]) -> list[Table]:
    """Return error classes as counts and as shares (the paper's figures 3 and 6)."""
    summaries = [e.summary() for e in entries]

    def rows(cells: Callable[[Summary], list[str]]) -> tuple[tuple[str, ...], ...]:
        return tuple((*e.names(heads), *cells(s)) for e, s in zip(entries, summaries, strict=True))

    counts = Table(
        "Errors",
        (*heads, "samples", "wrong", *CLASSES, "unsatisfiable", "missing", "structural"),
        rows(
            lambda s: [
                *map(str, (s.samples, s.wrong, *(s.errors[c] for c in CLASSES))),
                *map(str, (s.errors["unsatisfiable"], s.missing, s.structural)),
            ]
        ),
        len(heads),
        notes=(
            "Every wrong sample is of one class. Unsatisfiable: the official scorer accepts no prediction. Missing: "
            "there is no prediction. Structural, counted beside the classes: the call names a tool that was not given, "
            "is malformed or has a key error.",
        ),
    )
    shares = Table(
        "Shares of error classes",
        (*heads, *CLASSES),
        rows(lambda s: [f"{share(s.errors[c], s.classified)} / {share(s.errors[c], s.samples)}" for c in CLASSES]),
        len(heads),
        notes=(
            "Per cent of the wrong predictions without the unsatisfiable and the missing / per cent of all samples.",
        ),
    )
    return [counts, shares]
