"""The official AST checker (package bfcl-eval 2026.3.23, ``ast_eval/ast_checker.py``).

Error types are the official scorer's; where it ends with an exception (documentation without a type, a number too
large for a float, …) the verdict here is wrong, with the error type ``CRASH`` of our own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.benchmarks.samples import CRASH, Fault, ScorerCrash
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.call_format import Call

Functions = Sequence[Mapping[str, Any]]
"""Documentation of the offered tools, as in the data: ``name`` and ``parameters``."""

Answer = Mapping[str, Mapping[str, Any]]
"""One call of the ground truth: tool name -> key -> alternatives."""

_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""Documented type -> exact Python type of a value."""

_IGNORED: Final = re.compile(r"[ ,./\-_*^]")


def check_calls(functions: Functions, calls: Sequence[Call], truth: Sequence[Answer], category: str) -> Fault | None:
    """What the official checker finds wrong first; None where the calls are right.

    Its rule for several calls applies where the category's name holds ``parallel``, else the one for a choice of tools
    where it holds ``multiple``, else the one for a single tool.
    """
    try:
        if "parallel" in category:
            return _check_parallel(functions, calls, truth)
        if "multiple" in category:
            if len(calls) != len(truth):
                return _wrong_count("multiple_function_checker", calls, truth)
            return _check_call(_documented(functions, tool_name(truth[0])), calls[0], truth[0])
        if len(calls) != 1:
            return _wrong_count("simple_function_checker", calls, truth)
        return _check_call(functions[0], calls[0], truth[0])
    except ScorerCrash as crash:
        return Fault(CRASH, str(crash))


def _wrong_count(checker: str, calls: Sequence[Call], truth: Sequence[Answer]) -> Fault:
    return Fault(f"{checker}:wrong_count", f"expected {len(truth)} calls, found {len(calls)}")


def _check_parallel(functions: Functions, calls: Sequence[Call], truth: Sequence[Answer]) -> Fault | None:
    """Each answer in turn takes the first call that fits it and is not taken: greedy, no best matching."""
    checker = "parallel_function_checker_no_order"
    if len(calls) != len(truth):
        return _wrong_count(checker, calls, truth)
    free = list(range(len(calls)))
    # answers a in [1, 2] and a in [1], calls f(a=1), f(a=2): the first answer takes f(a=1), and the second finds none;
    # with the answers the other way round both are found
    for number, answer in enumerate(truth):
        function = _documented(functions, tool_name(answer))
        reasons = []
        for index in free:
            fault = _check_call(function, calls[index], answer)
            if fault is None:
                free.remove(index)
                break
            reasons.append(f"call {index}: {fault.error_type}, {fault.message}")
        else:
            message = f"no call fits answer {number} ({tool_name(answer)}): {'; '.join(reasons)}"
            return Fault(f"{checker}:cannot_find_match", message)
    return None


def tool_name(answer: Answer) -> str:
    """The tool that a call of the ground truth names."""
    return next(iter(answer))


def _documented(functions: Functions, name: str) -> Mapping[str, Any]:
    for function in functions:
        if function["name"] == name:
            return function
    raise ScorerCrash(f"the answer's tool {name!r} is not documented")


def _check_call(function: Mapping[str, Any], call: Call, answer: Answer) -> Fault | None:
    """Compare one call with one answer.

    In this sequence: the name, each required key, each given parameter as given, each key that was left out.

    ScorerCrash if the official scorer would end with an exception.
    """
    accepted = answer[tool_name(answer)]
    properties = _part(function, "parameters", "properties")
    required = _part(function, "parameters", "required")
    if call.name != function["name"]:
        message = f"expected {function['name']}, found {short_repr(call.name)}"
        return Fault("simple_function_checker:wrong_func_name", message)
    for key in required:
        if key not in call.arguments:
            return Fault("simple_function_checker:missing_required", f"missing required key {key!r}")
    for key, value in call.arguments.items():
        if key not in properties or key not in accepted:
            return Fault("simple_function_checker:unexpected_param", f"unexpected key {short_repr(key)}")
        fault = check_value(key, value, properties[key], accepted[key])
        if fault:
            return fault
    for key in accepted:
        if key not in call.arguments and "" not in _alternatives_of(key, accepted[key]):
            message = f"missing key {key!r}, which is not marked as optional"
            return Fault("simple_function_checker:missing_optional", message)
    return None


def standardise(value: Any) -> Any:
    """A text as BFCL and ACEBench compare it: without some marks and case; any other value as it stands."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def check_value(key: str, value: Any, documented: Any, alternatives: Any) -> Fault | None:
    """Compare the value of one parameter with its alternatives.

    ``""`` among the alternatives of a parameter or of a dict's key says that it may be left out. An alternative of
    another type than documented makes a value a *variable*: it then must be equal to one of the alternatives as it
    stands, without the leniency that texts, lists and dicts get.

    ScorerCrash if the official scorer would end with an exception.

    ======== ============== ===================== =====================================
    type     value          alternatives
    ======== ============== ===================== =====================================
    string   "new york"     ["New York", "NYC"]   right: case and some marks do not count
    float    5              [5.0]                 right: an int is a float
    integer  5.0            [5]                   type_error:simple, not the other way
    dict     {"x": 1}       [{"x": [1, 2],        right: y may be left out
                            "y": ["", 3]}]
    ======== ============== ===================== =====================================
    """
    alternatives = _alternatives_of(key, alternatives)
    name = _part(documented, "type")
    kind = _type(name)
    item = _type(_part(documented, "items", "type")) if name in ("array", "tuple") else None
    if name == "tuple" and type(value) is tuple:
        value = list(value)
    elif name == "float" and type(value) is int:
        try:
            value = float(value)
        except OverflowError:
            raise ScorerCrash(f"{key}: the number is too large for a float") from None
    first = next((type(a) for a in alternatives if a != ""), None)
    if error_type := _type_error(value, alternatives, kind, item):
        inner = f" of {item.__name__}" if item else ""
        return Fault(error_type, f"{key}: expected {name}{inner}, found {type(value).__name__} {short_repr(value)}")
    if first in (None, kind):
        if kind is dict:
            return _check_dict(key, value, alternatives)
        if kind is list:
            return (_check_dicts if item is dict else _check_list)(key, value, alternatives)
        if kind is str:
            texts = [standardise(a) for a in alternatives if isinstance(a, str)]
            return None if standardise(value) in texts else _wrong("string", key, value, alternatives)
    return None if value in alternatives else _wrong("others", key, value, alternatives)


def _alternatives_of(key: str, alternatives: Any) -> Sequence[Any]:
    """The alternatives of a parameter; ScorerCrash for anything but a list."""
    if not isinstance(alternatives, list):
        raise ScorerCrash(f"{key}: the answer is {short_repr(alternatives)}, no list of alternatives")
    return alternatives


def _part(documented: Any, *path: str) -> Any:
    """A part of documentation that the official scorer reads without looking whether it is there."""
    for key in path:
        if not isinstance(documented, dict) or key not in documented:
            raise ScorerCrash(f"the documentation has no {'.'.join(path)}")
        documented = documented[key]
    return documented


def _type(name: Any) -> type:
    if not isinstance(name, str) or name not in _TYPES:
        raise ScorerCrash(f"the documentation has the unknown type {short_repr(name)}")
    return _TYPES[name]


def _type_error(value: Any, alternatives: Sequence[Any], kind: type, item: type | None) -> str | None:
    """The official error unless a value has its documented type, or that of the first alternative that is not ``""``.

    Types must be the same: a bool is no int, an int no float. Elements of the type ``item`` are checked against each
    alternative's elements in the same way, one level deep; an alternative that is no list lets everything pass.
    """
    first = next((type(a) for a in alternatives if a != ""), None)
    found: type = type(value)
    if found is not kind:
        return None if found is first else "type_error:simple"
    fits = item is None or any(
        not isinstance(a, list) or all(_type_error(v, a, item, None) is None for v in value) for a in alternatives
    )
    return None if fits else "type_error:nested" if first is kind else "type_error:simple"


def _check_list(key: str, value: Sequence[Any], alternatives: Sequence[Any]) -> Fault | None:
    """A list must be equal to an alternative, in the same sequence; texts in it are standardised, not deeper ones."""
    accepted = [[standardise(a) for a in _elements(key, alternative)] for alternative in alternatives]
    return None if [standardise(v) for v in value] in accepted else _wrong("list/tuple", key, value, alternatives)


def _check_dict(key: str, value: Any, alternatives: Sequence[Any]) -> Fault | None:
    """A dict must fit one alternative, a mapping from inner keys to lists of alternatives; deeper values must be equal.

    The last alternative that is not ``""`` decides the error type.
    """
    if not isinstance(value, dict):
        raise ScorerCrash(f"{key}: {short_repr(value)} stands where a dict is compared")
    fault: Fault | None = Fault("dict_checker:unclear", f"{key}: there is no dict to compare {short_repr(value)} with")
    for alternative in alternatives:
        if alternative != "":
            fault = _dict_fault(key, value, alternative)
            if fault is None:
                break
    return fault


def _check_dicts(key: str, value: Sequence[Any], alternatives: Sequence[Any]) -> Fault | None:
    """Each dict must fit the one at its place in an alternative of the same length."""
    fault: Fault | None = Fault(
        "list_dict_checker:unclear", f"{key}: there is no list to compare {short_repr(value)} with"
    )
    for alternative in alternatives:
        dicts = _elements(key, alternative)
        if len(value) != len(dicts):
            fault = Fault("value_error:list_dict_count", f"{key}: expected {len(dicts)} dicts, found {len(value)}")
            continue
        faults = (_check_dict(key, v, [a]) for v, a in zip(value, dicts, strict=True))
        fault = next((f for f in faults if f), None)
        if fault is None:
            break
    return fault


def _dict_fault(key: str, value: Mapping[Any, Any], alternative: Any) -> Fault | None:
    """A key that is missing outweighs one that is wrong: the official scorer looks for it later."""
    if not isinstance(alternative, dict):
        raise ScorerCrash(f"{key}: the alternative {short_repr(alternative)} stands among dicts")
    fault = None
    for inner, given in value.items():
        if inner not in alternative:
            fault = Fault("value_error:dict_key", f"{key}: unexpected key {short_repr(inner)}")
            break
        accepted = _elements(key, alternative[inner])
        if standardise(given) not in [standardise(a) for a in accepted]:
            fault = _wrong("dict_value", f"{key}[{inner!r}]", given, accepted)
            break
    for inner in alternative:
        if inner not in value and "" not in _elements(key, alternative[inner]):
            return Fault("value_error:dict_key", f"{key}: missing key {inner!r}")
    return fault


def _elements(key: str, expected: Any) -> Sequence[Any]:
    """Elements of a list in an answer. The official scorer counts through them, so a text is its characters."""
    if isinstance(expected, list | str):
        return expected
    if expected == {}:
        return []
    raise ScorerCrash(f"{key}: the answer has {short_repr(expected)} where a list must stand")


def _wrong(kind: str, key: str, value: Any, alternatives: Sequence[Any]) -> Fault:
    return Fault(f"value_error:{kind}", f"{key}: expected one of {short_repr(alternatives)}, found {short_repr(value)}")
