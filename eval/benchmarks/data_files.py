"""Reads the files of benchmarks. What is wrong with one is an EvalError with file and line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.errors import EvalError
from eval.validation import read_rows
from lookup.dictionary import LookupDictionary
from lookup.errors import ToolDecodingError
from lookup.text.text_file import read_text
from tooldecoding.chat.documentation import Documentation
from tooldecoding.files.json_lines import read_json, short_repr

Entry = tuple[str, dict[str, Any]]
"""Place of a row, for messages, and the row."""


def read_json_file(path: Path) -> Any:
    """Return the one JSON value of a file."""
    text = read_text(path, EvalError)
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise EvalError(f"{path}: expected one JSON value: {error}") from None


def read_json_rows(path: Path) -> list[tuple[str, Any]]:
    """Return the elements of a file's JSON list, each with its place; there must be one."""
    rows = read_json_file(path)
    if not isinstance(rows, list) or not rows:
        raise EvalError(f"{path}: expected a JSON list of rows, found {'an empty one' if rows == [] else 'none'}")
    return [(f"{path}, row {number}", row) for number, row in enumerate(rows, start=1)]


def read_lines(path: Path) -> list[Entry]:
    """Return the JSON objects of a file that has one a line."""
    return list(read_rows(path, "get the data again"))


def read_entries(path: Path) -> dict[str, Entry]:
    """Return id -> JSON object of a file that has one a line; there must be one, and no id twice."""
    entries: dict[str, Entry] = {}
    for place, row in read_lines(path):
        key = row.get("id")
        if not isinstance(key, str):
            raise EvalError(f"{place}: expected a text 'id', found {short_repr(key)}")
        if key in entries:
            raise EvalError(f"{place}: the id {key!r} stands at {entries[key][0]} already")
        entries[key] = place, row
    if not entries:
        raise EvalError(f"{path}: expected rows, one JSON object a line, found an empty file")
    return entries


def read_answered(questions: Path, answers: Path) -> list[tuple[Entry, Entry]]:
    """Return each question of a file with the answer that has its id in another; both have the same ids."""
    asked, answered = read_entries(questions), read_entries(answers)
    if alone := sorted(asked.keys() ^ answered.keys()):
        raise EvalError(f"{questions} and {answers} do not belong together: {listed(alone)} in one alone")
    return [(entry, answered[key]) for key, entry in asked.items()]


def documentation_of(tools: Sequence[Mapping[str, Any]], place: str) -> Documentation:
    """Read documentation. The second of two tools of one name gets another name: scorers only know the first."""
    if not tools:
        return Documentation(tools, LookupDictionary(()))
    try:
        return Documentation.read(tools, place, "rename")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"{', '.join(names[:10])}{more}" if names else "nothing"
