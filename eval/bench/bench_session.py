"""A bench from its options to its record: models one after the other, batches, rounds."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import torch

from eval.bench.bench_record import Cell, Record, Round
from eval.bench.line_up import line_up, new_cell
from eval.bench.machine import describe_machine
from eval.bench.memory import PeakMemory, free_memory
from eval.bench.method import Method
from eval.bench.options import BenchOptions
from eval.bench.peers import FAILURES, PEERS, failure
from eval.bench.store import Store
from eval.bench.subject import Subject, load_subject
from eval.bench.workload import Ask, Workload, make_workload
from lookup.errors import ToolDecodingError
from tooldecoding.models.loading import find_device

ProgressBar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a bar for a word and a total; what it gives is told of progress."""


@dataclass
class Session:
    """Measures what the options ask for.

    Parameters
    ----------
    options : BenchOptions
    store : Store
        Gets the record after every round.
    bar : callable
    """

    options: BenchOptions
    store: Store
    bar: ProgressBar
    _deadline: float = field(default=float("inf"), init=False)

    def run(self) -> Record:
        """Measure; an interrupt leaves the finished rounds.

        Raises
        ------
        EvalError
            If a method writes something else than the wanted call, or a cell is impossible.
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
        with self.store.locked(), _few_objects():
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
        """All rounds of a cell; the first ones are discarded, and none but one begins behind ``until``."""
        name = _name(subject, workload)
        cell = new_cell(self.options, subject, workload)
        record.cells.append(cell)
        methods = line_up(self.options, subject, workload, cell)
        discarded = 2 if subject.model.device.type == "cuda" else 1
        rounds = discarded + self.options.repeat
        with self.bar(name, rounds * len(methods)) as advance:
            for number in range(rounds):
                if number > discarded and time.monotonic() > until:
                    record.skipped.append(
                        f"{name}: no time was left for {rounds - number} of {self.options.repeat} rounds"
                    )
                    return
                sequence = list(methods)
                Random(f"{self.options.seed}/{name}/{number}").shuffle(sequence)
                if number < discarded:
                    methods = [m for m in sequence if _try(m, cell, advance, last=number == discarded - 1)]
                    continue
                try:
                    cell.rounds.append(_round(sequence, advance))
                except torch.OutOfMemoryError:
                    record.skipped.append(f"{name}: out of memory in round {number - discarded + 1}")
                    return
                self.store.save(record)


@contextmanager
def _few_objects() -> Iterator[None]:
    """Inside the block garbage collection passes over all that is there before, which takes a second else."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _name(subject: Subject, workload: Workload) -> str:
    return f"{subject.label}, batch {len(workload.tasks)}"


def _try(method: Method, cell: Cell, advance: Callable[[int], None], last: bool) -> bool:
    """One discarded run, which also tells peak memory and the time outside of the model; False if it fails."""
    entry = next(e for e in cell.entries if e.name == method.name)
    device = method.device
    room, needed = free_memory(device), method.cache_estimate()
    reason = ""
    if room is not None and needed > room:
        reason = f"its KV cache needs {needed / 1e9:.1f} GB, free are {room / 1e9:.1f} GB"
    else:
        memory = PeakMemory(device)
        try:
            run = method.run(every_pass=last)
        except torch.OutOfMemoryError:
            reason = "out of memory"
        except FAILURES as error:
            if method.name not in PEERS:
                raise
            reason = failure(error)
        else:
            entry.peak_bytes = memory.growth
            if last and device.type == "cuda":
                entry.profile(run)
    if reason:
        cell.entries.remove(entry)
        cell.missing[method.name] = reason
        _free(device)
    advance(1)
    return not reason


def _round(sequence: Sequence[Method], advance: Callable[[int], None]) -> Round:
    """One run of each method; garbage is collected before, not within."""
    runs: Round = {}
    for method in sequence:
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
