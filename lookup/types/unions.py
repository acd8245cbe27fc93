"""Union types."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import ANY, Kind, ParameterSpec, ValueType

MAX_BRANCHES: Final = 32
"""A union of more types is ``any``, because each type is compared with all others."""

_PLAIN: Final[dict[str, Kind]] = {
    "str": "str", "int": "int", "float": "float", "bool": "bool", "list": "list", "dict": "dict", "tuple": "tuple"
}  # fmt: skip


def type_of(members: Iterable[Any]) -> ValueType:
    """The type of plain values: ``int`` for ``(1, 2)``, a union for ``("a", 1)``."""
    return united(ValueType(_PLAIN.get(type(member).__name__, "any")) for member in members)


def united(types: Iterable[ValueType]) -> ValueType:
    """The union of some types; ``ANY`` if one of them is unknown or there is none.

    If all have an enum, the enums are joined. Equal types are merged. Objects with documented keys become one object
    with all their keys; a key is required if every object requires it.
    """
    found = list(types)
    nullable = any(t.nullable for t in found)
    enum: tuple[Any, ...] | None = None
    if found and all(t.enum for t in found):
        enum = tuple(member for t in found for member in t.enum or ())
        found = [replace(t, enum=None) for t in found]
    distinct: list[ValueType] = []
    for t in found:
        plain = replace(t, nullable=False)
        # A union with its own enum stays one branch, because the enum takes precedence.
        inside = plain.any_of if plain.any_of and not plain.enum else (plain,)
        distinct += [branch for branch in inside if branch not in distinct]
        if len(distinct) > MAX_BRANCHES:
            return replace(ANY, nullable=nullable, enum=enum)
    distinct = _with_one_object(distinct)
    if len(distinct) == 1:
        return replace(distinct[0], nullable=nullable, enum=enum or distinct[0].enum)
    if not distinct or ANY in distinct:
        return replace(ANY, nullable=nullable, enum=enum)
    return ValueType("any", any_of=tuple(distinct), nullable=nullable, enum=enum)


def _with_one_object(types: list[ValueType]) -> list[ValueType]:
    """Merge objects, and lists of objects, so that an open bracket determines which keys may follow."""
    for kind in ("dict", "list", "tuple"):
        same = [t for t in types if t.kind == kind]
        if len(same) > 1 and any(_has_keys(t) for t in same):
            types = [t for t in types if t.kind != kind]
            if kind != "dict":
                types.append(replace(same[0], items=united(t.items or ANY for t in same)))
            elif all(t.properties for t in same):
                types.append(ValueType("dict", properties=_merged([t.properties or () for t in same])))
            else:  # one of them allows any keys
                types.append(ValueType("dict"))
    return types


def _has_keys(t: ValueType) -> bool:
    return bool(t.properties) or (t.items is not None and _has_keys(t.items))


def _merged(objects: Sequence[tuple[ParameterSpec, ...]]) -> tuple[ParameterSpec, ...]:
    by_name: dict[str, list[ParameterSpec]] = {}
    for spec in (spec for keys in objects for spec in keys):
        by_name.setdefault(spec.name, []).append(spec)
    merged = []
    for specs in by_name.values():
        value_type = united(spec.value_type for spec in specs)
        required = len(specs) == len(objects) and all(spec.required for spec in specs)
        enum = value_type.enum
        merged.append(replace(specs[0], type=replace(value_type, enum=None), enum=enum, required=required, rule="list"))
    return tuple(merged)
