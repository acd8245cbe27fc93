"""The figures and tables of calls with random weights, from their rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eval.report.table import Table, share
from eval.schemas.tables import clipped, counts

_MOST: Final = 12
_SCHEMAS: Final = (
    "Tools: schemas with properties, each the parameters of one tool. Refused: the documentation was not read, or no "
    "call was decoded. Noted: not all of the schema is enforced while decoding. Unjudged: jsonschema cannot read the "
    "schema. Said valid: calls that jsonschema refuses and the vote calls valid. Cut off: calls with a value that was "
    "closed by force."
)
_VALID: Final = "By the package jsonschema with its formats, in per cent of the calls that it can judge."


@dataclass
class CallTally:
    """The figures of some files.

    Attributes
    ----------
    no_tool, refused, noted, unnoted, unjudged : int
        Schemas without properties; without a call; calls by whether something was noted; calls that cannot be judged.
    valid, noted_valid : int
        Valid calls where nothing was noted, and where something was.
    said_valid : int
        Calls that the judge refuses and the vote calls valid.
    refused_by_vote : int
        Calls that the judge finds valid and the vote does not.
    truncated : int
        Calls with a value that was closed by force.
    reasons, notes, words : Counter
        Why there is no call; what is not enforced; words that the calls break where nothing was noted.
    """

    no_tool: int = 0
    refused: int = 0
    noted: int = 0
    unnoted: int = 0
    unjudged: int = 0
    valid: int = 0
    noted_valid: int = 0
    said_valid: int = 0
    refused_by_vote: int = 0
    truncated: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "CallTally":
        """Count rows."""
        tally = cls()
        for row in rows:
            tally._add(row)
        return tally

    @property
    def tools(self) -> int:
        """Schemas with properties."""
        return self.refused + self.unjudged + self.noted + self.unnoted

    def _add(self, row: Mapping[str, Any]) -> None:
        if "no_tool" in row:
            self.no_tool += 1
            return
        if "refused" in row:
            self.refused += 1
            self.reasons[row["refused"]] += 1
            return
        self.truncated += row["truncated"]
        if "unjudged" in row:
            self.unjudged += 1
            self.reasons[f"unjudged: {row['unjudged']}"] += 1
            return
        valid = not row["faults"]
        self.said_valid += row["said_valid"] and not valid
        self.refused_by_vote += valid and not row["said_valid"]
        if row["notes"]:
            self.noted += 1
            self.noted_valid += valid
            self.notes.update({_word(note) for note in row["notes"]})
        else:
            self.unnoted += 1
            self.valid += valid
            self.words.update({fault["word"] for fault in row["faults"]})

    def to_json(self) -> dict[str, Any]:
        """Return all figures."""
        figures = {
            name: dict(value.most_common()) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
        }
        return {"tools": self.tools, **figures}


def calls_to_json(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of all rows and by split."""
    splits = {split: CallTally.of(found).to_json() for split, found in _by_split(rows).items()}
    return CallTally.of(rows).to_json() | {"splits": splits}


def call_tables(rows: Sequence[Mapping[str, Any]], about: str) -> list[Table]:
    """Return calls by split, why there is none, what was noted, and what is broken where nothing was."""
    tallies = {"all": CallTally.of(rows)} | {split: CallTally.of(found) for split, found in _by_split(rows).items()}
    found = tuple((split, *_cells(tally)) for split, tally in tallies.items())
    whole = tallies["all"]
    return [
        Table("Calls with random weights", ("split", *_COLUMNS), found, 1, notes=(about, _SCHEMAS, _VALID)),
        *_counted("Why there is no call, or no verdict", "reason", whole.reasons),
        *_counted("What is not enforced while decoding", "words", whole.notes),
        *_counted("What calls break where nothing was noted", "word", whole.words),
    ]


_COLUMNS: Final = (
    "no\ntool", "tools", "re-\nfused", "un-\njudged", "noted", "valid", "not\nnoted", "valid", "per\ncent",
    "said\nvalid", "cut\noff",
)  # fmt: skip


def _cells(t: CallTally) -> tuple[str, ...]:
    before = counts(t.no_tool, t.tools, t.refused, t.unjudged, t.noted, t.noted_valid, t.unnoted, t.valid)
    return (*before, share(t.valid, t.unnoted), *counts(t.said_valid, t.truncated))


def _counted(title: str, column: str, counter: Counter[str]) -> list[Table]:
    rows = tuple((clipped(reason), f"{count:,}") for reason, count in counter.most_common(_MOST))
    return [Table(title, (column, "schemas"), rows, 1)] if rows else []


def _by_split(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["split"]):
        found.setdefault(row["split"], []).append(row)
    return found


def _word(note: str) -> str:
    """Return a note without the place."""
    return note.rpartition(": ")[2]
