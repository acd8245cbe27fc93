"""Whether a value is right, in ACEBench's sense (commit e6db74b, ``model_eval/``)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from eval.benchmarks.faults import Fault, ScorerCrash, shown

_DROPPED: Final = re.compile(r"[ ,./\-_*^]")


def check_value(key: str, value: Any, documented: Mapping[str, Any], truth: Any) -> Fault | None:
    """Compare a parameter's value with the truth.

    Parameters
    ----------
    documented : mapping
        The parameter's schema.

    Raises
    ------
    ScorerCrash
        If the official scorer ends with an exception.
    """
    match documented.get("type"):
        case "string":
            return _check_text(key, value, truth)
        case "integer" | "number":
            right = type(value) in (int, type(truth)) or _is_same_number(_as_bool(value), truth)
            return None if right and type(value) is not str else _other_type(key, value, truth)
        case "boolean":
            read = _as_bool(value)
            return None if type(read) is bool or _is_same_number(read, truth) else _other_type(key, value, truth)
        case "array":
            return _check_array(key, value, documented, truth)
        case "object" | "dict":
            if not isinstance(value, dict):
                return _other_type(key, value, truth)
            return _check_object(key, value, truth)
        case kind:
            raise ScorerCrash(f"{key}: the documentation has the unknown type {shown(kind)}")


def _as_bool(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _is_same_number(value: Any, truth: Any) -> bool:
    return isinstance(value, int | float) and isinstance(truth, int | float) and value == truth


def _check_text(key: str, value: Any, truth: Any) -> Fault | None:
    if truth is None and (value is None or isinstance(value, str)):
        return None
    if not isinstance(_as_bool(value), str):
        return _other_type(key, value, truth)
    if _cleaned(truth) in _cleaned(value):
        return None
    return _wrong("value_error:string", key, value, truth)


def _check_array(key: str, value: Any, documented: Mapping[str, Any], truth: Any) -> Fault | None:
    if isinstance(truth, dict) and isinstance(value, list | dict):
        return None
    if not isinstance(value, list) or not truth:
        return _other_type(key, value, truth)
    items = documented.get("items")
    if isinstance(items, dict) and items.get("type") not in ("object", "dict"):
        if len(value) == len(truth) and all(_cleaned(a) == _cleaned(b) for a, b in zip(value, truth, strict=True)):
            return None
        return _wrong("value_error:list/tuple", key, value, truth)
    if len(value) != len(truth):
        return _wrong("value_error:list_dict_count", key, value, truth)
    for given, expected in zip(value, truth, strict=True):
        if not isinstance(given, dict):
            return _wrong("value_error", key, value, truth)
        fault = _check_object(key, given, expected)
        if fault:
            return fault
    return None


def _check_object(key: str, value: Any, truth: Any) -> Fault | None:
    """Compare objects key by key; a text of the truth may be a part of the answer's."""
    if not isinstance(truth, dict) or not isinstance(value, dict):
        raise ScorerCrash(f"{key}: expected an object, found {shown(value)}")
    if value.keys() != truth.keys():
        return _wrong("value_error", key, value, truth)
    for name, expected in truth.items():
        given = value[name]
        if isinstance(expected, dict):
            if not isinstance(given, dict):
                return _wrong("value_error", key, value, truth)
            fault = _check_object(key, given, expected)
            if fault:
                return fault
        elif str(_cleaned(expected)) not in str(_cleaned(_as_bool(given) if isinstance(expected, bool) else given)):
            return _wrong("value_error", key, value, truth)
    return None


def _cleaned(value: Any) -> Any:
    """Texts without marks and case; other values as they are."""
    return _DROPPED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def _other_type(key: str, value: Any, truth: Any) -> Fault:
    return Fault("type_error", f"{key}: expected {type(truth).__name__}, found {type(value).__name__} {shown(value)}")


def _wrong(error_type: str, key: str, value: Any, truth: Any) -> Fault:
    return Fault(error_type, f"{key}: expected {shown(truth)}, found {shown(value)}")
