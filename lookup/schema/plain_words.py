"""The words of texts, numbers and constants of several schemas that hold together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from lookup.schema.negation import Refused
from lookup.schema.nodes import Numbers, Texts
from lookup.schema.number_range import common_multiple
from lookup.schema.words import count, exact, is_number, number, text

Plain = list[tuple[Mapping[Any, Any], Mapping[str, Any]]]
"""Schemas that are objects, each with its resource."""

_REFUSED: Final = {"pattern": Refused.PATTERN, "format": Refused.FORMAT}


def given_values(schema: Mapping[Any, Any]) -> Sequence[Any] | None:
    """The values of an enum or constant; ``None`` without one."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list | tuple) else None


def texts_of(plain: Plain) -> Texts:
    """The texts that schemas allow together."""
    wanted: dict[str, list[tuple[str, bool]]] = {"pattern": [], "format": []}
    for schema, _ in plain:
        for word, refused in _REFUSED.items():
            if (written := text(schema, word)) is not None:
                wanted[word].append((written, True))
            if refused in schema:
                wanted[word].append((schema[refused], False))
    mosts = [most for schema, _ in plain if (most := count(schema, "maxLength")) is not None]
    excluded = [v for schema, _ in plain for v in schema.get(Refused.VALUES, ()) if isinstance(v, str)]
    return Texts(
        tuple(dict.fromkeys(wanted["pattern"])),
        tuple(dict.fromkeys(wanted["format"])),
        max((count(schema, "minLength") or 0 for schema, _ in plain), default=0),
        min(mosts, default=None),
        tuple(dict.fromkeys(excluded)),
    )


def numbers_of(plain: Plain, integer: bool) -> Numbers:
    """The numbers that schemas allow together."""
    found = Numbers(integer)
    for schema, _ in plain:
        low, high = number(schema, "minimum"), number(schema, "maximum")
        found = _raised(found, low, schema.get("exclusiveMinimum") is True)
        found = _raised(found, number(schema, "exclusiveMinimum"), True)
        found = _lowered(found, high, schema.get("exclusiveMaximum") is True)
        found = _lowered(found, number(schema, "exclusiveMaximum"), True)
        if step := number(schema, "multipleOf"):
            step = abs(step)
            found = replace(found, step=step if found.step is None else common_multiple(found.step, step))
        numbers = list(filter(is_number, schema.get(Refused.VALUES, ())))
        if numbers:
            found = replace(found, excluded=found.excluded | set(map(exact, numbers)))
    return found


def _raised(numbers: Numbers, low: Fraction | None, is_open: bool) -> Numbers:
    if low is None or (numbers.low is not None and (low, is_open) <= (numbers.low, numbers.low_open)):
        return numbers
    return replace(numbers, low=low, low_open=is_open)


def _lowered(numbers: Numbers, high: Fraction | None, is_open: bool) -> Numbers:
    if high is None or (numbers.high is not None and (-high, is_open) <= (-numbers.high, numbers.high_open)):
        return numbers
    return replace(numbers, high=high, high_open=is_open)
