"""What a bench has measured: rounds of runs, by cell (model and batch) and method, and the figures from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from eval.bench.method import Figure, Run
from eval.bench.options import GREEDY

Round = dict[str, Run]
"""Method -> its run. The methods of a round run one after the other, in shuffled order."""


class Spread(NamedTuple):
    """A median with the 10th and 90th percentiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread | None":
        """Return the spread of some values; None if there are none."""
        if not values:
            return None
        low, middle, high = np.quantile(np.asarray(values, dtype=float), [0.1, 0.5, 0.9])
        return cls(float(middle), float(low), float(high))


@dataclass
class MeasuredMethod:
    """One method of a cell.

    Attributes
    ----------
    name : str
    formula : int, optional
        Forward passes by the formula, without drafts.
    preparation : mapping
        Seconds by what was prepared once.
    note : str
    peak_bytes : int, optional
        Peak memory above the memory in use before.
    timed : Run, optional
        A discarded run with every pass timed, if the rounds do not time them (on a GPU).
    """

    name: str
    formula: int | None
    preparation: Mapping[str, float]
    note: str = ""
    peak_bytes: int | None = None
    timed: Run | None = None


@dataclass
class Cell:
    """One model and one batch.

    Attributes
    ----------
    about : mapping
        Model, prompts, call and settings in numbers.
    methods : list of MeasuredMethod
    missing : dict
        Requested method that was not measured -> why.
    rounds : list of Round
        The finished ones.
    """

    about: Mapping[str, Any]
    methods: list[MeasuredMethod] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)

    def runs(self, name: str) -> list[Run]:
        """Return the runs of a method, one per round."""
        return [r[name] for r in self.rounds]

    def ratios(self, name: str, seconds: str) -> list[float]:
        """Return a method's ``decode`` or ``total`` seconds divided by greedy's in the same round."""
        if not self.rounds or GREEDY not in self.rounds[0]:
            return []
        return [getattr(r[name], seconds) / getattr(r[GREEDY], seconds) for r in self.rounds]

    def median(self, method: MeasuredMethod, figure: Figure) -> float | None:
        """Return the median of a figure that needs every pass timed."""
        runs = self.runs(method.name) if method.timed is None else [method.timed]
        values = [value for run in runs if (value := figure(run)) is not None]
        return median(values) if values else None

    def to_json(self) -> dict[str, Any]:
        """Return everything known about the cell, with every run."""
        return {
            **self.about,
            "missing": [{"method": name, "reason": reason} for name, reason in self.missing.items()],
            "rounds": len(self.rounds),
            "methods": [self._method_to_json(method) for method in self.methods],
        }

    def _method_to_json(self, method: MeasuredMethod) -> dict[str, Any]:
        runs = self.runs(method.name)
        found: dict[str, Any] = {
            "name": method.name,
            "formula_passes": method.formula,
            "preparation_seconds": dict(method.preparation),
            "note": method.note,
            "peak_bytes": method.peak_bytes,
        }
        if runs:
            found |= {
                "passes": runs[0].passes,
                "model_calls": runs[0].model_calls,
                "positions": runs[0].positions,
                "padding": runs[0].padding,
                "written": runs[0].written,
                "cache_bytes": max(r.cache_bytes for r in runs),
                "decode_seconds": _spread_to_json([r.decode for r in runs]),
                "total_seconds": _spread_to_json([r.total for r in runs]),
                "decode_to_greedy": _spread_to_json(self.ratios(method.name, "decode")),
                "total_to_greedy": _spread_to_json(self.ratios(method.name, "total")),
                "teacher_seconds": fmean(r.teacher for r in runs),
                "constraint_us_per_token": self.median(method, Run.constraint_us),
                "outside_us_per_pass": self.median(method, Run.outside_us),
                "longest_ms": self.median(method, Run.longest_ms),
            }
        return found | {"runs": [r.to_json() for r in runs]}


def _spread_to_json(values: Sequence[float]) -> dict[str, float] | None:
    spread = Spread.of(values)
    return spread and {"median": spread.median, "p10": spread.low, "p90": spread.high}


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
        """Return the bench as it stands in ``bench.json``."""
        return {
            "started": self.started,
            "state": self.state,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "skipped": list(self.skipped),
            "cells": [cell.to_json() for cell in self.cells],
        }
