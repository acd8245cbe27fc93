"""Measures engines on files, one after the other, and keeps a row for each engine and file."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from eval.schemas.engine import Engine
from eval.schemas.measure import measure
from eval.schemas.row_file import RowFile
from eval.schemas.samples import Sample, read_sample, split_of
from eval.schemas.worker import Worker
from tooldecoding.files.json_lines import json_line
from tooldecoding.tokens.token_table import TokenTable

_SHOWN: Final = 60
"""Characters before the place where a valid instance is refused."""
_KEPT: Final = ("notes", "grammar_ns", "tokens", "search")


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
            missing = [label for label in engines if row_id(label, path) not in rows.by_id]
            if missing:
                rows.write(_measure(path, {label: workers[label] for label in missing}, table))
            advance(1)


def row_id(label: str, path: Path) -> str:
    """Return the id of a row."""
    return f"{label}/{path.name}"


def _measure(path: Path, workers: Mapping[str, Worker[Engine]], table: TokenTable) -> list[dict[str, Any]]:
    sample = read_sample(path)
    texts = [json_line(test.data).encode() for test in sample.tests]
    tokens = [table.encode_after(b"", text) for text in texts]
    tests = [
        {"valid": test.valid, "data": test.data, "tokens": ids} for test, ids in zip(sample.tests, tokens, strict=True)
    ]
    task = json_line({"schema": sample.law, "tests": tests})
    head = {
        "split": split_of(path),
        "valid": sum(test.valid for test in sample.tests),
        "invalid": sum(not test.valid for test in sample.tests),
    }
    rows = []
    for label, worker in workers.items():
        answer = worker.ask(task)
        found = answer if "refused" in answer else _judged(answer, sample, tokens, table)
        rows.append({"id": row_id(label, path), "engine": label, **head, **found})
    return rows


def _judged(
    answer: Mapping[str, Any], sample: Sample, tokens: Sequence[Sequence[int]], table: TokenTable
) -> dict[str, Any]:
    """Return the row's part of an answer: verdicts as those that are wrong."""
    wrong, wrong_after_check = [], []
    for number, (test, verdict) in enumerate(zip(sample.tests, answer["verdicts"], strict=True)):
        if verdict["accepted"] != test.valid:
            about: dict[str, Any] = {"test": number, "valid": test.valid}
            if test.valid:
                before = table.join(tokens[number][: verdict["taken"]]).decode(errors="replace")
                about["refused_at"] = before[-_SHOWN:]
            wrong.append(about)
        if verdict["kept"] != test.valid:
            wrong_after_check.append({"test": number, "valid": test.valid})
    return {**{name: answer[name] for name in _KEPT}, "wrong": wrong, "wrong_after_check": wrong_after_check}
