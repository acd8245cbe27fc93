"""Check whether a Python value has the documented type, and decide which values are the same vote."""

from collections.abc import Hashable, Iterator
from typing import Any

from lookup.dictionary import ParameterSpec, ValueType
from lookup.schema.value_schema import schema_of


class TypeCheckError(ValueError):
    """A value without the documented type. The message says what was expected and what was found."""


def check_value(value: Any, spec: ParameterSpec) -> Any:
    """The value in its documented type: an int becomes a float, and a list becomes a tuple, if that is documented.

    The schema of the parameter decides: an enum is stronger than a type that none of its members has. The documented
    default of a parameter is valid beside it, see ``ParameterSpec.beside``.

    Raises
    ------
    TypeCheckError
        If the value has another type, is not a member of the enum, or breaks the schema.
    """
    try:
        schema_of(spec).check(value)
    except ValueError as error:
        for default in spec.beside:
            if vote_identity(default) == vote_identity(value):
                return default
        raise TypeCheckError(str(error)) from None
    try:
        return _check(value, spec.value_type)
    except TypeCheckError:
        return value


def _check(value: Any, value_type: ValueType) -> Any:
    """The value in a type; TypeCheckError without a message, as the schema is what refuses values."""
    if value is None and value_type.nullable:
        return None
    if value_type.enum:
        for member in value_type.enum:
            if vote_identity(member) == vote_identity(value):
                return member
        raise TypeCheckError
    if fitting := list(_fitting(value, value_type.any_of)):
        asis = vote_identity(value)  # of several branches, that which takes the value as it is written
        return next((checked for checked in fitting if vote_identity(checked) == asis), fitting[0])
    items = value_type.items
    match value_type.kind, value:
        case ("any", _) if not value_type.any_of:
            return value
        case ("str", str()) | ("bool", bool()):
            return value
        case ("int", int()) | ("float", float()) if not isinstance(value, bool):
            return value
        case ("float", int()) if not isinstance(value, bool):
            return _as_float(value)
        case ("dict", dict()) if value_type.properties:
            return _check_keys(value, value_type.properties)
        case ("dict", dict()):
            return {key: _check(v, items) for key, v in value.items()} if items else value
        case ("list", list()) | ("tuple", list() | tuple()):
            checked = [_check(v, items) for v in value] if items else list(value)
            return tuple(checked) if value_type.kind == "tuple" else checked
    raise TypeCheckError


def _fitting(value: Any, branches: tuple[ValueType, ...]) -> Iterator[Any]:
    """The value in the type of each branch that it has."""
    for branch in branches:
        try:
            yield _check(value, branch)
        except TypeCheckError:
            continue


def _as_float(value: int) -> float:
    """The number as a float, if there is one that is equal."""
    try:
        found = float(value)
    except OverflowError:
        return value
    return found if found == value else value


def _check_keys(value: dict[Any, Any], properties: tuple[ParameterSpec, ...]) -> dict[Any, Any]:
    """An object with checked values. It must have all required keys, and no undocumented ones."""
    known = {spec.name: spec for spec in properties}
    if not value.keys() <= known.keys() or any(spec.required and spec.name not in value for spec in properties):
        raise TypeCheckError
    return {key: _check(member, known[key].value_type) for key, member in value.items()}


def vote_identity(value: Any) -> Hashable:
    """A hashable key that is equal for equal votes. ``1``, ``1.0`` and ``True`` are different votes."""
    if isinstance(value, dict):
        pairs = [(vote_identity(k), vote_identity(v)) for k, v in value.items()]
        return "dict", tuple(sorted(pairs, key=repr))
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(vote_identity(v) for v in value)
    return type(value).__name__, value


def has_one_spelling(value: Any) -> bool:
    """Whether all equal votes are spelled the same. Objects may differ in the order of keys, and 0.0 in its sign."""
    if isinstance(value, dict):
        return len(value) < 2 and all(has_one_spelling(v) for pair in value.items() for v in pair)
    if isinstance(value, list | tuple):
        return all(map(has_one_spelling, value))
    return not isinstance(value, float) or value != 0
