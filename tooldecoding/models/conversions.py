"""What was made of GGUF files, kept on the disk: transformers reads all tokens one by one for it, which takes seconds.

It lies beside the other caches of the Hugging Face hub, and is used only if it is whole, and the files and libraries
that it was made of are the same. It may be deleted at any time.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from huggingface_hub import constants

from tooldecoding.errors import ModelError
from tooldecoding.files.manifest import digest, read_manifest, write_manifest

_MANIFEST: Final = "made_of.json"
_BESIDE: Final = ("*.json", "*.jinja", "*.model", "*.txt", "additional_chat_templates/*")
"""Files beside a GGUF file from which transformers may take something of the tokenizer."""


class KeptConversion:
    """The folder in which a part of a GGUF file is kept in another form.

    OSError if there is no such file.

    Parameters
    ----------
    file : Path
        The GGUF file.
    part : str
        What is made of it.
    with_neighbours : bool
        Whether other files of its folder count; in the hub's cache they change only with the folder's name.

    Attributes
    ----------
    folder : Path
        One for each part, path of a file and version of the libraries.
    """

    def __init__(self, file: Path, part: str, with_neighbours: bool) -> None:
        versions = [version(library) for library in ("transformers", "tokenizers")]
        name = digest([str(file.absolute()), part, versions])
        self.folder = Path(constants.HF_ASSETS_CACHE) / "tooldecoding" / "gguf" / name
        patterns = _BESIDE if with_neighbours else ()
        beside = [other for pattern in patterns for other in sorted(file.parent.glob(pattern)) if other.is_file()]
        self._made_of = [[f.name, found.st_size, found.st_mtime_ns] for f in (file, *beside) for found in [f.stat()]]

    def is_whole(self) -> bool:
        """Whether all that was written is there, and made of the files as they are now."""
        with suppress(ModelError, OSError):
            return read_manifest(self.folder / _MANIFEST, ModelError, "") == self._manifest(self.folder)
        return False

    def keep(self, save: Callable[[Path], Any], is_same: Callable[[Path], bool]) -> None:
        """Write the folder, whole or not at all, if what was saved can be read again as the same.

        OSError if it cannot be written.

        Parameters
        ----------
        save : callable
            Writes into a folder, which it makes.
        is_same : callable
            Whether what it has written there is what was made of the file.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self.folder.parent, ignore_cleanup_errors=True) as place:
            made, before = Path(place) / "made", Path(place) / "before"
            save(made)
            if not is_same(made):
                return
            write_manifest(made / _MANIFEST, self._manifest(made))
            with suppress(FileNotFoundError):
                self.folder.rename(before)
            made.rename(self.folder)

    def _manifest(self, folder: Path) -> dict[str, Any]:
        files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != _MANIFEST]
        sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in files}
        return {"made_of": self._made_of, "sizes": sizes}
