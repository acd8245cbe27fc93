"""A subject in a process of its own, which is stopped if it takes too long and replaced if it dies."""

import gc
import json
import os
import resource
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from eval.bench.failures import failure
from eval.errors import EvalError
from eval.schemas.engines import REFUSALS
from tooldecoding.files.json_lines import json_line

MOST_MEMORY: Final = 8 * 2**30
"""Bytes of data that a process may hold; one that asks for more fails."""
_LOADING: Final = 600.0
"""Seconds to load a subject with its tokenizer."""
_READY: Final = "ready"


class Subject(Protocol):
    """What a process holds."""

    name: ClassVar[str]

    def __init__(self, tokenizer: str) -> None: ...


S = TypeVar("S", bound=Subject)
Answer = Callable[[S, dict[str, Any]], dict[str, Any]]
"""Does a task with a subject."""


class Worker(Generic[S]):
    """One subject in a process of its own.

    Parameters
    ----------
    subject : type of Subject
    answer : callable
        A function of a module, as the process finds it by its name.
    tokenizer : str
    seconds : float
        The longest time for one task.
    """

    def __init__(self, subject: type[S], answer: Answer[S], tokenizer: str, seconds: float) -> None:
        self._subject = subject
        self._answer = answer
        self._tokenizer = tokenizer
        self._seconds = seconds
        self._running: tuple[BaseProcess, Connection] | None = None

    def ask(self, task: str) -> dict[str, Any]:
        """Return the answer to a task (JSON). Too much time, or the end of the process, is a refusal.

        Raises
        ------
        EvalError
            If the subject cannot be loaded.
        """
        process, pipe = self._running or self._start()
        try:
            pipe.send_bytes(task.encode())
            answer = _received(pipe, self._seconds)
        except (EOFError, OSError):
            process.join()
            self.close()
            return {"refused": f"its process died ({_ending(process.exitcode)})"}
        if answer is None:
            self.close()
            return {"refused": f"stopped after {self._seconds:g} s"}
        return answer

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            process, pipe = self._running
            self._running = None
            pipe.close()
            process.kill()
            process.join()

    def _start(self) -> tuple[BaseProcess, Connection]:
        context = get_context("spawn")
        pipe, its_end = context.Pipe()
        process = context.Process(
            target=_serve, args=(self._subject, self._answer, self._tokenizer, its_end), daemon=True
        )
        process.start()
        its_end.close()
        self._running = process, pipe
        try:
            answer = _received(pipe, _LOADING)
        except (EOFError, OSError):
            process.join()
            answer = {"failed": f"its process died ({_ending(process.exitcode)})"}
        if answer is None or _READY not in answer:
            self.close()
            reason = "takes too long" if answer is None else answer["failed"]
            raise EvalError(f"{self._subject.name} cannot be loaded with the tokenizer {self._tokenizer!r}: {reason}")
        return process, pipe


def _received(pipe: Connection, seconds: float) -> dict[str, Any] | None:
    """Return the next answer; None if it takes too long."""
    if not pipe.poll(seconds):
        return None
    answer: dict[str, Any] = json.loads(pipe.recv_bytes())
    return answer


def _ending(code: int | None) -> str:
    """Return how a process ended: ``SIGSEGV``, or ``exit code 101``."""
    if code is not None and -code in signal.valid_signals():
        return signal.Signals(-code).name
    return f"exit code {code}"


def _serve(subject_type: type[S], answer: Answer[S], tokenizer: str, pipe: Connection) -> None:
    """Answer tasks until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    _write_nowhere()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    try:
        subject = subject_type(tokenizer)
    except REFUSALS as error:
        _send(pipe, {"failed": failure(error)})
        return
    _send(pipe, {_READY: True})
    gc.collect()
    gc.freeze()  # no schema waits for a look at the tokenizer
    while True:
        try:
            task = json.loads(pipe.recv_bytes())
        except EOFError:
            return
        _send(pipe, answer(subject, task))


def _send(pipe: Connection, answer: dict[str, Any]) -> None:
    pipe.send_bytes(json_line(answer).encode())


def _write_nowhere() -> None:
    """Keep what libraries print away from the tables."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
