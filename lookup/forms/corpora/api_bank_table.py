"""API-Bank's table of tools, a CSV file, and its source text outside of a table.

A row documents its tool in a cell with source text (``api_info``); otherwise in a signature column: ``expressions``
contains ``Name(key: type, ...)``; ``input_parameters`` contains the same without the name, which is in the column 类名.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from lookup.errors import LiteralError, MisreadError
from lookup.forms.api_bank import find_assignments
from lookup.forms.form import TextForm, TextTool
from lookup.python.docstring import document
from lookup.python.signature import read_signature

_NAME_COLUMNS: Final = ("类名", "class_name", "class", "api_name", "name")
_SIGNATURE_COLUMNS: Final = ("expressions", "input_parameters")
# A quoted cell that begins with source text, and a line that may be the header of a table.
_SOURCE_CELL = re.compile(r'(?:^|,)"\s{0,9}(?:(?:description|input_parameters)[ \t]*=|class[ \t]+\w+)', re.MULTILINE)
_HEADER = re.compile(rf"^(?=[^\n]*,)(?:[^\n]*,)?(?:{'|'.join(_NAME_COLUMNS)})(?:,[^\n]*)?\r?$", re.MULTILINE)
_SIGNATURE = re.compile(r"\s*+([^\W\d][\w.]*+)?\s*+\(.*\)\s*", re.DOTALL)


def find(text: str) -> Iterator[TextTool]:
    """The tools of a text: assignments, then a CSV table that extends to the end of the text."""
    if "input_parameters" not in text and "expressions" not in text:
        return
    start = _table_start(text)
    if start is None:
        yield from find_assignments(text)
    else:
        yield from find_assignments(text[:start])
        yield from _find_rows(text, start)


def _table_start(text: str) -> int | None:
    source = _SOURCE_CELL.search(text)
    header = _HEADER.search(text, 0, source.start() if source else len(text))
    if source:
        return header.start() if header else text.rfind("\n", 0, source.start() + 1) + 1
    if header and any(column in header[0].strip("\ufeff\r").split(",") for column in _SIGNATURE_COLUMNS):
        return header.start()
    return None


def _find_rows(text: str, offset: int) -> Iterator[TextTool]:
    """The tools of a table that starts at ``offset``.

    The name is the cell under 类名, ``class``, ``api_name`` or ``name``; otherwise that of a signature ``Name(...)``.

    Raises
    ------
    MisreadError
        At a row that is not CSV, or whose documentation is malformed or has no name.
    """
    starts = [offset]

    def lines() -> Iterator[str]:
        for line in io.StringIO(text[offset:], newline=""):
            starts.append(starts[-1] + len(line))
            yield line

    rows = csv.reader(lines())
    columns: list[str] = []
    start = offset
    try:
        for row in rows:
            if columns:
                named = dict(zip(columns, row, strict=False))
                yield from (replace(tool, start=start, end=starts[-1]) for tool in _read_row(row, named, start))
            elif any("input_parameters" in cell and "=" in cell for cell in row):  # a table without a header
                yield from (replace(tool, start=start, end=starts[-1]) for tool in _read_row(row, {}, start))
            else:
                columns = [cell.strip("\ufeff ") for cell in row]
            start = starts[-1]
    except csv.Error as error:
        raise MisreadError(f"expected a CSV table: {error}", start) from None


def _read_row(row: list[str], named: dict[str, str], start: int) -> Iterator[TextTool]:
    signatures = [match for cell in row if (match := _SIGNATURE.fullmatch(cell))]
    name = next((named[c].strip() for c in _NAME_COLUMNS if named.get(c, "").strip()), None)
    name = name or next((match[1] for match in signatures if match[1]), None)
    sources = [cell for cell in row if "input_parameters" in cell and "=" in cell]
    signature = next((named[c] for c in _SIGNATURE_COLUMNS if _SIGNATURE.fullmatch(named.get(c, ""))), None)
    for source in sources:
        for found in _read_source(source, name, start):
            yield _noted(found, signature)
    if not sources and name and signature:
        yield _read_signature(name, signature, start)


def _read_source(cell: str, name: str | None, row_start: int) -> Iterator[TextTool]:
    try:
        yield from find_assignments(cell, name)
    except MisreadError as error:
        line = cell.count("\n", 0, error.position) + 1
        raise MisreadError(f"{error} (line {line} of the CSV cell)", row_start) from None


def _read_signature(name: str, cell: str, row_start: int) -> TextTool:
    try:
        signature = read_signature(cell, cell.index("("))
    except LiteralError as error:
        return TextTool(MisreadError(f"tool {name!r}: {error} of its signature", row_start), row_start, row_start)
    return TextTool(document(name, signature.parameters, signature.notes, ""), row_start, row_start)


def _noted(found: TextTool, signature: str | None) -> TextTool:
    """The tool, with a note if the signature next to its source has other keys."""
    if signature is None or isinstance(found.tool, MisreadError):
        return found
    try:
        keys = [p.key for p in read_signature(signature, signature.index("(")).parameters]
    except LiteralError:
        return found
    if set(keys) == {p.name for p in found.tool.parameters}:
        return found
    note = f"its signature has the keys {', '.join(keys) or 'none'}; the documentation's are taken"
    return replace(found, tool=replace(found.tool, notes=(*found.tool.notes, note)))


FORM: Final = TextForm("API-Bank assignments (input_parameters = {...}) and tables", find)
