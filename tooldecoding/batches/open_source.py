"""Which source a name means."""

from collections.abc import Iterator

from tooldecoding.batches.source import Source
from tooldecoding.batches.table_sources import PARQUET, HubRows, ParquetRows
from tooldecoding.batches.text_sources import GZIP, CsvRows, JsonLines
from tooldecoding.files.hub import HUB_PREFIX


def open_source(name: str) -> Source:
    """Return the rows of a batch.

    Parameters
    ----------
    name : str
        ``hub:OWNER/NAME`` with a split behind a colon; a file ending in ``.parquet`` or ``.csv``; any other file of
        JSON lines; ``-`` for JSON lines on standard input. Texts may be compressed (``.gz``).
    """
    if name.startswith(HUB_PREFIX):
        return HubRows(name)
    if name.lower().endswith(PARQUET):
        return ParquetRows(name)
    return (CsvRows if name.lower().removesuffix(GZIP).endswith(".csv") else JsonLines)(name)


def needed_packages(name: str, out: str | None) -> Iterator[str]:
    """Yield the packages of the extra ``batch`` that reading ``name`` and writing ``out`` takes."""
    if name.startswith(HUB_PREFIX):
        yield "datasets"
    if name.lower().endswith(PARQUET) or (out or "").lower().endswith(PARQUET):
        yield "pyarrow"
