"""Runs a bench from its options to its record: models one after the other, batches, rounds."""

import gc
import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import pandas as pd
import torch

from eval.bench.failures import FAILURES, failure
from eval.bench.machine import describe_machine
from eval.bench.methods import GenerateMethod, Method, Run, ToolDecodingMethod
from eval.bench.options import GREEDY, BenchOptions, beams_of
from eval.bench.peers import PEERS, constraint_of
from eval.bench.subject import Subject, load_subject
from eval.bench.workload import Workload, make_workload
from eval.errors import EvalError
from tooldecoding.files.manifest import write_whole
from tooldecoding.models.loading import find_device
from tooldecoding.options import DecodeOptions

FILE: Final = "bench.json"
ProgressBar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a bar with a label and a total; the function that it yields advances the bar."""


@dataclass
class Cell:
    """One model and one batch.

    Attributes
    ----------
    about : mapping
        Model, prompts, call and settings in numbers.
    methods : dict
        Name -> what is known of the method before it runs; its model must not stay in memory.
    missing : dict
        Requested method that was not measured -> why.
    rounds : list of dict
        For each finished round, method -> its run.
    """

    about: Mapping[str, Any]
    methods: dict[str, dict[str, Any]]
    missing: dict[str, str]
    rounds: list[dict[str, Run]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return everything known about the cell, with every run."""
        return {
            **self.about,
            "missing": [{"method": name, "reason": reason} for name, reason in self.missing.items()],
            "rounds": len(self.rounds),
            "methods": [self._figures(name) for name in self.methods],
        }

    def _figures(self, name: str) -> dict[str, Any]:
        found = {"name": name, **self.methods[name]}
        if not self.rounds:
            return found | {"runs": []}
        runs = self._runs(name)
        ratios = None
        if GREEDY in self.rounds[0]:  # of the same round
            ratios = runs[["decode", "total"]] / self._runs(GREEDY)[["decode", "total"]]
        first = self.rounds[0][name]
        return found | {
            "passes": first.passes,
            "model_calls": first.model_calls,
            "positions": first.positions,
            "padding": first.padding,
            "written": first.written,
            "cache_bytes": int(runs.cache_bytes.max()),
            "decode_seconds": _spread(runs.decode),
            "total_seconds": _spread(runs.total),
            "decode_to_greedy": None if ratios is None else _spread(ratios.decode),
            "total_to_greedy": None if ratios is None else _spread(ratios.total),
            "teacher_seconds": float(runs.teacher.mean()),
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

    Raises
    ------
    EvalError
        If the folder of ``--out`` cannot be written.
    """

    def __init__(self, options: BenchOptions, bar: ProgressBar) -> None:
        self._options = options
        self._bar = bar
        self._cells: list[Cell] = []
        self.path = Path(options.out) / FILE
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvalError(f"{self.path.parent}: cannot be written: {error.strerror}") from None

    def run(self) -> dict[str, Any]:
        """Measure, and return the record as it stands in the file. An interrupt keeps the finished rounds.

        Raises
        ------
        EvalError
            If a method does not write the wanted call, or a cell is impossible.
        ModelError
            If the model, device or dtype is wrong.
        """
        device = find_device(self._options.device)
        self._record: dict[str, Any] = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "state": "running",
            "settings": self._options.to_json(),
            "machine": describe_machine(device),
            "skipped": [],
        }
        gc.collect()
        gc.freeze()  # otherwise each collection between runs takes a second
        try:
            self._measure(device)
            self._record["state"] = "finished"
        except KeyboardInterrupt:
            self._record["state"] = "interrupted"
        finally:
            gc.unfreeze()
        return self._save()

    def _save(self) -> dict[str, Any]:
        record = {**self._record, "cells": [cell.to_json() for cell in self._cells]}
        if self._cells:
            try:
                write_whole(self.path, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
            except OSError as error:
                raise EvalError(f"{self.path}: cannot be written: {error.strerror}") from None
        return record

    def _measure(self, device: torch.device) -> None:
        options, left = self._options, len(self._options.models) * len(self._options.batches)
        deadline = float("inf") if options.minutes is None else time.monotonic() + 60 * options.minutes
        for label in options.models:
            subject = load_subject(options, label, device)
            for batch in options.batches:
                workload = make_workload(options, batch, subject.tokenizer, subject.decoder.table, subject.words)
                now, name = time.monotonic(), f"{subject.label}, batch {batch}"
                if now > deadline:
                    self._record["skipped"].append(f"{name}: no time was left")
                else:
                    self._measure_cell(name, subject, workload, now + (deadline - now) / left)
                left -= 1
            del subject
            _free(device)

    def _measure_cell(self, name: str, subject: Subject, workload: Workload, until: float) -> None:
        """Run all rounds of a cell. The first is a trial; after ``until`` only one more may start."""
        cell, methods = self._new_cell(subject, workload)
        self._cells.append(cell)
        rounds = 1 + self._options.repeat
        with self._bar(name, rounds * len(methods)) as advance:
            for number in range(rounds):
                if number > 1 and time.monotonic() > until:
                    left = f"{rounds - number} of {self._options.repeat} rounds"
                    self._record["skipped"].append(f"{name}: no time was left for {left}")
                    return
                runs: dict[str, Run] = {}
                shuffled = list(methods)
                Random(f"{self._options.seed}/{name}/{number}").shuffle(shuffled)
                for method in shuffled:
                    run = _run(method, trial=number == 0)
                    if isinstance(run, Run):
                        runs[method.name] = run
                    elif number == 0:
                        methods.remove(method)
                        del cell.methods[method.name]
                        cell.missing[method.name] = run
                        _free(subject.decoder.model.device)
                    else:
                        self._record["skipped"].append(f"{name}: {run} in round {number}")
                        return
                    advance(1)
                if number > 0:
                    cell.rounds.append(runs)
                    self._save()

    def _new_cell(self, subject: Subject, workload: Workload) -> tuple[Cell, list[Method]]:
        """Return a cell that describes model, workload and settings, with all methods that can be measured."""
        options, decoder, tasks = self._options, subject.decoder, workload.tasks
        model = decoder.model
        decode = DecodeOptions(format=options.format, max_calls=1, seed=options.seed, stopping=options.stopping)
        if options.draft_tokens is not None:
            decode = replace(decode, draft_tokens=options.draft_tokens)
        about = {
            "model": subject.label,
            "parameters": sum(p.numel() for p in model.parameters()),
            "dtype": str(model.dtype).removeprefix("torch."),
            "vocabulary": len(decoder.table.texts),
            "strategy": decoder.strategy,
            "batch": len(tasks),
            "prompt_tokens": [len(t.prompt_ids) for t in tasks],
            "call_tokens": [len(t.call_ids) for t in tasks],
            "call": tasks[0].call,
            "copied_values": workload.copied_values,
            "values": len(tasks[0].values),
            "draft_tokens": decode.draft_tokens,
            "stopping": options.stopping,
        }
        methods: list[Method] = [
            ToolDecodingMethod(decoder, subject.engines, workload, replace(decode, order_limit=limit))
            for limit in options.order_limits
        ]
        missing: dict[str, str] = {}
        for name in options.against:
            ready = constraint_of(name, model, subject.tokenizer, decoder.table, workload) if name in PEERS else None
            if isinstance(ready, str):
                missing[name] = ready
                continue
            methods.append(GenerateMethod(name, model, subject.tokenizer, workload, beams_of(name) or 1, ready))
        heads = {
            each.name: {
                "formula_passes": each.formula,
                "preparation_seconds": dict(each.preparation),
                "note": each.note,
            }
            for each in methods
        }
        return Cell(about, heads, missing), methods


def _run(method: Method, trial: bool) -> Run | str:
    """Run a method once, without garbage collection; return why memory, or on trial a library, did not suffice."""
    gc.collect()
    gc.disable()
    try:
        return method.run()
    except torch.OutOfMemoryError:
        return "out of memory"
    except FAILURES as error:
        if not trial or method.name not in PEERS:
            raise
        return failure(error)
    finally:
        gc.enable()


def _free(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
