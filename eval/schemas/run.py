"""The files of MaskBench, and the rows of what engines make of them."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.schemas.engines import Engine
from eval.schemas.worker import Worker
from lookup.text.text_file import read_text
from tooldecoding.cli.console import progress_bar
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.result_file import ResultFile
from tooldecoding.tokens.token_table import TokenTable

FOLDER: Final = Path("maskbench", "data")
"""Where a checkout of guidance-ai/jsonschemabench has them."""


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


def row_id(label: str, tokenizer: str, path: Path) -> str:
    """Return the id of a row."""
    return f"{label}/{Path(tokenizer).name}/{path.name}"


def run(
    files: Sequence[Path],
    engines: Mapping[str, Engine],
    tokenizer: str,
    table: TokenTable,
    time_limit: float,
    out: str,
) -> None:
    """Measure the engines on the files that have no row in ``out``, with a progress bar, and add their rows.

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
        results = stack.enter_context(closing(ResultFile(out, frozenset({"refused", "verdicts"}))))
        advance = stack.enter_context(progress_bar("measuring", len(files)))
        for path in files:
            ids = {label: row_id(label, tokenizer, path) for label in workers}
            missing = [label for label in workers if ids[label] not in results.done]
            if missing:
                schema, tests = read_sample(path)
                for test in tests:
                    test["tokens"] = table.encode_after(b"", json_line(test["data"]).encode())
                task = json_line({"schema": schema, "tests": tests})
                for label in missing:
                    about = {"id": ids[label], "engine": label, "instances": len(tests)}
                    results.write([about | workers[label].ask(task)])
            advance(1)
