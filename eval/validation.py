"""Checks JSON rows against pydantic models. Messages name place, field, what was expected and what was found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from eval.errors import EvalError
from lookup.text.text_file import demand_file
from tooldecoding.batches.sources import json_rows
from tooldecoding.cli.console import shown
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import short_repr

Model = TypeVar("Model", bound=BaseModel)

Text = Annotated[str, AfterValidator(shown)]
"""A text in which control characters, and surrogates, which data frames refuse, become escapes."""


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
        for row in json_rows(str(path)):
            if row.error:
                torn = not str(row.raw).endswith("\n")
                raise EvalError(row.error + f"; the file ends within this line: {hint}" * torn)
            yield row.place, dict(row.columns)
    except PromptError as error:
        raise EvalError(str(error)) from None
