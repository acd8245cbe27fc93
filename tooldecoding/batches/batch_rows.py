"""The rows of a batch that have no result yet, in groups."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Final

from lookup.duplicates import OnDuplicate
from tooldecoding.batches.batch_manifest import REMEDY
from tooldecoding.batches.batch_results import BatchResults
from tooldecoding.batches.row_index import RowIndex, Standing
from tooldecoding.batches.rows import BadRow, Entry, Row, RowReader, entries
from tooldecoding.batches.source import Source
from tooldecoding.chat.documentation import Documentation
from tooldecoding.errors import PromptError

_CHANGED: Final = "has changed since its result was written"


class BatchRows:
    """Reads a batch row by row, and checks it against results that stand.

    A file is read twice. The first pass looks at ids and digests alone: two rows of one id, changed rows and other
    templates show before any file is written and anything is decoded. Standard input, pipes and data sets on the hub
    can be read once: the same errors come when the row comes, and results that were written before stay; the row itself
    is not decoded. No more than a group of rows is held in memory.

    Parameters
    ----------
    source : Source
    documentation : Documentation or None
        For rows without ``tools``.
    on_duplicate : {"error", "rename"}
    results : BatchResults
    retry_failed : bool
        Whether rows with a failed result are decoded again.

    Attributes
    ----------
    kinds : set of str
        Kinds of the rows that were seen (``Entry.kind``).
    skipped : int
        Rows that had a result.

    Raises
    ------
    PromptError
        If there are no rows, two rows of one id, or rows that have changed since their results were written; if the
        source cannot be read, or cannot be read twice with ``retry_failed``; as ``BatchResults.demand_inputs``.
    """

    def __init__(
        self,
        source: Source,
        documentation: Documentation | None,
        on_duplicate: OnDuplicate,
        results: BatchResults,
        retry_failed: bool = False,
        looked: Callable[[int], None] = lambda count: None,
    ) -> None:
        self.kinds: set[str] = set()
        self.skipped = 0
        self._source = source
        self._again = source.again
        self._index: RowIndex = results.index
        self._place = results.path
        self._retry = retry_failed
        self._reader = RowReader(documentation, on_duplicate)
        self._templates: Mapping[str, str] = {}
        self._seen = 0
        self._changed = _Found()
        self._begun: dict[tuple[str, str], _Found] = {}
        self._entries = entries(source, self._index.equal_rows)
        if self._again:
            for entry in self._entries:
                self._see(entry)
                self._compare(entry)
                looked(1)
            self._index.begin_pass()
            self._entries = entries(source, self._index.equal_rows)
        elif retry_failed:
            raise PromptError(
                f"{source.origin}: --retry-failed takes a file: these rows come once, and which of them had failed "
                "must be known before"
            )
        first = next(self._entries, None)
        if first is None:
            raise _empty(source)
        self._entries = itertools.chain([first], self._entries)
        results.demand_inputs(self._index.failed if retry_failed else 0)
        self._demand_unchanged()

    @property
    def total(self) -> int | None:
        """Number of rows, if it is known."""
        return self._seen if self._again else self._source.total

    def demand_templates(self, templates: Mapping[str, str]) -> None:
        """PromptError if the prompt of a row with a result has another template now.

        Parameters
        ----------
        templates : mapping
            As ``row_templates`` returns them.
        """
        self._templates = templates
        for (kind, template), rows in self._begun.items():
            if templates[kind] != template:
                raise self._fault(
                    rows,
                    f"was begun with the template {template}, not {templates[kind]}; {REMEDY}, "
                    "or the same --template to go on",
                )

    def groups(self, size: int, skip: Callable[[int], None] = lambda count: None) -> Iterator[list[Row | BadRow]]:
        """Yield the rows without a result, ``size`` at a time; what they are is in the index before they are given.

        Parameters
        ----------
        skip : callable
            Called with a number of rows that are skipped.

        Raises
        ------
        PromptError
            If the source cannot be read on, or has changed since the first pass; for a source that is read once, as
            the class does.
        """
        group: list[Entry] = []
        read = 0
        for entry in self._entries:
            read += 1
            if self._take(entry):
                group.append(entry)
            else:
                self.skipped += 1
                skip(1)
            if len(group) == size:
                yield self._read(group)
                group = []
        if self._again and read < self._seen:
            raise self._changed_meanwhile()
        if group:
            yield self._read(group)

    def _take(self, entry: Entry) -> bool:
        """Check a row that comes to be decoded; returns whether it has no result yet."""
        if self._again:
            done = self._index.has_result(entry)
            if done is None:
                raise self._changed_meanwhile()
            return not done
        self._see(entry)
        standing = self._compare(entry)
        self._demand_unchanged()
        self.demand_templates(self._templates)
        return standing is None

    def _read(self, group: list[Entry]) -> list[Row | BadRow]:
        if not self._again:
            self._index.keep(group, self._templates)
        return [self._reader.read(entry) for entry in group]

    def _see(self, entry: Entry) -> None:
        _see(entry, self._index, self._source)
        self._seen += 1
        if entry.kind:
            self.kinds.add(entry.kind)

    def _compare(self, entry: Entry) -> Standing | None:
        """Note how a row differs from what its result is of; returns that, if it has a result that stays."""
        standing = self._index.standing(entry.id)
        if standing is None or (standing.failed and self._retry):
            return None
        if standing.digest != entry.digest:
            self._changed.add(entry, standing)
        elif entry.kind and standing.template:
            self._begun.setdefault((entry.kind, standing.template), _Found()).add(entry, standing)
        return standing

    def _demand_unchanged(self) -> None:
        if self._changed.count:
            retry = "--retry-failed decodes again what had failed; or "
            raise self._fault(
                self._changed,
                f"{_CHANGED}; {retry if self._changed.all_failed and self._again else ''}{REMEDY}, "
                "or give changed rows another id",
            )

    def _fault(self, rows: "_Found", what: str) -> PromptError:
        return PromptError(f"{self._place}: {rows} {what}")

    def _changed_meanwhile(self) -> PromptError:
        return PromptError(f"{self._source.origin}: the file has changed while it was read; the same command goes on")


def read_batch(
    source: Source, documentation: Documentation | None, on_duplicate: OnDuplicate = "error"
) -> list[Row | BadRow]:
    """Return all rows of a batch; PromptError if there are none, or two of one id."""
    rows = []
    with closing(RowIndex(None)) as index:
        reader = RowReader(documentation, on_duplicate)
        for entry in entries(source, index.equal_rows):
            _see(entry, index, source)
            rows.append(reader.read(entry))
    if not rows:
        raise _empty(source)
    return rows


def _see(entry: Entry, index: RowIndex, source: Source) -> None:
    earlier = index.see(entry)
    if earlier is not None:
        raise PromptError(f"{entry.place}: two rows of one id: {entry.id!r} stands at {source.place(earlier)} already")


def _empty(source: Source) -> PromptError:
    return PromptError(f"{source.origin}: expected rows, found none")


class _Found:
    """Rows of which something is to be said: the first, and how many there are."""

    def __init__(self) -> None:
        self.count = 0
        self.all_failed = True
        self._first = ""

    def add(self, entry: Entry, standing: Standing) -> None:
        """Take one more row."""
        self._first = self._first or f"row {entry.id!r} ({entry.place})"
        self.count += 1
        self.all_failed &= standing.failed

    def __str__(self) -> str:
        return self._first + (f" (and {self.count - 1} more)" if self.count > 1 else "")
