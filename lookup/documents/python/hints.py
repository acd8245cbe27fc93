"""Type hints of live objects, resolved, as pydantic reads JSON by them."""

import collections.abc
import dataclasses
import inspect
import json
import sys
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import partial, reduce
from itertools import zip_longest
from operator import or_
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from typing_extensions import ReadOnly, TypeAliasType, TypedDict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

UNKNOWN: Final = object()
"""A hint that cannot be resolved."""

_LISTS: Final = (collections.abc.Iterable, collections.abc.Collection, collections.abc.Container)
"""Hints for anything with elements: pydantic reads an iterator of the first, which can be read once, and no other."""

_BARE: Final = (str, int, float, bool)

_QUALIFIERS: Final[dict[Any, bool | None]] = {typing.Required: True, typing.NotRequired: False, ReadOnly: None}
"""Words around the hint of a key of a ``TypedDict``, and whether they say that the key is required."""


def resolved(annotation: object, namespace: Mapping[str, Any]) -> Any:
    """Return an annotation with its forward references resolved; ``UNKNOWN`` if that fails."""
    holder = SimpleNamespace(__annotations__={"hint": annotation})
    try:
        hint = typing.get_type_hints(holder, dict(namespace), include_extras=True)["hint"]
    except Exception:  # noqa: BLE001 - a forward reference is an expression that can fail in any way
        return UNKNOWN
    return hint.type if isinstance(hint, dataclasses.InitVar) else hint


def adapter(hint: Any) -> "TypeAdapter[Any]":
    """Return what reads the values of a hint. Any exception if there is none: it runs the code of classes.

    Beside what pydantic knows it reads JSON for each member of an enum, for ``typing.TypedDict`` in every version of
    Python, and lists for any hint of something with elements.
    """
    from pydantic import TypeAdapter

    return TypeAdapter(_readable(hint, frozenset()))


def is_typed_dict(entry: object) -> bool:
    """Whether it is a ``TypedDict``, of ``typing`` or ``typing_extensions``."""
    return isinstance(entry, type) and issubclass(entry, dict) and hasattr(entry, "__required_keys__")


class Field(NamedTuple):
    """The hint of a key of a ``TypedDict``, and whether the key is required."""

    hint: Any
    required: bool


def typed_dict_fields(entry: Any) -> dict[str, Field]:
    """Return the keys of a ``TypedDict``; with annotations as written if one of them cannot be resolved."""
    hints = _hints_of(entry) or {
        key: getattr(raw, "__forward_arg__", raw) for key, raw in entry.__annotations__.items()
    }
    return {key: _unqualified(hint, key in entry.__required_keys__) for key, hint in hints.items()}


def is_model(entry: object) -> bool:
    """Whether it is a class of pydantic's: a model or a dataclass. If pydantic is not loaded, there is none."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not isinstance(entry, type):
        return False
    return issubclass(entry, pydantic.BaseModel) or pydantic.dataclasses.is_pydantic_dataclass(entry)


def _readable(hint: Any, around: frozenset[Any]) -> Any:
    """The hint with others in the places of those that pydantic cannot read from JSON; itself if there is none.

    ``around``: the classes whose fields are being read, which may hold themselves.
    """
    if (named := _named(hint)) is not UNKNOWN:
        inside = hint if hint in around else _readable(named, around | {hint})
        return hint if inside is named else inside
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, type) and origin is None:
        return _readable_class(hint, around)
    if origin is Annotated:
        inside = _readable(hint.__origin__, around)
        return hint if inside is hint.__origin__ else Annotated[(inside, *hint.__metadata__)]
    if origin is Literal:
        members = {_key(m.value): m for m in reversed(arguments) if isinstance(m, Enum)}
        return _members(hint, members, {_key(m) for m in arguments if not isinstance(m, Enum)})
    if origin is None or origin is collections.abc.Callable:
        return hint
    if not arguments:
        return list if origin in _LISTS else hint
    inside = tuple(_readable(argument, around) for argument in arguments)
    if origin in _LISTS:
        return list[inside]  # type: ignore[valid-type]
    if all(new is old for new, old in zip(inside, arguments, strict=True)):
        return hint
    if origin is types.UnionType:
        return reduce(or_, inside)
    return origin[inside] if len(inside) > 1 else origin[inside[0]]


def _named(hint: Any) -> Any:
    """The hint that a ``NewType`` or a type alias is another name of; ``UNKNOWN`` for any other hint."""
    if isinstance(hint, typing.NewType):
        return hint.__supertype__
    aliases: tuple[Any, ...] = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
    if not isinstance(hint, aliases):
        return UNKNOWN
    return resolved(hint.__value__, vars(sys.modules.get(hint.__module__ or "", typing)))


def _readable_class(hint: type, around: frozenset[Any]) -> Any:
    if hint in _LISTS:
        return list
    if issubclass(hint, Enum):
        if all(isinstance(member.value, _BARE) for member in hint):
            return hint
        return _members(hint, {_key(member.value): member for member in reversed(hint)}, set())
    if hint in around:
        return hint if _is_read(hint) else _read_later(hint)
    around |= {hint}
    if is_typed_dict(hint):
        return _readable_dict(hint, around)
    if dataclasses.is_dataclass(hint) and not is_model(hint):
        return _readable_dataclass(hint, around)
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return _readable_tuple(hint, around)
    return hint


def _readable_dict(hint: Any, around: frozenset[Any]) -> Any:
    """A ``TypedDict`` as one that pydantic reads."""
    given = typed_dict_fields(hint)
    inside = {key: _readable(field.hint, around) for key, field in given.items()}
    if _is_read(hint) and all(inside[key] is field.hint for key, field in given.items()):
        return hint
    keys = {
        key: typing.Required[each] if given[key].required else typing.NotRequired[each] for key, each in inside.items()
    }
    made = TypedDict(hint.__name__, keys)  # type: ignore[misc]
    made.__doc__ = hint.__doc__
    return made


def _is_read(hint: type) -> bool:
    """Whether pydantic reads a class: before Python 3.12 no ``TypedDict`` but that of ``typing_extensions``."""
    return type(hint).__module__ != "typing" or not is_typed_dict(hint) or sys.version_info >= (3, 12)


def _read_later(hint: type) -> Any:
    """A ``TypedDict`` within itself."""
    from pydantic import AfterValidator

    def read(found: dict[str, Any]) -> Any:
        return adapter(hint).validate_json(json.dumps(found), strict=True)

    return Annotated[dict[str, Any], AfterValidator(read)]


def _readable_dataclass(hint: Any, around: frozenset[Any]) -> Any:
    """A dataclass with a field that pydantic cannot read, as an object from which it is made."""
    from pydantic import AfterValidator

    hints = _hints_of(hint)
    if hints is None:
        return hint
    parameters = inspect.signature(hint).parameters
    given = {key: each.type if isinstance(each := hints[key], dataclasses.InitVar) else each for key in parameters}
    inside = {key: _readable(each, around) for key, each in given.items()}
    if all(each is given[key] for key, each in inside.items()):
        return hint
    keys = {
        key: each if parameters[key].default is inspect.Parameter.empty else typing.NotRequired[each]
        for key, each in inside.items()
    }
    made = TypedDict(hint.__name__, keys)  # type: ignore[misc]
    return Annotated[made, AfterValidator(lambda found: hint(**found))]


def _readable_tuple(hint: Any, around: frozenset[Any]) -> Any:
    """A named tuple with a field that pydantic cannot read, with fields that are read one by one."""
    from pydantic import BeforeValidator

    hints = _hints_of(hint)
    if hints is None:
        return hint
    inside = [(hints[key], _readable(hints[key], around)) for key in hint._fields]
    readers = [None if new is old else new for old, new in inside]

    def read(found: Any) -> Any:
        if not isinstance(found, list):
            return found
        return [
            each if reader is None else adapter(reader).validate_json(json.dumps(each), strict=True)
            for each, reader in zip_longest(found, readers[: len(found)])
        ]

    return Annotated[hint, BeforeValidator(read)] if any(reader is not None for reader in readers) else hint


def _unqualified(hint: Any, required: bool) -> Field:
    while (origin := typing.get_origin(hint)) in _QUALIFIERS:
        said = _QUALIFIERS[origin]
        required = required if said is None else said
        [hint] = typing.get_args(hint)
    return Field(hint, required)


def _hints_of(hint: Any) -> dict[str, Any] | None:
    """The hints of the fields of a class; None if one cannot be resolved."""
    try:
        return typing.get_type_hints(hint, include_extras=True)
    except Exception:  # noqa: BLE001 - a forward reference is an expression that can fail in any way
        return None


def _members(hint: Any, members: Mapping[str, Enum], others: set[str]) -> Any:
    """The hint of members of enums, which their values stand for, except values that stand for themselves."""
    from pydantic import BeforeValidator

    known = {key: member for key, member in members.items() if key not in others}
    return Annotated[hint, BeforeValidator(partial(_member, known))] if known else hint


def _member(known: Mapping[str, Enum], value: Any) -> Any:
    return value if isinstance(value, Enum) else known.get(_key(value), value)


def _key(value: Any) -> str:
    """A value as JSON."""
    from pydantic_core import to_jsonable_python

    return json.dumps(to_jsonable_python(value), sort_keys=True)
