"""When values are equal for JSON Schema, and which numbers are."""

import math
from fractions import Fraction
from typing import Any, Final, TypeGuard

_MAX_NUMBER: Final = 10**640  # larger ones cannot be read
_MAX_MEMBERS: Final = 100_000  # members of one value
_MAX_DEPTH: Final = 100  # levels of it


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number; ``True`` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def exact(value: float) -> Fraction:
    """A finite number as the shortest decimal that stands for it."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def identity(value: Any) -> Any:
    """A hashable key that is equal for values that JSON Schema takes to be equal: ``1`` and ``1.0``, not ``True``.

    A value that is too deep or too large, or that JSON cannot have, is equal to itself only.
    """
    found = _identity(value, [_MAX_MEMBERS], 0)
    return ("other", id(value)) if found is None else found


def is_plain(value: Any) -> bool:
    """Whether a value is one of JSON, neither too deep nor too large."""
    return _identity(value, [_MAX_MEMBERS], 0) is not None


def _identity(value: Any, left: list[int], depth: int) -> Any:
    """The identity of a value; ``None`` if it has none. ``left`` holds the number of further members."""
    if isinstance(value, bool) or value is None:
        return type(value).__name__, value
    if isinstance(value, str):
        return "string", value
    if isinstance(value, int | float):
        return ("number", exact(value)) if is_number(value) and abs(value) < _MAX_NUMBER else None
    if not isinstance(value, dict | list | tuple):
        return None
    left[0] -= len(value)
    if left[0] < 0 or depth >= _MAX_DEPTH:
        return None
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    found = [(key, _identity(member, left, depth + 1)) for key, member in pairs]
    if any(inner is None for _, inner in found):
        return None
    return ("object", frozenset(found)) if isinstance(value, dict) else ("array", tuple(inner for _, inner in found))
