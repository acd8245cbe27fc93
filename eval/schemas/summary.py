"""The figures of one engine, from its rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from eval.schemas.durations import Durations

QUANTILES: Final[Mapping[str, float]] = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
"""Of the times to make a grammar."""


@dataclass
class Verdicts:
    """How instances were judged.

    Attributes
    ----------
    right, valid_refused, invalid_accepted : int
        Instances.
    schemas : int
        Schemas of which all instances were judged right.
    """

    right: int = 0
    valid_refused: int = 0
    invalid_accepted: int = 0
    schemas: int = 0

    def add(self, row: Mapping[str, Any], column: str) -> None:
        """Count the verdicts of a row, of which those in ``column`` are wrong."""
        wrong = row[column]
        refused = sum(each["valid"] for each in wrong)
        self.right += row["valid"] + row["invalid"] - len(wrong)
        self.valid_refused += refused
        self.invalid_accepted += len(wrong) - refused
        self.schemas += not wrong

    def to_json(self) -> dict[str, int]:
        """Return the numbers."""
        return dict(vars(self))


@dataclass
class Tally:
    """The figures of one engine on some files.

    Attributes
    ----------
    schemas, noted, refused : int
        Schemas; those of which something is not enforced while decoding; those without a grammar.
    unjudged : int
        Instances of schemas without a grammar.
    unnoted_accepted : int
        Invalid instances that were accepted where nothing was noted.
    grammar, checked : Verdicts
        By the grammar alone, and with the check after decoding.
    grammar_ns : list of int
        Nanoseconds to make each grammar.
    tokens, search : Durations
    notes, reasons : Counter
        What is not enforced; why there was no grammar.
    """

    schemas: int = 0
    noted: int = 0
    refused: int = 0
    unjudged: int = 0
    unnoted_accepted: int = 0
    grammar: Verdicts = field(default_factory=Verdicts)
    checked: Verdicts = field(default_factory=Verdicts)
    grammar_ns: list[int] = field(default_factory=list)
    tokens: Durations = field(default_factory=Durations)
    search: Durations = field(default_factory=Durations)
    notes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "Tally":
        """Count rows."""
        tally = cls()
        for row in rows:
            tally._add(row)
        return tally

    def _add(self, row: Mapping[str, Any]) -> None:
        self.schemas += 1
        if "refused" in row:
            self.refused += 1
            self.unjudged += row["valid"] + row["invalid"]
            self.reasons[row["refused"]] += 1
            return
        before = self.grammar.invalid_accepted
        self.grammar.add(row, "wrong")
        self.checked.add(row, "wrong_after_check")
        if row["notes"]:
            self.noted += 1
            self.notes.update(set(row["notes"]))
        else:
            self.unnoted_accepted += self.grammar.invalid_accepted - before
        self.grammar_ns.append(row["grammar_ns"])
        self.tokens.merge(row["tokens"])
        self.search.merge(row["search"])

    def share(self, verdicts: Verdicts) -> float:
        """Return the share of all schemas of which all instances were judged right."""
        return verdicts.schemas / self.schemas if self.schemas else 0.0

    def grammar_ms(self, share: float) -> float | None:
        """Return a quantile of the milliseconds to make a grammar; None without grammars."""
        return float(np.quantile(self.grammar_ns, share)) / 1e6 if self.grammar_ns else None

    def to_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "schemas": self.schemas,
            "accepted": self.schemas - self.noted - self.refused,
            "noted": self.noted,
            "refused": self.refused,
            "grammar_alone": self.grammar.to_json() | {"share": self.share(self.grammar)},
            "with_check": self.checked.to_json() | {"share": self.share(self.checked)},
            "not_judged": self.unjudged,
            "invalid_accepted_without_note": self.unnoted_accepted,
            "grammar_ms": {name: self.grammar_ms(share) for name, share in QUANTILES.items()},
            "tokens": self.tokens.number,
            "token_us": microseconds(self.tokens),
            "search_us": microseconds(self.search),
            "notes": dict(self.notes.most_common()),
            "reasons": dict(self.reasons.most_common()),
        }


def microseconds(durations: Durations) -> dict[str, float | None]:
    """Return median, mean, 99th percentile and longest in microseconds; None if there are no durations."""
    nanoseconds = {
        "p50": durations.quantile(0.5),
        "mean": durations.mean,
        "p99": durations.quantile(0.99),
        "max": durations.longest if durations.number else None,
    }
    return {name: None if value is None else value / 1e3 for name, value in nanoseconds.items()}


def to_json(rows: Sequence[Mapping[str, Any]], engines: Iterable[str]) -> dict[str, Any]:
    """Return the figures of engines (labels), of all their rows and by split."""
    found = {}
    for label in engines:
        own = [row for row in rows if row["engine"] == label]
        splits = sorted({row["split"] for row in own})
        by_split = {split: Tally.of(row for row in own if row["split"] == split).to_json() for split in splits}
        found[label] = Tally.of(own).to_json() | {"splits": by_split}
    return {"engines": found}
