"""Measures engines on the files of MaskBench: a row for each, from a process that is stopped if it takes too long."""

import gc
import json
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time, process_time_ns
from typing import Any, Final

from eval.errors import EvalError, failure
from eval.schemas.engines import REFUSALS, Compile, Load, Take
from eval.validation import read_rows
from lookup.text.text_file import read_text
from tooldecoding.cli.console import progress_bar
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.result_file import ResultFile
from tooldecoding.tokens.token_table import TokenTable

MOST_MEMORY: Final = 8 * 2**30
"""Bytes of data that a process may hold; one that asks for more fails."""
MOST_SECONDS: Final = 60
"""Processor time for one schema; the process ends there."""


def find_files(data: str | Path) -> list[Path]:
    """Return the files of a checkout of guidance-ai/jsonschemabench, sorted by name; EvalError if there are none."""
    folder = Path(data) / "maskbench" / "data"
    files = sorted(folder.glob("*.json"))
    if not files:
        raise EvalError(f"{data}: expected a checkout of guidance-ai/jsonschemabench; there is no {folder}/*.json")
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
    files: Sequence[Path], engines: Mapping[str, Load], tokenizer: str, table: TokenTable, out: str
) -> dict[str, list[dict[str, Any]]]:
    """Measure engines, by name and version, on the files that have no row in ``out``, and return the rows of each."""
    ids = {label: [f"{label}/{Path(tokenizer).name}/{path.name}" for path in files] for label in engines}
    for label, load in engines.items():
        with closing(ResultFile(out, frozenset({"refused", "verdicts"}))) as results:
            missing = [(path, key) for path, key in zip(files, ids[label], strict=True) if key not in results.done]
            if missing:
                with closing(Worker(label, load, tokenizer)) as worker, progress_bar(label, len(missing)) as advance:
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
    """One engine in a process of its own; EvalError if it cannot be loaded with the tokenizer (folder or hub id)."""

    def __init__(self, name: str, load: Load, tokenizer: str) -> None:
        self._name = name
        self._asked = load, tokenizer
        self._start()

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``measure`` finds for a task. Too much time, or the end of the process, is a refusal."""
        found: dict[str, Any] | str = self._answer(task)
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
        if problem := self._answer():
            self.close()
            raise EvalError(f"{self._name} cannot be loaded with the tokenizer {self._asked[1]!r}: {problem}")

    def _answer(self, task: Mapping[str, Any] | None = None) -> Any:
        try:
            if task is not None:
                self._pipe.send(task)
            return self._pipe.recv()
        except (EOFError, OSError):
            return f"its process died, or took more than {MOST_SECONDS} s"


def _serve(pipe: Connection, load: Load, tokenizer: str) -> None:
    """Load the engine and measure tasks; interrupts and the terminal are the parent's, memory and time are bounded."""
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
        while task := pipe.recv():
            resource.setrlimit(resource.RLIMIT_CPU, (ceil(process_time()) + MOST_SECONDS, resource.RLIM_INFINITY))
            pipe.send(measure(compiled, task))


def measure(compiled: Compile, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what comes of a ``schema`` and ``tests``, each with ``valid``, ``data`` and ``tokens``.

    Either the reason why it is ``refused``; or ``notes``, nanoseconds of ``grammar`` and of all ``tokens`` of valid
    tests, and ``verdicts``: whether each was ``accepted``, and ``kept`` by the check after decoding.
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
