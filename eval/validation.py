"""Reads data files, and checks their rows against pydantic models.

What is wrong is an EvalError: file and line, field, what was expected and what was found.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from eval.errors import EvalError
from lookup.dictionary import LookupDictionary
from lookup.documents.text.text_file import demand_file, read_text
from lookup.errors import ToolDecodingError
from tooldecoding.batches.row_sources import json_rows
from tooldecoding.chat.documentation import Documentation
from tooldecoding.cli.console import shown
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import read_json, short_repr

Model = TypeVar("Model", bound=BaseModel)

Text = Annotated[str, AfterValidator(shown)]
"""A text in which control characters, and surrogates, which data frames refuse, become escapes."""


def validated(model: type[Model], row: object, place: str, hint: str = "") -> Model:
    """Return ``row`` as an instance of ``model``, without any conversion of types.

    EvalError for the first field that is missing or wrong.

    Parameters
    ----------
    place : str
        File and line, for the message.
    hint : str
        What to do about a malformed row; ends the message.
    """
    try:
        return model.model_validate(row, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        if first["type"] == "missing":
            problem = f"expected {field!r}, found none"
        elif not field:
            problem = f"expected {expected}"
        elif expected == first["msg"]:  # "String should match …", "Extra inputs are not permitted"
            problem = f"expected {field!r} otherwise: {expected}"
        else:
            problem = f"expected {field!r} to be {expected}, found {short_repr(first['input'])}"
        raise EvalError(f"{place}: {problem}{'; ' if hint else ''}{hint}") from None


def read_rows(path: Path, hint: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and the object of each line of a JSON-lines file, line by line: candidates make files large.

    A file ``.gz`` is unpacked.

    EvalError if the file cannot be read, or a line holds no JSON object; ends with ``hint`` if the file ends within the
    line.
    """
    demand_file(path, EvalError)
    try:
        for row in json_rows(str(path)):
            if row.error:
                torn = not str(row.raw).endswith("\n")
                raise EvalError(row.error + f"; the file ends within this line: {hint}" * torn)
            yield row.place, dict(row.columns)
    except PromptError as error:
        raise EvalError(str(error)) from None


Entry = tuple[str, dict[str, Any]]
"""Place of a row, for messages, and the row."""


def read_json_rows(path: Path) -> list[tuple[str, Any]]:
    """Return the elements of a file's JSON list, each with its place; there must be one."""
    text = read_text(path, EvalError)
    try:
        rows = read_json(text)
    except (ValueError, RecursionError) as error:
        raise EvalError(f"{path}: expected one JSON value: {error}") from None
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
