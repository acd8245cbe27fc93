"""ACEBench's verdicts on calls and on the sentences of the special categories (commit e6db74b, ``model_eval/``).

Error types are the official scorer's; where it ends with an exception the verdict is wrong, with the type ``CRASH`` of
our own.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.benchmarks.bfcl_checker import standardise
from eval.benchmarks.python_calls import read_calls
from eval.benchmarks.samples import CRASH, Fault, ScorerCrash
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError
from tooldecoding.formats.python_reader import syntax_tree

Functions = Sequence[Mapping[str, Any]]
"""The offered tools as in the data."""

Truth = Mapping[str, Mapping[str, Any]]
"""Tool name, with ``_1``, ``_2`` … behind it where it is called repeatedly -> arguments."""

_REPETITION: Final = re.compile(r"_\d+$")
_NEEDED: Final = {
    "special_incomplete": "Missing necessary parameters",
    "special_error_param": "There is incorrect value",
    "special_irrelevant": "the limitations of the function",
}


def decode_calls(text: str) -> list[Call]:
    """Return the calls in an answer, in its sequence, as ACEBench's decoder reads them.

    All white space goes first, inside of strings, too. The rest is a Python list, tuple or set of calls, whose values
    ``read_calls`` describes.

    UnreadableCallError if it is anything else, or beyond the bounds of ``eval.benchmarks.python_calls``.
    """
    body = syntax_tree("".join(text.split()))
    if not isinstance(body, ast.List | ast.Tuple | ast.Set):
        raise UnreadableCallError(f"expected a list of calls, found {type(body).__name__}")
    return read_calls(body.elts)


def expected_calls(truth: Truth) -> list[Call]:
    """Return the calls of a ground truth."""
    return [Call(_REPETITION.sub("", name), dict(arguments)) for name, arguments in truth.items()]


def check_calls(functions: Functions, calls: Sequence[Call], truth: Truth) -> Fault | None:
    """What the official checker finds wrong first; None where the calls are right.

    Each call of the truth needs a call that fits it; one call may serve several.
    """
    expected = expected_calls(truth)
    if len(calls) != len(expected):
        return Fault("wrong functions number", f"expected {len(expected)} calls, found {len(calls)}")
    if Counter(call.name for call in calls) != Counter(call.name for call in expected):
        names = (", ".join(call.name for call in given) for given in (expected, calls))
        return Fault("function_mismatch", "expected {}, found {}".format(*map(short_repr, names)))
    try:
        faults = (_check_any(functions, calls, wanted) for wanted in expected)
        return next((fault for fault in faults if fault), None)
    except ScorerCrash as crash:
        return Fault(CRASH, str(crash))


def _check_any(functions: Functions, calls: Sequence[Call], wanted: Call) -> Fault | None:
    """Whether some call fits; else the fault of the last one."""
    fault: Fault | None = None
    for call in calls:
        if call.name != wanted.name:
            fault = Fault("simple_function_checker:unclear", f"no call fits {wanted.name}")
            continue
        fault = _check_call(functions, call, wanted)
        if fault is None:
            return None
    return fault


def _check_call(functions: Functions, call: Call, wanted: Call) -> Fault | None:
    documented = [
        f["parameters"] for f in functions if f["name"] == call.name and isinstance(f.get("parameters"), dict)
    ]
    if not documented:
        raise ScorerCrash(f"the tool {call.name!r} is not documented")
    if not call.arguments:
        return Fault("wrong_param", f"{call.name} has no arguments")
    for key in documented[0].get("required", ()):
        if key not in call.arguments:
            return Fault("lack_args", f"missing required key {key!r}")
    for key, value in call.arguments.items():
        schema = documented[0].get("properties", {}).get(key)
        if schema is None or key not in wanted.arguments:
            return Fault("addition_args", f"unexpected key {short_repr(key)}")
        fault = _check_value(key, value, schema, wanted.arguments[key])
        if fault:
            return fault
    return None


def _check_value(key: str, value: Any, documented: Mapping[str, Any], truth: Any) -> Fault | None:
    """Compare a parameter's value with the truth by the parameter's schema."""
    of_type = Fault(
        "type_error", f"{key}: expected {type(truth).__name__}, found {type(value).__name__} {short_repr(value)}"
    )
    match documented.get("type"):
        case "string" if truth is None and (value is None or isinstance(value, str)):
            return None
        case "string" if isinstance(_as_bool(value), str):
            right = standardise(truth) in standardise(value)
            return None if right else _wrong("value_error:string", key, value, truth)
        case "integer" | "number":
            right = type(value) in (int, type(truth)) or _is_same_number(_as_bool(value), truth)
            return None if right and type(value) is not str else of_type
        case "boolean":
            read = _as_bool(value)
            return None if type(read) is bool or _is_same_number(read, truth) else of_type
        case "array" if isinstance(truth, dict) and isinstance(value, list | dict):
            return None
        case "array" if isinstance(value, list) and truth:
            return _check_list(key, value, documented, truth)
        case "object" | "dict" if isinstance(value, dict):
            return _check_object(key, value, truth)
        case "string" | "array" | "object" | "dict":
            return of_type
        case kind:
            raise ScorerCrash(f"{key}: the documentation has the unknown type {short_repr(kind)}")


def _as_bool(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _is_same_number(value: Any, truth: Any) -> bool:
    return isinstance(value, int | float) and isinstance(truth, int | float) and value == truth


def _check_list(key: str, value: Sequence[Any], documented: Mapping[str, Any], truth: Any) -> Fault | None:
    items = documented.get("items")
    if isinstance(items, dict) and items.get("type") not in ("object", "dict"):
        same = [*map(standardise, value)] == [*map(standardise, truth)]
        return None if same else _wrong("value_error:list/tuple", key, value, truth)
    if len(value) != len(truth):
        return _wrong("value_error:list_dict_count", key, value, truth)
    for given, expected in zip(value, truth, strict=True):
        if not isinstance(given, dict):
            return _wrong("value_error", key, value, truth)
        if fault := _check_object(key, given, expected):
            return fault
    return None


def _check_object(key: str, value: Mapping[str, Any], truth: Any) -> Fault | None:
    """Compare objects key by key; a text of the truth may be a part of the answer's."""
    if not isinstance(truth, dict):
        raise ScorerCrash(f"{key}: expected an object, found {short_repr(value)}")
    if value.keys() != truth.keys():
        return _wrong("value_error", key, value, truth)
    for name, expected in truth.items():
        given = value[name]
        if isinstance(expected, dict) and isinstance(given, dict):
            if fault := _check_object(key, given, expected):
                return fault
            continue
        read = _as_bool(given) if isinstance(expected, bool) else given
        if isinstance(expected, dict) or str(standardise(expected)) not in str(standardise(read)):
            return _wrong("value_error", key, value, truth)
    return None


def _wrong(error_type: str, key: str, value: Any, truth: Any) -> Fault:
    return Fault(error_type, f"{key}: expected {short_repr(truth)}, found {short_repr(value)}")


def check_sentence(category: str, text: str, truth: Any) -> Fault | None:
    """Whether an answer of a special category says what is wrong with the request.

    ``truth``: ``{tool: missing keys}``, ``{key: wrong values}``, or anything where no tool fits.
    """
    if _NEEDED[category] not in text:
        return Fault("error_detection", f"expected a sentence with {_NEEDED[category]!r}")
    needed: list[str] = []
    if category == "special_incomplete":
        needed = [part for tool, keys in truth.items() for part in (tool, *keys)]
    elif category == "special_error_param":
        needed = [str(value) for values in truth.values() for value in values]
    missing = [part for part in needed if part not in text]
    return Fault("error_correction", f"expected {short_repr(missing[0])} in the sentence") if missing else None
