"""An engine in a process of its own, which is stopped if it takes too long and replaced if it dies."""

import gc
import json
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from time import process_time_ns
from typing import Any, Final

from eval.errors import EvalError, failure
from eval.schemas.engines import REFUSALS, Compile, Engine, Instance

MOST_MEMORY: Final = 8 * 2**30
"""Bytes of data that a process may hold; one that asks for more fails."""
_LOADING: Final = 600.0
"""Seconds to load an engine with its tokenizer."""


class Worker:
    """One engine in a process of its own.

    Parameters
    ----------
    engine : Engine
    tokenizer : str
        Folder or hub id.
    seconds : float
        The longest time for one schema.
    """

    def __init__(self, engine: Engine, tokenizer: str, seconds: float) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._seconds = seconds
        self._running: ProcessPoolExecutor | None = None

    def ask(self, task: str) -> dict[str, Any]:
        """Return what ``measure`` finds for a task (JSON). Too much time, or the end of the process, is a refusal.

        Raises
        ------
        EvalError
            If the engine cannot be loaded.
        """
        running = self._running or self._start()
        try:
            return running.submit(_measure_loaded, task).result(self._seconds)
        except TimeoutError:
            self.close()
            return {"refused": f"stopped after {self._seconds:g} s"}
        except BrokenProcessPool:
            self.close()
            return {"refused": "its process died"}

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._running is not None:
            if self._process is not None:
                os.kill(self._process, signal.SIGKILL)
            self._running.shutdown()
            self._running = None

    def _start(self) -> ProcessPoolExecutor:
        self._process: int | None = None
        running = self._running = ProcessPoolExecutor(1, get_context("spawn"), _keep_apart)
        try:
            self._process = running.submit(_load, self._engine, self._tokenizer).result(_LOADING)
        except (*REFUSALS, TimeoutError) as error:
            self.close()
            reason = "takes too long" if isinstance(error, TimeoutError) else failure(error)
            raise EvalError(
                f"{self._engine.name} cannot be loaded with the tokenizer {self._tokenizer!r}: {reason}"
            ) from None
        return running


_loaded: list[Compile] = []
"""The engine of this process."""


def _keep_apart() -> None:
    """Leave interrupts and the terminal to the parent, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def _load(engine: Engine, tokenizer: str) -> int:
    """Load the engine; return the id of its process."""
    _loaded.append(engine.load(tokenizer))
    gc.collect()
    gc.freeze()  # no schema waits for a look at the tokenizer
    return os.getpid()


def _measure_loaded(task: str) -> dict[str, Any]:
    return measure(_loaded[0], json.loads(task))


def measure(compiled: Compile, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return verdicts and times, or why there is no grammar.

    Parameters
    ----------
    task : mapping
        ``schema``, and ``tests``, each with ``valid``, ``data`` and ``tokens``.

    Returns
    -------
    dict
        ``refused`` with the reason; or ``notes``, nanoseconds of ``grammar`` and of all ``tokens`` of valid instances,
        and ``verdicts``: for each test whether it is ``valid``, was ``accepted``, and whether the check after decoding
        ``kept`` it.
    """
    gc.collect()
    gc.disable()
    try:
        start = process_time_ns()
        made = compiled(task["schema"])
        grammar = process_time_ns() - start
        verdicts, tokens = [], list[int]()
        for test in task["tests"]:
            accepted, times = _judge(made.start(), test["tokens"])
            kept = accepted and made.allows(test["data"])
            verdicts.append({"valid": test["valid"], "accepted": accepted, "kept": kept})
            tokens += times if test["valid"] else []
        return {"notes": list(made.notes()), "grammar": grammar, "tokens": tokens, "verdicts": verdicts}
    except REFUSALS as error:
        return {"refused": failure(error)}
    finally:
        gc.enable()


def _judge(instance: Instance, tokens: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether an instance is accepted, and the nanoseconds of its tokens up to the first that is refused."""
    times = []
    for token in tokens:
        start = process_time_ns()
        taken = instance.take(token)
        times.append(process_time_ns() - start)
        if not taken:
            return False, times
    return bool(instance.complete()), times
