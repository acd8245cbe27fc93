"""Which rows a run has seen, and which have a result: in SQLite files, so that memory does not grow with the batch."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tooldecoding.batches.rows import Entry
from tooldecoding.errors import PromptError
from tooldecoding.files.result_file import Id

_APPLICATION: Final = 0x746F6F6C
"""Marks the file as an index of rows."""

_OF_THE_RUN: Final = """
PRAGMA main.journal_mode = OFF;
PRAGMA main.synchronous = OFF;
CREATE TABLE seen (key TEXT PRIMARY KEY, number INTEGER, digest TEXT, kind TEXT) WITHOUT ROWID;
CREATE TABLE equal (digest TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
CREATE TABLE results (key TEXT PRIMARY KEY, failed INTEGER) WITHOUT ROWID;
"""
_KEPT: Final = "CREATE TABLE kept.rows (key TEXT PRIMARY KEY, digest TEXT NOT NULL, template TEXT) WITHOUT ROWID"
_TAKE: Final = (
    "ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, template = excluded.template "
    "WHERE digest IS NOT excluded.digest OR template IS NOT excluded.template"
)
_IN_BOTH: Final = "FROM results JOIN seen USING (key) WHERE failed"


class Standing(NamedTuple):
    """What a result that stands is a result of.

    Attributes
    ----------
    digest : str
        Of the row as it was decoded.
    template : str or None
        Of its prompt.
    failed : bool
        Whether the result is an error.
    """

    digest: str
    template: str | None
    failed: bool


class RowIndex:
    """The rows of a run and its results, by id.

    What is found out about a run lies in a temporary file. Digest and template of every row that may have a result lie
    in the file ``path``, which stays. They are written before the row's result.

    Parameters
    ----------
    path : Path or None
        A file that an earlier run left, or a new one; None if no results are kept.

    Attributes
    ----------
    there : bool
        Whether an earlier run left the file.

    Raises
    ------
    PromptError
        From every method as well: if the file is damaged, cannot be written or is anything else.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        # one thread at a time, but not always the same: results may come from another one
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._base.executescript(_OF_THE_RUN)
        self.there = False
        if path is not None and path.exists():
            self._attach(path)

    def close(self) -> None:
        """Close both files; the temporary one is gone then."""
        self._base.close()

    # what an earlier run left

    def __contains__(self, identifier: object) -> bool:
        """Tell whether the row may have a result."""
        return self.there and self._one("SELECT 1 FROM kept.rows WHERE key = ?", _key(identifier)) is not None

    def __iter__(self) -> Iterator[Id]:
        """Yield the ids of all rows that may have a result."""
        if self.there:
            yield from (json.loads(key) for (key,) in self._run("SELECT key FROM kept.rows"))

    def __len__(self) -> int:
        return self._count("FROM kept.rows") if self.there else 0

    # results that stand in the file of results

    def add_result(self, identifier: Id, failed: bool) -> None:
        """Take the result of a row."""
        self._run("INSERT OR REPLACE INTO results VALUES (?, ?)", _key(identifier), failed)

    def standing(self, identifier: Id) -> Standing | None:
        """Return what the row's result is of; None if it has no result."""
        if not self.there:
            return None
        found = self._one(
            "SELECT digest, template, failed FROM results JOIN kept.rows USING (key) WHERE key = ?", _key(identifier)
        )
        return None if found is None else Standing(found[0], found[1], bool(found[2]))

    @property
    def results(self) -> int:
        """Number of results."""
        return self._count("FROM results")

    @property
    def failed(self) -> int:
        """Number of results that are errors of rows of this batch."""
        return self._count(_IN_BOTH)

    @property
    def left(self) -> int:
        """Number of results whose rows this batch does not have."""
        return self._count("FROM results WHERE key NOT IN (SELECT key FROM seen)")

    def has_failed(self, identifier: Id) -> bool:
        """Tell whether a row of this batch has an error for a result."""
        return self._one(f"SELECT 1 {_IN_BOTH} AND key = ?", _key(identifier)) is not None

    def forget_failed(self) -> None:
        """Forget the results that are errors of rows of this batch."""
        self._run(f"DELETE FROM results WHERE key IN (SELECT key {_IN_BOTH})")

    # rows of this batch

    def equal_rows(self, digest: str) -> int:
        """Count a row without an id; returns how many of this digest there are now."""
        return int(
            self._one(
                "INSERT INTO equal VALUES (?, 1) ON CONFLICT (digest) DO UPDATE SET count = count + 1 RETURNING count",
                digest,
            )[0]
        )

    def begin_pass(self) -> None:
        """Count rows without ids from the beginning."""
        self._run("DELETE FROM equal")

    def see(self, entry: Entry) -> int | None:
        """Take a row of the batch; returns the number of an earlier row with its id, if there is one."""
        key = _key(entry.id)
        try:
            self._base.execute("INSERT INTO seen VALUES (?, ?, ?, ?)", (key, entry.number, entry.digest, entry.kind))
        except sqlite3.IntegrityError:
            return int(self._one("SELECT number FROM seen WHERE key = ?", key)[0])
        except sqlite3.Error as error:
            raise self._fault(error) from None
        return None

    def has_result(self, entry: Entry) -> bool | None:
        """Tell whether a row that was seen has a result; None if it was not seen as it is."""
        found = self._one(
            "SELECT digest, results.key FROM seen LEFT JOIN results USING (key) WHERE seen.key = ?", _key(entry.id)
        )
        return found[1] is not None if found and found[0] == entry.digest else None

    # what a later run needs

    def begin(self, templates: Mapping[str, str]) -> None:
        """Keep the rows that were seen, and those that have a result; the file is made if there is none.

        Parameters
        ----------
        templates : mapping
            Kind of a row, as ``Entry.kind`` -> template of its prompt.
        """
        if self._path is None:
            return
        if not self.there:
            self._run("ATTACH ? AS kept", str(self._path))
        self._run("BEGIN IMMEDIATE")
        if not self.there:
            self._run(f"PRAGMA kept.application_id = {_APPLICATION}")
            self._run(_KEPT)
        self._run("DELETE FROM kept.rows WHERE key NOT IN (SELECT key FROM results)")
        cases = "".join(" WHEN ? THEN ?" for _ in templates)
        values = [text for pair in templates.items() for text in pair]
        template = f"CASE kind{cases} END" if templates else "NULL"
        self._run(f"INSERT INTO kept.rows SELECT key, digest, {template} FROM seen WHERE true {_TAKE}", *values)
        self._run("COMMIT")
        self.there = True

    def keep(self, entries: Iterable[Entry], templates: Mapping[str, str]) -> None:
        """Keep more rows, after ``begin``."""
        if self._path is None:
            return
        self._run("BEGIN IMMEDIATE")
        for entry in entries:
            template = templates.get(entry.kind) if entry.kind else None
            self._run(f"INSERT INTO kept.rows VALUES (?, ?, ?) {_TAKE}", _key(entry.id), entry.digest, template)
        self._run("COMMIT")

    def _attach(self, path: Path) -> None:
        self._run("ATTACH ? AS kept", str(path))
        if self._count("FROM kept.sqlite_master"):
            if self._one("PRAGMA kept.application_id") != (_APPLICATION,):
                raise PromptError(f"{path}: expected an index of rows; choose another --out")
            self.there = True
        else:
            self._run("DETACH kept")

    def _count(self, clause: str) -> int:
        return int(self._one(f"SELECT count(*) {clause}")[0])

    def _one(self, statement: str, *values: Any) -> Any:
        return self._run(statement, *values).fetchone()

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as error:
            raise self._fault(error) from None

    def _fault(self, error: sqlite3.Error) -> PromptError:
        return PromptError(f"{self._path or 'the temporary index of rows'}: {error}; choose another --out")


def _key(identifier: object) -> str:
    """Return the id as JSON: 1 and "1" differ, and SQLite takes no lone surrogates."""
    return json.dumps(identifier)
