"""What a bench has measured: rounds, methods, cells, and the figures that are drawn from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from eval.bench.method import Run
from eval.bench.options import GREEDY

Round = dict[str, Run]
"""Method -> its run; all methods of one round ran one after the other, in shuffled sequence."""


class Spread(NamedTuple):
    """A median with the 10th and 90th percentiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread | None":
        """None without values."""
        if not values:
            return None
        low, middle, high = np.quantile(np.asarray(values, dtype=float), [0.1, 0.5, 0.9])
        return cls(float(middle), float(low), float(high))

    def to_json(self) -> dict[str, float]:
        """By name."""
        return {"median": self.median, "p10": self.low, "p90": self.high}


@dataclass
class Entry:
    """One method of a cell.

    Attributes
    ----------
    formula : int, optional
        Passes that the formula says, without drafts.
    preparation : mapping
        Seconds by what was done once.
    note : str
    peak_bytes : int, optional
        Peak memory above what there was before.
    outside_us, constraint_us, longest_ms : float, optional
        From the round before those that count, where these do not time every pass (on a GPU).
    """

    name: str
    formula: int | None
    preparation: Mapping[str, float]
    note: str = ""
    peak_bytes: int | None = None
    outside_us: float | None = None
    constraint_us: float | None = None
    longest_ms: float | None = None

    def profile(self, run: Run) -> None:
        """Take the time outside of the model from a run with every pass timed."""
        self.outside_us, self.constraint_us, self.longest_ms = outside_us(run), constraint_us(run), longest_ms(run)


def outside_us(run: Run) -> float | None:
    """Microseconds outside of the model, a pass behind the prompt's."""
    return None if run.outside is None else 1e6 * run.outside / max(1, run.passes - 1)


def constraint_us(run: Run) -> float | None:
    """Microseconds of constraint a token written."""
    return None if run.constraint is None else 1e6 * run.constraint / max(1, run.written)


def longest_ms(run: Run) -> float | None:
    """Milliseconds of the longest stretch between two passes."""
    return None if run.longest is None else 1e3 * run.longest


@dataclass
class Cell:
    """One model and one batch.

    Attributes
    ----------
    about : mapping
        Model, prompts, call and settings in numbers.
    entries : list of Entry
    missing : dict
        Method that was asked for and not measured -> why.
    rounds : list of Round
        Those that are finished.
    """

    about: Mapping[str, Any]
    entries: list[Entry] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)

    def runs(self, name: str) -> list[Run]:
        """The runs of a method, one for each round."""
        return [r[name] for r in self.rounds]

    def ratios(self, name: str, figure: str) -> list[float]:
        """A method's ``decode`` or ``total`` over greedy's of the same round."""
        if not self.rounds or GREEDY not in self.rounds[0]:
            return []
        return [getattr(r[name], figure) / getattr(r[GREEDY], figure) for r in self.rounds]

    def constraint(self, entry: Entry) -> float | None:
        """Median microseconds of constraint a token written."""
        return self._median(entry.name, constraint_us, entry.constraint_us)

    def outside(self, entry: Entry) -> float | None:
        """Median microseconds outside of the model a pass."""
        return self._median(entry.name, outside_us, entry.outside_us)

    def longest(self, entry: Entry) -> float | None:
        """Median over the rounds of the milliseconds of the longest stretch between two passes."""
        return self._median(entry.name, longest_ms, entry.longest_ms)

    def _median(self, name: str, figure: Callable[[Run], float | None], profiled: float | None) -> float | None:
        values = [value for run in self.runs(name) if (value := figure(run)) is not None]
        return profiled if profiled is not None else median(values) if values else None

    def to_json(self) -> dict[str, Any]:
        """All that is known, with every run."""
        return {
            **self.about,
            "missing": [{"method": name, "reason": reason} for name, reason in self.missing.items()],
            "rounds": len(self.rounds),
            "methods": [self._entry_to_json(entry) for entry in self.entries],
        }

    def _entry_to_json(self, entry: Entry) -> dict[str, Any]:
        runs = self.runs(entry.name)
        found: dict[str, Any] = {
            "name": entry.name,
            "formula_passes": entry.formula,
            "preparation_seconds": dict(entry.preparation),
            "note": entry.note,
            "peak_bytes": entry.peak_bytes,
        }
        if runs:
            found |= {
                "passes": runs[0].passes,
                "model_calls": runs[0].model_calls,
                "positions": runs[0].positions,
                "padding": runs[0].padding,
                "written": runs[0].written,
                "cache_bytes": max(r.cache_bytes for r in runs),
                "decode_seconds": _spread([r.decode for r in runs]),
                "total_seconds": _spread([r.total for r in runs]),
                "decode_to_greedy": _spread(self.ratios(entry.name, "decode")),
                "total_to_greedy": _spread(self.ratios(entry.name, "total")),
                "teacher_seconds": fmean(r.teacher for r in runs),
                "constraint_us_per_token": self.constraint(entry),
                "outside_us_per_pass": self.outside(entry),
                "longest_ms": self.longest(entry),
            }
        return found | {"runs": [r.to_json() for r in runs]}


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    spread = Spread.of(values)
    return None if spread is None else spread.to_json()


@dataclass
class Record:
    """A whole bench.

    Attributes
    ----------
    settings, machine : mapping
    started : str
        ISO 8601.
    cells : list of Cell
    skipped : list of str
        What was not measured for lack of time.
    state : {"running", "finished", "interrupted", "failed"}
    """

    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    started: str
    cells: list[Cell] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    state: str = "running"

    def to_json(self) -> dict[str, Any]:
        """The object that stands in ``bench.json``."""
        return {
            "started": self.started,
            "state": self.state,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "skipped": list(self.skipped),
            "cells": [cell.to_json() for cell in self.cells],
        }
