"""The tables that ``bench schemas`` prints."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from eval.report.table import NONE, Table, share
from eval.schemas.engine import Engine
from eval.schemas.summary import QUANTILES, Tally, Verdicts, microseconds

_MOST: Final = 12
"""Reasons shown of each engine."""
_WIDTH: Final = 100

_VERDICTS: Final = (
    "Accepted: all of the schema is enforced while decoding; noted: not all of it; refused: no grammar. All right: "
    "share of all schemas of which every instance is judged right, by the grammar alone, and with the check of the "
    "finished value. Right, valid refused, invalid accepted: instances, by the grammar alone; instances of refused "
    "schemas are not judged. Unnoted: invalid instances accepted of schemas where nothing was noted."
)
_TIMES: Final = (
    "Grammar: from the schema to the answer for the first token. Token: over the tokens of the valid instances, up to "
    "the first that is refused. Search: finding the likeliest token that is allowed, with random logits, under which "
    "nearly every likely token is refused."
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
    return [
        _verdicts(tallies, (about, _VERDICTS)),
        _times(tallies, (_TIMES, *(f"{label}: a token is {engines[label].timed}." for label in engines))),
        _splits(rows, engines),
        *_reasons("Why there is no grammar", {label: tally.reasons for label, tally in tallies.items()}),
        *_reasons("What is not enforced while decoding", {label: tally.notes for label, tally in tallies.items()}),
    ]


def _verdicts(tallies: Mapping[str, Tally], notes: tuple[str, ...]) -> Table:
    columns = (
        "engine", "schemas", "accepted", "noted", "refused", "all right\n%", "with check\n%", "right", "valid\nrefused",
        "invalid\naccepted", "not\njudged", "unnoted",
    )  # fmt: skip
    rows = tuple(
        (
            label,
            *_counts(t.schemas, t.schemas - t.noted - t.refused, t.noted, t.refused),
            share(t.grammar.schemas, t.schemas),
            share(t.checked.schemas, t.schemas),
            *_instances(t.grammar),
            *_counts(t.unjudged, t.unnoted_accepted),
        )
        for label, t in tallies.items()
    )
    return Table("Verdicts", columns, rows, 1, notes=notes)


def _times(tallies: Mapping[str, Tally], notes: tuple[str, ...]) -> Table:
    columns = (
        "engine",
        *(f"grammar\n{name}, ms" for name in QUANTILES),
        *(f"token\n{name}, µs" for name in ("p50", "mean", "p99", "max")),
        *(f"search\n{name}, µs" for name in ("p50", "mean", "p99")),
    )
    rows = tuple(
        (
            label,
            *(_number(t.grammar_ms(quantile)) for quantile in QUANTILES.values()),
            *map(_number, map(microseconds, (t.tokens.quantile(0.5), t.tokens.mean, t.tokens.quantile(0.99)))),
            _number(t.tokens.longest / 1e3 if t.tokens.number else None),
            *map(_number, map(microseconds, (t.search.quantile(0.5), t.search.mean, t.search.quantile(0.99)))),
        )
        for label, t in tallies.items()
    )
    return Table("Times", columns, rows, 1, notes=notes)


def _splits(rows: Rows, engines: Iterable[str]) -> Table:
    columns = (
        "split", "engine", "schemas", "accepted", "noted", "refused", "all right\n%", "with check\n%", "right",
        "valid\nrefused", "invalid\naccepted",
    )  # fmt: skip
    found = []
    for split in sorted({row["split"] for row in rows}):
        for label in engines:
            t = Tally.of(row for row in rows if row["split"] == split and row["engine"] == label)
            found.append(
                (
                    split,
                    label.partition(" ")[0],
                    *_counts(t.schemas, t.schemas - t.noted - t.refused, t.noted, t.refused),
                    share(t.grammar.schemas, t.schemas),
                    share(t.checked.schemas, t.schemas),
                    *_instances(t.grammar),
                )
            )
    return Table("By split", columns, tuple(found), 2)


def _reasons(title: str, counters: Mapping[str, Counter[str]]) -> list[Table]:
    rows = [
        (label.partition(" ")[0], reason if len(reason) <= _WIDTH else reason[: _WIDTH - 1] + "…", f"{count:,}")
        for label, counter in counters.items()
        for reason, count in counter.most_common(_MOST)
    ]
    return [Table(title, ("engine", "reason", "schemas"), tuple(rows), 2)] if rows else []


def _instances(verdicts: Verdicts) -> tuple[str, ...]:
    return _counts(verdicts.right, verdicts.valid_refused, verdicts.invalid_accepted)


def _counts(*numbers: int) -> tuple[str, ...]:
    return tuple(f"{number:,}" for number in numbers)


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
