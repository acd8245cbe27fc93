"""Check whether a Python value has the documented type, and decide which values are the same vote."""

from collections.abc import Hashable
from typing import Any

from lookup.dictionary import ParameterSpec
from lookup.schema.value_schema import schema_of


class TypeCheckError(ValueError):
    """A value without the documented type. The message says what was expected and what was found."""


def check_value(value: Any, spec: ParameterSpec) -> Any:
    """The value in its documented type: an int becomes a float, and a list becomes a tuple, if that is documented.

    The schema of the parameter decides: an enum is stronger than a type that none of its members has. The documented
    default of a parameter is valid beside it, see ``ParameterSpec.always_allowed``.

    TypeCheckError if the value has another type, is not a member of the enum, or breaks the schema.
    """
    try:
        return schema_of(spec).check(value)
    except ValueError as error:
        for default in spec.always_allowed:
            if vote_identity(default) == vote_identity(value):
                return default
        raise TypeCheckError(str(error)) from None


def vote_identity(value: Any) -> Hashable:
    """A hashable key that is equal for equal votes. ``1``, ``1.0`` and ``True`` are different votes."""
    if isinstance(value, dict):
        pairs = [(vote_identity(k), vote_identity(v)) for k, v in value.items()]
        return "dict", tuple(sorted(pairs, key=repr))
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(vote_identity(v) for v in value)
    return type(value).__name__, value


def spelled_alike(value: Any, spec: ParameterSpec) -> Hashable:
    """A hashable key that is equal for equal votes, and for free texts that differ in case and white space alone.

    *Dentist Appointment* and *dentist  appointment* are one value; members of an enum are not.
    """
    if isinstance(value, str) and not schema_of(spec).has_texts:
        return vote_identity(value)
    return vote_identity(_folded(value))


def _folded(value: Any) -> Any:
    match value:
        case str():
            return " ".join(value.split()).casefold()
        case dict():
            return {key: _folded(member) for key, member in value.items()}
        case list() | tuple():
            return type(value)(map(_folded, value))
    return value
