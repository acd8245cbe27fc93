"""Runs a bench from its options to its record: models one after the other, batches, rounds."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import torch

from eval.bench.failures import FAILURES, failure
from eval.bench.machine import describe_machine
from eval.bench.make_methods import make_methods, new_cell
from eval.bench.measurements import Cell, Record, Round
from eval.bench.memory import PeakMemory
from eval.bench.method import Method
from eval.bench.options import BenchOptions
from eval.bench.peers import PEERS
from eval.bench.store import Store
from eval.bench.subject import Subject, load_subject
from eval.bench.workload import Ask, Workload, make_workload
from lookup.errors import ToolDecodingError
from tooldecoding.models.loading import find_device

ProgressBar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a bar with a label and a total; the function that it yields advances the bar."""


@dataclass
class BenchRunner:
    """Measures what the options ask for.

    Parameters
    ----------
    options : BenchOptions
    store : Store
        Receives the record after every round.
    bar : callable
    """

    options: BenchOptions
    store: Store
    bar: ProgressBar
    _deadline: float = field(default=float("inf"), init=False)

    def run(self) -> Record:
        """Measure. An interrupt keeps the finished rounds.

        Raises
        ------
        EvalError
            If a method does not write the wanted call, or a cell is impossible.
        ModelError
            If the model, device or dtype is wrong.
        """
        options = self.options
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        device = find_device(options.device)
        if options.minutes is not None:
            self._deadline = time.monotonic() + 60 * options.minutes
        record = Record(options.to_json(), describe_machine(device), datetime.now(UTC).isoformat(timespec="seconds"))
        with _few_objects():
            try:
                self._measure(device, record)
                record.state = "finished"
            except KeyboardInterrupt:
                record.state = "interrupted"
            except ToolDecodingError:
                record.state = "failed"
                raise
            finally:
                if record.cells:
                    self.store.save(record)
        return record

    def _measure(self, device: torch.device, record: Record) -> None:
        left = len(self.options.models) * len(self.options.batches)
        for label in self.options.models:
            subject = load_subject(self.options, label, device)
            workloads = [self._workload(subject, batch) for batch in self.options.batches]
            for workload in workloads:
                now = time.monotonic()
                if now > self._deadline:
                    record.skipped.append(f"{_name(subject, workload)}: no time was left")
                else:
                    self._measure_cell(subject, workload, record, now + (self._deadline - now) / left)
                left -= 1
            del subject
            _free(device)

    def _workload(self, subject: Subject, batch: int) -> Workload:
        o = self.options
        ask = Ask(o.prompt_tokens, o.required, o.value_tokens, o.copied, batch, o.format, o.seed)
        return make_workload(ask, subject.tokenizer, subject.decoder.table, subject.words)

    def _measure_cell(self, subject: Subject, workload: Workload, record: Record, until: float) -> None:
        """Run all rounds of a cell. The first are discarded; after ``until`` only one more may start."""
        name = _name(subject, workload)
        cell = new_cell(self.options, subject, workload)
        record.cells.append(cell)
        methods = make_methods(self.options, subject, workload, cell)
        discarded = 2 if subject.model.device.type == "cuda" else 1
        rounds = discarded + self.options.repeat
        with self.bar(name, rounds * len(methods)) as advance:
            for number in range(rounds):
                if number > discarded and time.monotonic() > until:
                    record.skipped.append(
                        f"{name}: no time was left for {rounds - number} of {self.options.repeat} rounds"
                    )
                    return
                shuffled = list(methods)
                Random(f"{self.options.seed}/{name}/{number}").shuffle(shuffled)
                if number < discarded:
                    methods = [m for m in shuffled if _try(m, cell, advance, last=number == discarded - 1)]
                    continue
                try:
                    cell.rounds.append(_round(shuffled, advance))
                except torch.OutOfMemoryError:
                    record.skipped.append(f"{name}: out of memory in round {number - discarded + 1}")
                    return
                self.store.save(record)


@contextmanager
def _few_objects() -> Iterator[None]:
    """Inside the block, garbage collection skips all existing objects; otherwise each one takes a second."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _name(subject: Subject, workload: Workload) -> str:
    return f"{subject.label}, batch {len(workload.tasks)}"


def _try(method: Method, cell: Cell, advance: Callable[[int], None], last: bool) -> bool:
    """Do one discarded run, which measures peak memory and the time outside of the model; False if it fails."""
    reason = _failure_of_trial(method, cell, last)
    if reason:
        cell.methods = [m for m in cell.methods if m.name != method.name]
        cell.missing[method.name] = reason
        _free(method.device)
    advance(1)
    return not reason


def _failure_of_trial(method: Method, cell: Cell, last: bool) -> str:
    memory = PeakMemory(method.device)
    try:
        run = method.run(every_pass=last)
    except torch.OutOfMemoryError:
        return "out of memory"
    except FAILURES as error:
        if method.name not in PEERS:
            raise
        return failure(error)
    measured = next(m for m in cell.methods if m.name == method.name)
    measured.peak_bytes = memory.growth
    if last and method.device.type == "cuda":
        measured.timed = run
    return ""


def _round(methods: Sequence[Method], advance: Callable[[int], None]) -> Round:
    """Run each method once. Garbage is collected between runs, not during them."""
    runs: Round = {}
    for method in methods:
        gc.collect()
        gc.disable()
        try:
            runs[method.name] = method.run(every_pass=False)
        finally:
            gc.enable()
        advance(1)
    return runs


def _free(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
