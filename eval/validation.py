"""Checks JSON rows against pydantic models. Messages name place, field, what was expected and what was found."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from eval.errors import EvalError
from tooldecoding.files.json_lines import short_repr

Model = TypeVar("Model", bound=BaseModel)


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
        elif field:
            problem = f"expected {field!r} to be {expected}, found {short_repr(first['input'])}"
        else:
            problem = f"expected {expected}"
        raise EvalError(f"{place}: {problem}{'; ' if hint else ''}{hint}") from None
