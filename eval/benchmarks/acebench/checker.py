"""ACEBench's verdicts on calls and on the sentences of the special categories (commit e6db74b, ``model_eval/``).

Error types are the official scorer's; where it ends with an exception the verdict is wrong, with the type ``CRASH`` of
our own.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.benchmarks.acebench.values import check_value
from eval.benchmarks.faults import CRASH, Fault, ScorerCrash, shown
from tooldecoding.formats.call_format import Call

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
        return Fault("function_mismatch", "expected {}, found {}".format(*map(shown, names)))
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
    parameters = _parameters(functions, call.name)
    if not call.arguments:
        return Fault("wrong_param", f"{call.name} has no arguments")
    for key in parameters.get("required", ()):
        if key not in call.arguments:
            return Fault("lack_args", f"missing required key {key!r}")
    for key, value in call.arguments.items():
        documented = parameters.get("properties", {}).get(key)
        if documented is None or key not in wanted.arguments:
            return Fault("addition_args", f"unexpected key {shown(key)}")
        fault = check_value(key, value, documented, wanted.arguments[key])
        if fault:
            return fault
    return None


def _parameters(functions: Functions, name: str) -> Mapping[str, Any]:
    for function in functions:
        if function["name"] == name and isinstance(function.get("parameters"), dict):
            return dict(function["parameters"])
    raise ScorerCrash(f"the tool {name!r} is not documented")


def check_sentence(category: str, text: str, truth: Any) -> Fault | None:
    """Whether an answer of a special category says what is wrong with the request.

    Parameters
    ----------
    truth : object
        ``{tool: missing keys}``, ``{key: wrong values}``, or anything where no tool fits.
    """
    if _NEEDED[category] not in text:
        return Fault("error_detection", f"expected a sentence with {_NEEDED[category]!r}")
    needed: list[str] = []
    if category == "special_incomplete":
        needed = [part for tool, keys in truth.items() for part in (tool, *keys)]
    elif category == "special_error_param":
        needed = [str(value) for values in truth.values() for value in values]
    missing = [part for part in needed if part not in text]
    return Fault("error_correction", f"expected {shown(missing[0])} in the sentence") if missing else None
