"""The tables that ``bench schemas`` prints."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from eval.report.table import NONE, Table, share
from eval.schemas.engine import Engine
from eval.schemas.summary import QUANTILES, Tally, microseconds

_MOST: Final = 12
"""Reasons shown of each engine."""
_WIDTH: Final = 100

_SCHEMAS: Final = (
    "Accepted: all of the schema is enforced while decoding; noted: not all of it; refused: no grammar. All right: "
    "per cent of all schemas of which every instance is judged right, by the grammar alone, and with the check of the "
    "finished value."
)
_INSTANCES: Final = (
    "Judged by the grammar alone. Unnoted: invalid instances accepted of schemas where nothing was noted. Not judged: "
    "instances of refused schemas. The last two columns count with the check of the finished value."
)
_GRAMMARS: Final = "From the schema to the answer for the first token, in processor time."
_TOKENS: Final = (
    "Over the tokens of the valid instances, up to the first that is refused, in processor time. Search: to find the "
    "likeliest token that is allowed, with random logits, under which nearly every likely token is refused."
)

Rows = Sequence[Mapping[str, Any]]


def tables(rows: Rows, engines: Mapping[str, type[Engine]], about: str) -> list[Table]:
    """Return verdicts, times, verdicts by split, and what was refused or noted.

    Parameters
    ----------
    rows : sequence of mapping
        Of all engines.
    engines : mapping
        Label -> engine.
    about : str
        Sample, tokenizer and machine; printed below the first table.
    """
    tallies = {label: Tally.of(row for row in rows if row["engine"] == label) for label in engines}
    timed = tuple(f"{label}: {engine.timed}." for label, engine in engines.items())
    return [
        _table("Schemas", _SCHEMA_COLUMNS, _schemas, tallies, (about, _SCHEMAS)),
        _table("Instances", _INSTANCE_COLUMNS, _instances, tallies, (_INSTANCES,)),
        _table("Milliseconds to make a grammar", _GRAMMAR_COLUMNS, _grammars, tallies, (_GRAMMARS,)),
        _table("Microseconds a token", _TOKEN_COLUMNS, _tokens, tallies, (_TOKENS, *timed)),
        _splits(rows, engines),
        *_reasons("Why there is no grammar", {label: tally.reasons for label, tally in tallies.items()}),
        *_reasons("What is not enforced while decoding", {label: tally.notes for label, tally in tallies.items()}),
    ]


def _table(
    title: str,
    columns: tuple[str, ...],
    cells: Callable[[Tally], tuple[str, ...]],
    tallies: Mapping[str, Tally],
    notes: tuple[str, ...],
) -> Table:
    rows = tuple((label, *cells(tally)) for label, tally in tallies.items())
    return Table(title, ("engine", *columns), rows, 1, notes=notes)


_SCHEMA_COLUMNS: Final = ("schemas", "accepted", "noted", "refused", "all\nright", "with\ncheck")


def _schemas(t: Tally) -> tuple[str, ...]:
    return (
        *counts(t.schemas, t.schemas - t.noted - t.refused, t.noted, t.refused),
        share(t.grammar.schemas, t.schemas),
        share(t.checked.schemas, t.schemas),
    )


_INSTANCE_COLUMNS: Final = (
    "right", "valid\nrefused", "invalid\naccepted", "unnoted", "not\njudged", "checked:\nvalid refused",
    "checked:\ninvalid accepted",
)  # fmt: skip


def _instances(t: Tally) -> tuple[str, ...]:
    return counts(
        t.grammar.right,
        t.grammar.valid_refused,
        t.grammar.invalid_accepted,
        t.unnoted_accepted,
        t.unjudged,
        t.checked.valid_refused,
        t.checked.invalid_accepted,
    )


_GRAMMAR_COLUMNS: Final = tuple(QUANTILES)


def _grammars(t: Tally) -> tuple[str, ...]:
    return tuple(_number(t.grammar_ms(quantile)) for quantile in QUANTILES.values())


_TOKEN_COLUMNS: Final = ("p50", "mean", "p99", "max", "search p50", "search mean", "search p99")


def _tokens(t: Tally) -> tuple[str, ...]:
    tokens, search = microseconds(t.tokens), microseconds(t.search)
    return tuple(map(_number, (*tokens.values(), search["p50"], search["mean"], search["p99"])))


def _splits(rows: Rows, engines: Iterable[str]) -> Table:
    found = []
    for split in sorted({row["split"] for row in rows}):
        for label in engines:
            tally = Tally.of(row for row in rows if row["split"] == split and row["engine"] == label)
            found.append((split, _name(label), *_schemas(tally), *_instances(tally)[:3]))
    columns = ("split", "engine", *_SCHEMA_COLUMNS, *_INSTANCE_COLUMNS[:3])
    return Table("By split", columns, tuple(found), 2)


def _reasons(title: str, counters: Mapping[str, Counter[str]]) -> list[Table]:
    rows = [
        (_name(label), clipped(reason), f"{count:,}")
        for label, counter in counters.items()
        for reason, count in counter.most_common(_MOST)
    ]
    return [Table(title, ("engine", "reason", "schemas"), tuple(rows), 2)] if rows else []


def _name(label: str) -> str:
    """Return the name of an engine without its version."""
    return label.partition(" ")[0]


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def clipped(reason: str) -> str:
    """Return a reason that fits in a table."""
    return reason if len(reason) <= _WIDTH else reason[: _WIDTH - 1] + "…"


def counts(*numbers: int) -> tuple[str, ...]:
    """Return cells of numbers."""
    return tuple(f"{number:,}" for number in numbers)
