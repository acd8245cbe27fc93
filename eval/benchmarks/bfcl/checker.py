"""The official AST checker (package bfcl-eval 2026.3.23, ``ast_eval/ast_checker.py``).

Error types are the official scorer's; where it ends with an exception (documentation without a type, a number too
large for a float, …) the verdict here is wrong, with the error type ``CRASH`` of our own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from eval.benchmarks.bfcl.values import alternatives_of, check_value, part
from eval.benchmarks.samples import CRASH, Fault, ScorerCrash
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.call_format import Call

Functions = Sequence[Mapping[str, Any]]
"""Documentation of the offered tools, as in the data: ``name`` and ``parameters``."""

Answer = Mapping[str, Mapping[str, Any]]
"""One call of the ground truth: tool name -> key -> alternatives."""


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
            return check_call(_documented(functions, tool_name(truth[0])), calls[0], truth[0])
        if len(calls) != 1:
            return _wrong_count("simple_function_checker", calls, truth)
        return check_call(functions[0], calls[0], truth[0])
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
    for number, answer in enumerate(truth):
        function = _documented(functions, tool_name(answer))
        reasons = []
        for index in free:
            fault = check_call(function, calls[index], answer)
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


def check_call(function: Mapping[str, Any], call: Call, answer: Answer) -> Fault | None:
    """Compare one call with one answer.

    In this sequence: the name, each required key, each given parameter as given, each key that was left out.

    Raises
    ------
    ScorerCrash
        If the official scorer would end with an exception.
    """
    accepted = answer[tool_name(answer)]
    properties = part(function, "parameters", "properties")
    required = part(function, "parameters", "required")
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
        if key not in call.arguments and "" not in alternatives_of(key, accepted[key]):
            message = f"missing key {key!r}, which is not marked as optional"
            return Fault("simple_function_checker:missing_optional", message)
    return None
