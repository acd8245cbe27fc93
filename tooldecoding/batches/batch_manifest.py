"""The manifest beside the results of a batch: what they are results of.

``OUT.manifest.json`` is written before the first result, and names every row that has one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import short_repr
from tooldecoding.files.manifest import FREE, demand_settings, digest, read_manifest, write_manifest
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.prompts.documentation import Documentation

FORMAT: Final = "tooldecoding batch 2"
REMEDY: Final = "choose another --out"

_ELSEWHERE: Final = frozenset({"batch", "prompt", "dialogue", "tools", "out", "model", "dtype", "template"})
"""Options that the manifest has in another way: content of files, the type of the loaded model, each row's template."""

_FREE: Final = FREE | {"prompt_cache_mb", "json", "show_orders"}


@dataclass(frozen=True)
class ManifestRow:
    """A row of the batch.

    Attributes
    ----------
    id : str or int
    line : int or None
        From 1; None for a row that has left the batch and still has a result.
    digest : str
    template : str or None
        None for a row that cannot be decoded.
    """

    id: str | int
    line: int | None
    digest: str
    template: str | None


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
    rows : sequence of ManifestRow
    """

    inputs: Inputs
    model: Any
    rows: Sequence[ManifestRow]

    @property
    def digests(self) -> dict[str | int, str]:
        """Id -> digest of each row."""
        return {row.id: row.digest for row in self.rows}

    def write(self, path: Path) -> None:
        """Write the file; PromptError if it cannot be written."""
        rows = [asdict(row) for row in self.rows]
        manifest = {"format": FORMAT, **asdict(self.inputs), "model": self.model, "rows": rows}
        try:
            write_manifest(path, manifest)
        except OSError as error:
            raise PromptError(f"{path}: cannot be written: {error.strerror}") from None

    def demand_inputs(self, place: Path, now: Inputs) -> None:
        """PromptError if the batch was begun with other options or documentation."""
        demand_settings(place, self.inputs.settings, now.settings, PromptError, "this batch")
        if self.inputs.tools != now.tools:
            raise PromptError(f"{place}: this batch was begun with other documentation in --tools; {REMEDY}")

    def demand_rows(self, place: Path, rows: Iterable[Row | BadRow], failed: Mapping[str | int, bool]) -> None:
        """PromptError if a row has changed; ``failed`` tells whether its result is an error."""
        digests = self.digests
        changed = [row for row in rows if row.digest != digests[row.id]]
        if changed:
            retry = "--retry-failed decodes again what had failed; or "
            raise PromptError(
                f"{place}: {_named(changed)} has changed since its result was written; "
                f"{retry if all(failed[row.id] for row in changed) else ''}choose another --out, "
                "or give changed rows another id"
            )

    def demand_templates(self, place: Path, rows: Iterable[Row | BadRow], templates: Mapping[str | int, str]) -> None:
        """PromptError if the prompt of a row has another template now."""
        there = {row.id: row.template for row in self.rows}
        changed = [row for row in rows if there[row.id] != templates.get(row.id)]
        if changed:
            first = changed[0].id
            raise PromptError(
                f"{place}: {_named(changed)} was begun with the template {there[first]}, not {templates.get(first)}; "
                f"{REMEDY}, or the same --template to go on"
            )

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
    rows = there.get("rows")
    if not isinstance(rows, list) or not all(map(_is_row, rows)) or not {"settings", "tools", "model"} <= there.keys():
        raise PromptError(f"{path}: this manifest is not whole; {REMEDY}")
    read = [ManifestRow(row["id"], row.get("line"), row["digest"], row["template"]) for row in rows]
    return BatchManifest(Inputs(there["settings"], there["tools"]), there["model"], read)


def _is_row(row: Any) -> bool:
    # by hand: pydantic refuses ids with lone surrogates, which JSON may hold
    if not isinstance(row, dict) or "template" not in row:
        return False
    return isinstance(row.get("id"), str | int) and isinstance(row.get("digest"), str)


def _named(rows: Sequence[Row | BadRow]) -> str:
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return f"row {rows[0].id!r} in line {rows[0].line} of the batch{more}"
