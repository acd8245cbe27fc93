"""Where BFCL's files come from: a folder, or the installed official package."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.errors import EvalError
from lookup.text.text_file import read_text

PACKAGE: Final = "bfcl-eval"
"""The word for the installed official package."""

ANSWERS: Final = "possible_answer"
"""Folder of the answers, beside the questions."""

_FOLDERS: Final = ("", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data")
_FILES: Final = "BFCL_v*.json"


@dataclass(frozen=True)
class Files:
    """Questions and answers as JSON lines, by name: ``BFCL_v4_multiple.json``, ``possible_answer/BFCL_v4_…``."""

    root: Path
    names: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The folder, for messages."""
        return str(self.root)

    def read(self, name: str) -> str:
        """The text of a file; EvalError if it cannot be read."""
        return read_text(self.root / name, EvalError)


def find_files(data: str) -> Files:
    """The files that ``data`` means.

    Parameters
    ----------
    data : str
        A folder in the official layout (questions, and ``possible_answer/`` with the answers), or a folder that holds
        it as the official package or a checkout of ``ShishirPatil/gorilla`` do; or ``bfcl-eval``, the installed
        package.

    Raises
    ------
    EvalError
        If there is no such folder or package, or it has no file of BFCL.
    """
    root = _package_folder() if data == PACKAGE else Path(data)
    if not root.is_dir():
        raise EvalError(
            f"{data}: no such folder; --data takes a folder with BFCL's files, or the word {PACKAGE} for the installed "
            "package"
        )
    for folder in _FOLDERS:
        paths = [*(root / folder).glob(_FILES), *(root / folder / ANSWERS).glob(_FILES)]
        if paths:
            names = sorted(p.relative_to(root / folder).as_posix() for p in paths)
            return Files(root / folder, tuple(names))
    looked = ", ".join(str(root / folder / _FILES) for folder in _FOLDERS)
    there = sorted(p.name for p in root.glob("*"))
    raise EvalError(f"{root}: no file of BFCL; looked for {looked}; there is {listed(there)}")


def _package_folder() -> Path:
    spec = importlib.util.find_spec("bfcl_eval")  # found, not imported: importing it makes folders and loads handlers
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise EvalError(
            f"the package {PACKAGE} is not installed; pip install --no-deps {PACKAGE} suffices for its data"
        )
    return Path(places[0]) / "data"


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"{', '.join(names[:10])}{more}" if names else "nothing"
