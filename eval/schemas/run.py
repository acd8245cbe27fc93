"""The files of MaskBench, and the rows of what engines make of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.schemas.engines import Engine
from eval.schemas.worker import Worker
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import json_line, numbered_lines, read_row
from tooldecoding.files.result_file import ResultFile
from tooldecoding.tokens.token_table import TokenTable

FOLDER: Final = Path("maskbench", "data")
"""Where a checkout of guidance-ai/jsonschemabench has them."""

Row = dict[str, Any]
"""What one engine makes of one file: ``id``, ``engine``, number of ``instances``, and what it measured."""


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


def read_rows(path: str) -> dict[str, Row]:
    """Return the rows of a file by id, none if it is not there; EvalError if it holds something else."""
    text = read_text(path, EvalError) if Path(path).exists() else ""
    return {(row := read_row(line, n, path, EvalError))["id"]: row for n, line in numbered_lines(text)}


def row_id(label: str, tokenizer: str, path: Path) -> str:
    """Return the id of a row."""
    return f"{label}/{Path(tokenizer).name}/{path.name}"


def run(
    files: Sequence[Path],
    engines: Mapping[str, Engine],
    tokenizer: str,
    table: TokenTable,
    time_limit: float,
    rows: dict[str, Row],
    results: ResultFile | None,
    advance: Callable[[int], None],
) -> None:
    """Measure the engines on the files that lack a row, and add it to ``rows`` and to the file of results.

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
            label: stack.enter_context(closing(Worker(engine, tokenizer, time_limit)))
            for label, engine in engines.items()
        }
        for path in files:
            missing = [label for label in workers if row_id(label, tokenizer, path) not in rows]
            if missing:
                schema, tests = read_sample(path)
                for test in tests:
                    test["tokens"] = table.encode_after(b"", json_line(test["data"]).encode())
                task = json_line({"schema": schema, "tests": tests})
                for label in missing:
                    head: Row = {"id": row_id(label, tokenizer, path), "engine": label, "instances": len(tests)}
                    row = rows[head["id"]] = head | workers[label].ask(task)
                    if results is not None:
                        results.write([row])
            advance(1)
