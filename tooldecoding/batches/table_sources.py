"""Rows from tables: Parquet files, and data sets on the hub."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lookup.text.text_file import demand_file
from tooldecoding.batches.cells import table_row
from tooldecoding.batches.source import COLUMNS, CONTENTS, SourceRow
from tooldecoding.errors import PromptError
from tooldecoding.files.hub import HUB_PREFIX, hub_errors

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

PARQUET: Final = ".parquet"
_AT_ONCE: Final = 64
"""Rows that are taken from Arrow together."""
_BUFFER_BYTES: Final = 1 << 20

_DATA_SET: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:/(?P<subset>[\w.-]+))?(?::(?P<split>[\w.+-]+))?")


@dataclass(frozen=True)
class _Table:
    origin: str

    def place(self, number: int) -> str:
        """Return the place of a row."""
        return f"{self.origin}: row {number}"


class ParquetRows(_Table):
    """Rows of a Parquet file; nested values may be lists and structs, or JSON in texts."""

    again: Final = True

    @property
    def total(self) -> int:
        """As the file says."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def rows(self) -> Iterator[SourceRow]:
        """Yield all rows; columns that mean nothing to a batch are not read."""
        number = 0
        with self._open() as file:
            columns = _known(file.schema_arrow.names, self.origin)
            try:
                for batch in file.iter_batches(_AT_ONCE, columns=columns, use_threads=False):
                    for row in batch.to_pylist(maps_as_pydicts="strict"):
                        number += 1
                        yield table_row(number, self.place(number), row)
            except (OSError, ValueError, KeyError) as error:
                raise PromptError(f"{self.origin}: damaged Parquet file: {_said(error)}") from None

    def _open(self) -> "ParquetFile":
        from pyarrow.parquet import ParquetFile

        demand_file(Path(self.origin), PromptError)
        try:
            # with a buffer, or a whole row group would be read at once
            return ParquetFile(self.origin, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except (OSError, ValueError) as error:
            raise PromptError(f"{self.origin}: damaged Parquet file: {_said(error)}") from None


class HubRows(_Table):
    """Rows of a data set on the hub, streamed by ``datasets``; its code, if it has any, is not run.

    Parameters
    ----------
    origin : str
        ``hub:OWNER/NAME``, ``hub:OWNER/NAME:SPLIT`` or ``hub:OWNER/NAME/SUBSET:SPLIT``. Without a split, there must be
        one alone.
    """

    again: Final = False

    @property
    def total(self) -> int | None:
        """As the data set's page says."""
        splits = self._data.info.splits or {}
        split = splits.get(str(self._data.split))
        return split.num_examples or None if split else None

    def rows(self) -> Iterator[SourceRow]:
        """Yield all rows; columns that mean nothing to a batch are not read."""
        import datasets

        data = self._data
        if data.column_names is not None:
            data = data.select_columns(_known(data.column_names, self.origin))
        try:
            for number, row in enumerate(data, start=1):
                yield table_row(number, self.place(number), row)
        except (datasets.exceptions.DatasetsError, *hub_errors()) as error:
            raise self._unreadable(error) from None

    @cached_property
    def _data(self) -> Any:
        import datasets

        asked = _DATA_SET.fullmatch(self.origin.removeprefix(HUB_PREFIX))
        if not asked:
            raise PromptError(
                f"{self.origin}: expected {HUB_PREFIX}OWNER/NAME, {HUB_PREFIX}OWNER/NAME:SPLIT or "
                f"{HUB_PREFIX}OWNER/NAME/SUBSET:SPLIT"
            )
        try:
            data = datasets.load_dataset(asked["name"], asked["subset"], split=asked["split"], streaming=True)
        except (datasets.exceptions.DatasetsError, *hub_errors()) as error:
            raise self._unreadable(error) from None
        if asked["split"] is None:
            if len(data) != 1:
                raise PromptError(
                    f"{self.origin}: name one of its splits, as in {self.origin}:{next(iter(data))}; "
                    f"there are {', '.join(data)}"
                )
            [data] = data.values()
        return data

    def _unreadable(self, error: Exception) -> PromptError:
        return PromptError(f"{self.origin}: cannot be read: {_said(error)}")


def _said(error: Exception) -> str:
    """Return an error's message in one line."""
    return f"{' '.join(str(error).split()) or type(error).__name__:.300}"


def _known(columns: Sequence[str], origin: str) -> list[str]:
    """Return the columns that mean something; PromptError if no row can have content."""
    if not set(CONTENTS) & set(columns):
        wanted, found = ", ".join(map(repr, CONTENTS)), ", ".join(map(repr, columns))
        raise PromptError(f"{origin}: expected one of the columns {wanted}, found {found:.200}")
    return [name for name in COLUMNS if name in columns]
