"""Measures engines on the files of MaskBench: a row for each, from a process that is stopped if it takes too long."""

import gc
import json
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time_ns
from typing import Any, Final

from eval.errors import EvalError, failure
from eval.schemas.engines import REFUSALS, Compile, Load, Take
from eval.validation import read_rows
from lookup.text.text_file import read_text
from tooldecoding.cli.console import progress_bar
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.result_file import ResultFile
from tooldecoding.tokens.token_table import TokenTable

FOLDER: Final = Path("maskbench", "data")
"""Where a checkout of guidance-ai/jsonschemabench has them."""

MOST_MEMORY: Final = 8 * 2**30
"""Bytes of data that a process may hold; one that asks for more fails."""
_LOADING: Final = 600.0
"""Seconds to load an engine with its tokenizer."""


def find_files(data: str | Path) -> list[Path]:
    """Return the files of a checkout, sorted by name; EvalError if there are none."""
    folder = Path(data) / FOLDER
    if not folder.is_dir():
        raise EvalError(f"{data}: expected a checkout of guidance-ai/jsonschemabench; there is no folder {folder}")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise EvalError(f"{folder}: expected files of schemas, found none")
    return files


def read_sample(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Return the schema of a file and its instances, each with ``valid`` and ``data``; EvalError if it is malformed."""
    try:
        row = json.loads(read_text(path, EvalError))
        tests = [{"valid": test["valid"], "data": test["data"]} for test in row["tests"]]
        if not all(isinstance(test["valid"], bool) for test in tests):
            raise TypeError("expected 'valid' to be true or false")
        return row["schema"], tests
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise EvalError(f"{path}: this is no file of MaskBench: {reason}") from None


def run(
    files: Sequence[Path], engines: Mapping[str, Load], tokenizer: str, table: TokenTable, time_limit: float, out: str
) -> dict[str, list[dict[str, Any]]]:
    """Measure the engines on the files that have no row in ``out``, and return the rows of each.

    Parameters
    ----------
    engines : mapping
        Label (name and version) -> engine.
    table : TokenTable
        That of the tokenizer.
    time_limit : float
        Seconds that an engine may take for a file.
    """
    ids = {label: [f"{label}/{Path(tokenizer).name}/{path.name}" for path in files] for label in engines}
    for label, load in engines.items():
        with (
            closing(ResultFile(out, frozenset({"refused", "verdicts"}))) as results,
            progress_bar(label, len(files)) as advance,
        ):
            missing = [(path, key) for path, key in zip(files, ids[label], strict=True) if key not in results.done]
            advance(len(files) - len(missing))
            if missing:
                with closing(Worker(label, load, tokenizer, time_limit)) as worker:
                    for path, key in missing:
                        schema, tests = read_sample(path)
                        for test in tests:
                            test["tokens"] = table.encode_after(b"", json_line(test["data"]).encode())
                        found = worker.ask({"schema": schema, "tests": tests})
                        results.write([{"id": key, "engine": label, "instances": len(tests)} | found])
                        advance(1)
    rows = {row["id"]: row for _, row in read_rows(Path(out), "the same command goes on in it")}
    return {label: [rows[key] for key in ids[label]] for label in engines}


class Worker:
    """One engine in a process of its own.

    Parameters
    ----------
    name : str
        What the engine is called in messages.
    tokenizer : str
        Folder or hub id.
    seconds : float
        The longest time for one schema.

    Raises
    ------
    EvalError
        If the engine cannot be loaded.
    """

    def __init__(self, name: str, load: Load, tokenizer: str, seconds: float) -> None:
        self._name = name
        self._asked = load, tokenizer
        self._seconds = seconds
        self._start()

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``measure`` finds for a task. Too much time, or the end of the process, is a refusal."""
        found: dict[str, Any] | str = self._answer(self._seconds, task)
        if isinstance(found, dict):
            return found
        self.close()
        self._start()
        return {"refused": found}

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._asked), daemon=True)
        self._process.start()
        theirs.close()
        if problem := self._answer(_LOADING):
            self.close()
            raise EvalError(f"{self._name} cannot be loaded with the tokenizer {self._asked[1]!r}: {problem}")

    def _answer(self, seconds: float, task: Mapping[str, Any] | None = None) -> Any:
        """Return what the process sends, or why it sends nothing."""
        try:
            if task is not None:
                self._pipe.send(task)
            return self._pipe.recv() if self._pipe.poll(seconds) else f"stopped after {seconds:g} s"
        except (EOFError, OSError):
            return "its process died"


def _serve(pipe: Connection, load: Load, tokenizer: str) -> None:
    """Load the engine, and measure tasks; interrupts and the terminal are the parent's, and the memory is bounded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    try:
        compiled = load(tokenizer)
    except REFUSALS as error:
        pipe.send(failure(error))
        return
    gc.collect()
    gc.freeze()  # no schema waits for a look at the tokenizer
    pipe.send("")
    with suppress(EOFError):  # the parent has ended
        while True:
            pipe.send(measure(compiled, pipe.recv()))


def measure(compiled: Compile, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return verdicts and times of a ``schema`` on ``tests``, each with ``valid``, ``data`` and ``tokens``.

    The result has ``refused`` with the reason; or ``notes``, nanoseconds of ``grammar`` and of all ``tokens`` of valid
    instances, and ``verdicts``: for each test whether it is ``valid``, was ``accepted``, and whether the check after
    decoding ``kept`` it.
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


def _judge(take: Take, tokens: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether an instance is accepted, and the nanoseconds of its tokens up to the first that is refused."""
    times = []
    for token in tokens:
        start = process_time_ns()
        taken = take(token)
        times.append(process_time_ns() - start)
        if not taken:
            return False, times
    return take(None), times
