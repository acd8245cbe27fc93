"""``bench.json``: all benches of a folder; the last one may still be running."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from eval.bench.measurements import Record
from eval.errors import EvalError
from lookup.text.text_file import read_text
from tooldecoding.files.manifest import locked

JSON: Final = "bench.json"
PICTURE: Final = "bench.png"


class Store:
    """A folder's ``bench.json``, ``{"benches": [...]}``. Earlier benches are kept, and the new one is appended.

    Raises
    ------
    EvalError
        If the folder cannot be written, another process writes to it, or the file holds something else.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JSON
        self.picture = folder / PICTURE
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None
        self._before = self._read()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside the block, no other process can write to this folder."""
        busy = f"{self.path.parent}: another bench is writing here; choose another --out"
        with locked(self.path.with_suffix(".lock"), EvalError, busy):
            self._before = self._read()
            yield

    def save(self, record: Record) -> None:
        """Write all benches; the file is complete at any time. EvalError if it cannot be written."""
        part = self.path.with_suffix(".part")
        text = json.dumps({"benches": [*self._before, record.to_json()]}, indent=1, ensure_ascii=False)
        try:
            part.write_text(text + "\n", encoding="utf-8")
            part.replace(self.path)
        except OSError as error:
            raise EvalError(f"{self.path}: cannot be written: {error.strerror}; what stands there is kept") from None

    def _read(self) -> list[Any]:
        if not self.path.exists():
            return []
        try:
            found = json.loads(read_text(self.path, EvalError))
        except (ValueError, RecursionError):
            raise EvalError(f"{self.path}: malformed JSON; choose another --out") from None
        benches = found.get("benches") if isinstance(found, dict) else None
        if not isinstance(benches, list):
            raise EvalError(f"{self.path}: this is no file of benches; choose another --out")
        return benches
