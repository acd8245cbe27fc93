"""The manifest beside the results of a batch: what they are results of.

``OUT.manifest.json`` is written before the first result. What each result is of stands in the index of rows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tooldecoding.chat.documentation import Documentation
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import short_repr
from tooldecoding.files.manifest import FREE, demand_settings, digest, read_manifest, write_manifest
from tooldecoding.options.decode_command import DecodeCommand

FORMAT: Final = "tooldecoding batch 3"
REMEDY: Final = "choose another --out"

_ELSEWHERE: Final = frozenset({"batch", "prompt", "dialogue", "tools", "out", "model", "dtype", "template"})
"""Options that the manifest has in another way: content of files, the type of the loaded model, each row's template."""

_FREE: Final = FREE | {"prompt_cache_mb", "json", "show_orders"}


@dataclass(frozen=True)
class Inputs:
    """What results depend on beside model and rows.

    Attributes
    ----------
    settings : mapping
        The options that change results.
    tools : str or None
        Digest of the documentation in ``--tools``.
    """

    settings: Mapping[str, Any]
    tools: str | None

    @classmethod
    def of(cls, options: DecodeCommand, documentation: Documentation | None) -> "Inputs":
        """Return those of one decode."""
        settings = {name: value for name, value in options.to_json().items() if name not in _ELSEWHERE | _FREE}
        return cls(settings, None if documentation is None else digest(documentation.source))


@dataclass(frozen=True)
class BatchManifest:
    """A manifest.

    Attributes
    ----------
    inputs : Inputs
    model : mapping
        The model's name, and what ``identify`` returns.
    """

    inputs: Inputs
    model: Any

    def write(self, path: Path) -> None:
        """Write the file; PromptError if it cannot be written."""
        try:
            write_manifest(path, {"format": FORMAT, **asdict(self.inputs), "model": self.model})
        except OSError as error:
            raise PromptError(f"{path}: cannot be written: {error.strerror}") from None

    def demand_inputs(self, place: Path, now: Inputs) -> None:
        """PromptError if the batch was begun with other options or documentation."""
        demand_settings(place, self.inputs.settings, now.settings, PromptError, "this batch")
        if self.inputs.tools != now.tools:
            raise PromptError(f"{place}: this batch was begun with other documentation in --tools; {REMEDY}")

    def demand_model(self, place: Path, now: Mapping[str, str]) -> None:
        """PromptError if the batch was begun with another model."""
        there = self.model if isinstance(self.model, dict) else {}
        other = [part for part in ("dtype", "weights", "config", "tokenizer") if there.get(part) != now[part]]
        if other:
            begun, wanted = (f"{short_repr(of.get('name'))} in {of.get('dtype')}" for of in (there, now))
            raise PromptError(
                f"{place}: this batch was begun with the model {begun}, not {wanted}: other {', '.join(other)}; "
                f"{REMEDY}, or the same model to go on"
            )


def read_batch_manifest(path: Path) -> BatchManifest | None:
    """Return the manifest in a file; None if there is no file; PromptError if it holds anything else."""
    if not path.exists():
        return None
    there = read_manifest(path, PromptError, REMEDY)
    if there.get("format") != FORMAT:
        found = short_repr(there.get("format"))
        raise PromptError(f"{path}: expected a manifest of the format {FORMAT!r}, found {found}; {REMEDY}")
    if not {"settings", "tools", "model"} <= there.keys():
        raise PromptError(f"{path}: this manifest is not whole; {REMEDY}")
    return BatchManifest(Inputs(there["settings"], there["tools"]), there["model"])
