"""Runs a bench from its options to its record: models one after the other, batches, rounds."""

import gc
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import pandas as pd
import torch

from eval.bench.machine import describe_machine
from eval.bench.methods import GenerateMethod, Measurement, Method, library, tool_decoding
from eval.bench.options import GREEDY, BenchOptions, beams_of
from eval.bench.subject import Subject, Workload, load_subject, make_workload
from eval.errors import writing
from eval.options import PEER_METHODS
from tooldecoding.cli.console import progress_bar
from tooldecoding.files.manifest import write_whole
from tooldecoding.models.loading import find_device
from tooldecoding.options import DecodeOptions

FILE: Final = "bench.json"


@dataclass
class Cell:
    """One model and one batch: what is known of both, and of each method before it runs.

    A method's model must not stay in memory. ``missing`` says why a requested method was not measured; ``rounds`` has,
    for each finished round, method -> its run.
    """

    about: Mapping[str, Any]
    methods: dict[str, dict[str, Any]]
    missing: dict[str, str]
    rounds: list[dict[str, Measurement]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return everything known about the cell, with every run."""
        return {
            **self.about,
            "missing": self.missing,
            "rounds": len(self.rounds),
            "methods": [self._figures(name) for name in self.methods] if self.rounds else [],
        }

    def _figures(self, name: str) -> dict[str, Any]:
        runs = self._runs(name)
        ratios = None
        if GREEDY in self.rounds[0]:  # of the same round
            ratios = runs[["decode", "total"]] / self._runs(GREEDY)[["decode", "total"]]
        first = self.rounds[0][name]
        return {
            "name": name,
            **self.methods[name],
            "passes": first.passes,
            "positions": first.positions,
            "written": first.written,
            "cache_bytes": int(runs.cache_bytes.max()),
            "decode_seconds": _spread(runs.decode),
            "total_seconds": _spread(runs.total),
            "decode_to_greedy": None if ratios is None else _spread(ratios.decode),
            "total_to_greedy": None if ratios is None else _spread(ratios.total),
            "constraint_us_per_token": float((1e6 * runs.constraint / runs.written.clip(lower=1)).median()),
            "outside_us_per_pass": float((1e6 * runs.outside / (runs.passes - 1).clip(lower=1)).median()),
            "runs": [asdict(r[name]) for r in self.rounds],
        }

    def _runs(self, name: str) -> pd.DataFrame:
        return pd.DataFrame([r[name] for r in self.rounds])


def _spread(values: "pd.Series[float]") -> dict[str, float]:
    low, middle, high = values.quantile([0.1, 0.5, 0.9])
    return {"median": float(middle), "p10": float(low), "p90": float(high)}


class BenchRunner:
    """Measures what the options ask for; ``path`` has the record after each round.

    EvalError if the folder of ``--out`` cannot be written.
    """

    def __init__(self, options: BenchOptions) -> None:
        self._options = options
        self._cells: list[Cell] = []
        self.path = Path(options.out) / FILE
        with writing(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def run(self) -> dict[str, Any]:
        """Measure, and return the record as it stands in the file.

        EvalError if a method does not write the wanted call, or a cell is impossible. ModelError if the model, device
        or dtype is wrong.
        """
        device = find_device(self._options.device)
        self._record: dict[str, Any] = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": self._options.to_json(),
            "machine": describe_machine(device),
        }
        gc.collect()
        gc.freeze()  # otherwise each collection between runs takes a second
        try:
            self._measure(device)
        finally:
            gc.unfreeze()
        return self._save()

    def _save(self) -> dict[str, Any]:
        record = {**self._record, "cells": [cell.to_json() for cell in self._cells]}
        with writing(self.path):
            write_whole(self.path, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
        return record

    def _measure(self, device: torch.device) -> None:
        for label in self._options.models:
            subject = load_subject(self._options, label, device)
            for batch in self._options.batches:
                workload = make_workload(self._options, batch, subject.decoder.table)
                self._measure_cell(f"{subject.label}, batch {batch}", subject, workload)
            del subject
            _free(device)

    def _measure_cell(self, name: str, subject: Subject, workload: Workload) -> None:
        """Run all rounds of a cell. The first is a trial."""
        cell, methods = self._new_cell(subject, workload)
        self._cells.append(cell)
        rounds = 1 + self._options.repeat
        with progress_bar(name, rounds * len(methods)) as advance:
            for number in range(rounds):
                runs: dict[str, Measurement] = {}
                shuffled = list(methods)
                Random(f"{self._options.seed}/{name}/{number}").shuffle(shuffled)
                for method in shuffled:
                    try:
                        runs[method.name] = _run(method)
                    except torch.OutOfMemoryError:
                        methods.remove(method)
                        cell.missing[method.name] = "out of memory"
                        cell.methods.pop(method.name)
                        cell.rounds = [{n: r for n, r in each.items() if n != method.name} for each in cell.rounds]
                        _free(subject.decoder.model.device)
                    advance(1)
                if number > 0:
                    cell.rounds.append(runs)
                    self._save()

    def _new_cell(self, subject: Subject, workload: Workload) -> tuple[Cell, list[Method]]:
        """Return a cell that describes model, workload and settings, with all methods that can be measured."""
        options, decoder, examples = self._options, subject.decoder, workload.examples
        model = decoder.model
        decode = DecodeOptions(format="api-bank", max_calls=1, seed=options.seed)
        if options.draft_tokens is not None:
            decode = replace(decode, draft_tokens=options.draft_tokens)
        about = {
            "model": subject.label,
            "parameters": model.num_parameters(),
            "dtype": str(model.dtype).removeprefix("torch."),
            "vocabulary": len(decoder.table.texts),
            "strategy": decoder.strategy,
            "batch": len(examples),
            "prompt_tokens": [len(t.prompt_ids) for t in examples],
            "call_tokens": [len(t.call_ids) for t in examples],
            "call": examples[0].text(),
            "copied_values": workload.copied_values,
            "values": len(examples[0].values),
            "draft_tokens": decode.draft_tokens,
        }
        methods: list[Method] = [
            tool_decoding(subject, workload, replace(decode, order_limit=limit)) for limit in options.order_limits
        ]
        missing: dict[str, str] = {}
        for name in options.against:
            ready = library(name, subject, workload, decode) if name in PEER_METHODS else None
            if isinstance(ready, str):
                missing[name] = ready
            else:
                beams = beams_of(name) or 1
                methods.append(ready or GenerateMethod(name, decoder, workload, beams))
        heads = {each.name: {"preparation_seconds": dict(each.preparation), "note": each.note} for each in methods}
        return Cell(about, heads, missing), methods


def _run(method: Method) -> Measurement:
    """Run a method once, without garbage collection."""
    gc.collect()
    gc.disable()
    try:
        return method.run()
    finally:
        gc.enable()


def _free(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
