"""The arguments of a call in the types of a Python function: JSON -> dates, enums, dataclasses, pydantic models."""

import json
from collections.abc import Callable, Mapping
from inspect import BoundArguments, Parameter, Signature
from typing import Annotated, Any, Final, cast, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from lookup.documents.python.callables import model_fields
from lookup.documents.python.hints import UNKNOWN, adapter, is_model, resolved
from lookup.documents.python.live_signature import EMPTY, LEFT_OUT, LiveKey, keyword_signature, read_live
from lookup.errors import quoted, raised, shown
from tooldecoding.errors import BindError

_STARS: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

_MOST_SHOWN: Final = 3
"""Errors of a value that are shown: a union has one for each branch."""

_MOST_TEXT: Final = 400
"""Characters of each: a path in a value may have untrusted keys."""


def bind(function: Callable[..., Any], arguments: Mapping[str, Any]) -> BoundArguments:
    """Return arguments as JSON has them in the types of a function's hints; see ``DecodedCall.bind``."""
    if is_model(function):
        return _bound_model(function, arguments)
    live = read_live(function)
    parameters = live.signature.parameters
    rest = next((p for p in parameters.values() if f"**{p.name}" in live.starred), None)
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        key = live.keys.get(name)
        if key is None and rest is not None:
            key = LiveKey(name, rest.annotation, EMPTY)
        if key is None:
            takes = ", ".join(map(quoted, live.keys)) or "none"
            raise _error(live.name, name, f"is no parameter of the function; it takes {takes}")
        given[name] = _value(live.name, key, resolved(key.annotation, live.namespace), value)
    for name, key in live.keys.items():
        if name not in given:
            written = parameters[name].default if name in parameters else key.default
            default = _default(live.name, key, written, live.namespace)
            given |= {} if default is LEFT_OUT else {name: default}
    for name, parameter in parameters.items():
        if name not in live.keys and parameter.kind not in _STARS and parameter.default is EMPTY:
            raise _error(live.name, name, "comes from no call: give the method of an object")
    return _bound(live.signature, given)


def _bound_model(model: Any, arguments: Mapping[str, Any]) -> BoundArguments:
    """The arguments of a class of pydantic's, checked as a whole; in the types of its fields if these make the same.

    A strict class takes no other ones, also where two of its objects are never the same, as with the time of each.
    """
    name, plain = model.__name__, dict(arguments)
    try:
        wanted = _from_json(TypeAdapter(model), plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        is_missing = first["type"] == "missing" and len(first["loc"]) == 1
        raise _error(name, key, "is missing" if is_missing else f"does not fit: {_reason(error, 1)}") from None
    except Exception as error:  # noqa: BLE001 - pydantic runs the code of foreign classes
        raise _error(name, "", f"does not fit: {_reason(error)}") from None
    fields = model_fields(model)
    signature = keyword_signature(plain)
    as_json = _bound(signature, plain)
    try:
        typed = {key: _typed(fields[key].annotation, each) if key in fields else each for key, each in plain.items()}
        bound = _bound(signature, typed)
        made = model(*bound.args, **bound.kwargs)
        return bound if made == wanted or not _makes(model, as_json) else as_json
    except Exception:  # noqa: BLE001 - validators of the class may want what JSON has
        return as_json


def _makes(model: Any, bound: BoundArguments) -> bool:
    """Whether a class of pydantic's takes these arguments."""
    try:
        model(*bound.args, **bound.kwargs)
    except Exception:  # noqa: BLE001 - pydantic runs the code of foreign classes
        return False
    return True


def _bound(signature: Signature, given: Mapping[str, Any]) -> BoundArguments:
    """The arguments in the sequence of a signature; those that it does not name are taken by its two stars."""
    ordered: dict[str, Any] = {}
    before: dict[str, Any] = {}
    """Defaults by position, which an argument behind them needs."""
    for name, parameter in signature.parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            others = {key: value for key, value in given.items() if key not in ordered}
            ordered |= {name: others} if others else {}
        elif parameter.kind is not Parameter.VAR_POSITIONAL and name in given:
            ordered |= (before if parameter.kind is Parameter.POSITIONAL_ONLY else {}) | {name: given[name]}
            before = {}
        elif parameter.kind is Parameter.POSITIONAL_ONLY:
            before[name] = parameter.default
    return BoundArguments(signature, cast(Any, ordered))


def _value(tool: str, key: LiveKey, hint: Any, value: Any) -> Any:
    """The value of a parameter that JSON stands for."""
    field = _field(key, hint)
    limited = Annotated[hint, key.default] if isinstance(key.default, FieldInfo) and hint is not UNKNOWN else hint
    try:
        return _typed(limited, value)
    except Exception as error:  # noqa: BLE001 - pydantic runs the code of foreign classes
        default = key.default if field is None else field.default
        if type(value) is type(default) and value == default:
            return value  # its default is documented, so a call may have it
        raise _error(tool, key.name, f"does not fit: {_reason(error)}") from None


def _default(tool: str, key: LiveKey, written: Any, namespace: Mapping[str, Any]) -> Any:
    """The default of a parameter where pydantic's ``Field`` says it; ``LEFT_OUT`` if Python does, or none is needed.

    ``written``: the default as Python knows it.
    """
    if key.default is LEFT_OUT or not (written is EMPTY or isinstance(written, FieldInfo)):
        return LEFT_OUT
    field = _field(key, resolved(key.annotation, namespace))
    if field is None or field.is_required():
        raise _error(tool, key.name, "is missing")
    return field.get_default(call_default_factory=True)


def _field(key: LiveKey, hint: Any) -> FieldInfo | None:
    """Pydantic's ``Field`` of a parameter: the last that says a default, of its hint's extras and its own."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    found = [each for each in (*extras, key.default) if isinstance(each, FieldInfo)]
    return next((each for each in reversed(found) if not each.is_required()), found[-1] if found else None)


def _typed(hint: Any, value: Any) -> Any:
    """The value of a hint that JSON stands for; as it is where pydantic has no schema. Any exception if none."""
    if hint is UNKNOWN or hint is Any or hint is object:
        return value
    try:
        reader = adapter(hint)
    except Exception:  # noqa: BLE001 - pydantic runs the code of foreign classes
        return value
    return _from_json(reader, value)


def _from_json(reader: TypeAdapter[Any], value: Any) -> Any:
    """What an adapter reads from JSON, whose kinds do not change into others: no number is made of a text."""
    written = json.dumps(value)
    try:
        return reader.validate_json(written, strict=True)
    except ValidationError:
        found = reader.validate_json(written)  # behind a validator of Python, a strict reader takes no JSON
        try:
            same = _is_alike(value, reader.dump_python(found, mode="json", by_alias=True, warnings=False))
        except Exception:  # noqa: BLE001 - it runs the code of foreign classes
            same = False
        if same:
            return found
        raise


def _is_alike(value: Any, other: Any) -> bool:
    """Whether two JSON values have the same kinds at the same places, as far as both have these."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return all(_is_alike(value[key], other[key]) for key in value.keys() & other.keys())
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return all(_is_alike(one, another) for one, another in zip(value, other, strict=False))
    numbers = [isinstance(each, int | float) and not isinstance(each, bool) for each in (value, other)]
    if numbers[0] and isinstance(other, str):
        return bool(float(other) == value)  # a decimal number is written as a text
    return all(numbers) or type(value) is type(other)


def _reason(error: Exception, skipped: int = 0) -> str:
    """What is wrong with a value, in one line; ``skipped`` steps of the path are said already."""
    if not isinstance(error, ValidationError):
        return raised(error)[:_MOST_TEXT]
    found = error.errors(include_url=False, include_context=False)
    lines = []
    for each in found[:_MOST_SHOWN]:
        path = "".join(f"[{step!r}]" for step in each["loc"][skipped:])
        plain = isinstance(each["input"], str | int | float | list | dict | None) and each["type"] != "missing"
        told = f", found {shown(each['input'])}" if plain else ""
        lines.append(f"{path}: {each['msg']}{told}".removeprefix(": ")[:_MOST_TEXT])
    more = len(found) - len(lines)
    return " | ".join(lines) + (f" | and {more} more" if more else "")


def _error(tool: str, key: str, what: str) -> BindError:
    return BindError(f"tool {quoted(tool)}: {f'the argument {quoted(key)}' if key else 'the call'} {what}")
