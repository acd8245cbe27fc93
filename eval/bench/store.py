"""``bench.json``: a bench as it stands, written after each round."""

import json
from pathlib import Path
from typing import Final

from eval.bench.measurements import Record
from eval.errors import EvalError
from tooldecoding.files.manifest import write_whole

JSON: Final = "bench.json"


class Store:
    """The file of one bench; a bench in the same folder replaces it. EvalError if the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JSON
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None

    def save(self, record: Record) -> None:
        """Write the bench; the file is complete at any time. EvalError if it cannot be written."""
        try:
            write_whole(self.path, (json.dumps(record.to_json(), indent=1, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            raise EvalError(f"{self.path}: cannot be written: {error.strerror}; what stands there is kept") from None
