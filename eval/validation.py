"""Checks JSON rows against pydantic models. Messages name place, field, what was expected and what was found."""

import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from eval.errors import EvalError
from lookup.text.text_file import demand_file
from tooldecoding.cli.console import shown
from tooldecoding.files.json_lines import read_row, short_repr

Model = TypeVar("Model", bound=BaseModel)

Text = Annotated[str, AfterValidator(shown)]
"""A text in which control characters, and surrogates, which data frames refuse, become escapes."""

_LONGEST: Final = 64 * 1024 * 1024
"""Characters of a line."""


def validated(model: type[Model], row: object, place: str, hint: str = "") -> Model:
    """Return ``row`` as an instance of ``model``, without any conversion of types.

    Parameters
    ----------
    place : str
        File and line, for the message.
    hint : str
        What to do about a malformed row; ends the message.

    Raises
    ------
    EvalError
        For the first field that is missing or wrong.
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

    Raises
    ------
    EvalError
        If the file cannot be read, or a line holds no JSON object; ends with ``hint`` if the file ends within the line.
    """
    demand_file(path, EvalError)
    try:
        unpack = gzip.open if path.suffix == ".gz" else open
        with unpack(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(iter(partial(file.readline, _LONGEST), ""), start=1):
                if line.strip():
                    yield f"{path}:{number}", _read(line, number, path, hint)
    except (OSError, EOFError, zlib.error) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        raise EvalError(f"{path}: expected UTF-8: {error.reason}") from None


def _read(line: str, number: int, path: Path, hint: str) -> dict[str, Any]:
    try:
        return read_row(line.rstrip("\n"), number, str(path), EvalError)
    except EvalError as error:
        if line.endswith("\n"):
            raise
        raise EvalError(f"{error}; the file ends within this line: {hint}") from None
