"""Measures engines on files, one after the other, and keeps a row for each engine and file."""

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from time import process_time_ns
from typing import Any, Final

from eval.bench.failures import failure
from eval.schemas.engines import REFUSALS, Engine
from eval.schemas.rows import RowFile, read_sample, split_of
from eval.schemas.worker import Worker
from tooldecoding.files.json_lines import json_line
from tooldecoding.tokens.token_table import TokenTable

_SHOWN: Final = 60
"""Characters before the place where a valid instance is refused."""


def measure(engine: Engine, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return verdicts and times, or why there is no grammar; runs in the engine's process.

    Parameters
    ----------
    task : mapping
        ``schema``, and ``tests``, each with ``valid``, ``data`` and ``tokens``.

    Returns
    -------
    dict
        ``refused`` with the reason; or ``notes``, nanoseconds of ``grammar``, of all ``tokens`` of valid instances and
        of each ``search``, and ``verdicts``: for each test whether it was ``accepted``, whether the check after
        decoding ``kept`` it, and how many tokens were ``taken``.
    """
    gc.collect()
    gc.disable()
    try:
        start = process_time_ns()
        engine.compile(task["schema"])
        grammar = process_time_ns() - start
        verdicts, tokens, search = [], list[int](), list[int]()
        for test in task["tests"]:
            accepted, times = _judge(engine, test["tokens"])
            kept = accepted and engine.allows(test["data"])
            verdicts.append({"accepted": accepted, "kept": kept, "taken": len(times)})
            tokens += times if test["valid"] else []
        for test, verdict in zip(task["tests"], verdicts, strict=True):
            if test["valid"] and verdict["accepted"]:
                search += engine.search(test["tokens"])
        notes = list(engine.notes())
        return {"notes": notes, "grammar": grammar, "tokens": tokens, "search": search, "verdicts": verdicts}
    except REFUSALS as error:
        return {"refused": failure(error)}
    finally:
        gc.enable()


def _judge(engine: Engine, tokens: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether an instance is accepted, and the nanoseconds of its tokens up to the first that is refused."""
    engine.start()
    times = []
    for token in tokens:
        start = process_time_ns()
        taken = engine.take(token)
        times.append(process_time_ns() - start)
        if not taken:
            return False, times
    return engine.complete(), times


def run(
    files: Sequence[Path],
    engines: Mapping[str, type[Engine]],
    tokenizer: str,
    table: TokenTable,
    time_limit: float,
    rows: RowFile,
    advance: Callable[[int], None],
) -> None:
    """Measure the engines on the files that lack a row.

    Parameters
    ----------
    engines : mapping
        Label (name and version) -> engine.
    table : TokenTable
        That of the tokenizer.
    time_limit : float
        Seconds that an engine may take for a file.
    """
    with ExitStack() as stack:
        workers = {
            label: stack.enter_context(closing(Worker(engine, measure, tokenizer, time_limit)))
            for label, engine in engines.items()
        }
        for path in files:
            missing = {label: worker for label, worker in workers.items() if row_id(label, path) not in rows.by_id}
            if missing:
                rows.write(_measured(path, missing, table))
            advance(1)


def row_id(label: str, path: Path) -> str:
    """Return the id of a row."""
    return f"{label}/{path.name}"


def _measured(path: Path, workers: Mapping[str, Worker[Engine]], table: TokenTable) -> list[dict[str, Any]]:
    sample = read_sample(path)
    tokens = [table.encode_after(b"", json_line(test.data).encode()) for test in sample.tests]
    valid = [test.valid for test in sample.tests]
    tests = [
        {"valid": test.valid, "data": test.data, "tokens": ids} for test, ids in zip(sample.tests, tokens, strict=True)
    ]
    task = json_line({"schema": sample.law, "tests": tests})
    head = {"split": split_of(path), "valid": sum(valid), "invalid": valid.count(False)}
    rows = []
    for label, worker in workers.items():
        found = worker.ask(task)
        if "refused" not in found:
            wrong, wrong_after_check = [], []
            for number, verdict in enumerate(found.pop("verdicts")):
                about: dict[str, Any] = {"test": number, "valid": valid[number]}
                if verdict["kept"] != valid[number]:
                    wrong_after_check.append(about)
                if verdict["accepted"] != valid[number]:
                    before = table.join(tokens[number][: verdict["taken"]]).decode(errors="replace")
                    wrong.append(about | ({"refused_at": before[-_SHOWN:]} if valid[number] else {}))
            found |= {"wrong": wrong, "wrong_after_check": wrong_after_check}
        rows.append({"id": row_id(label, path), "engine": label, **head, **found})
    return rows
