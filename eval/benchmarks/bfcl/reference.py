"""Reference calls: the possible answers of an entry as calls that the checker accepts, wherever there are any."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.benchmarks.bfcl.checker import Answer, Functions, tool_name
from eval.benchmarks.bfcl.values import check_value
from eval.benchmarks.samples import ScorerCrash
from tooldecoding.formats.call_format import Call


def reference_calls(functions: Functions, truth: Sequence[Answer], category: str) -> tuple[Call, ...]:
    """One call for each answer, in its sequence.

    The checker looks at each parameter alone, so a right call is put together parameter by parameter: the first
    alternative that is accepted; left out where none but ``""`` is given; ``""`` where the documentation requires the
    key all the same. A parameter for which nothing is accepted has its first alternative, and the entry cannot be
    solved. In one-tool categories the call has the documented name, as the checker wants it.
    """
    calls = []
    for answer in truth:
        several = "parallel" in category or "multiple" in category
        name = tool_name(answer) if several else functions[0]["name"]
        function: Mapping[str, Any] = next((f for f in functions if f["name"] == name), {})
        arguments = _arguments(function.get("parameters", {}), answer[tool_name(answer)])
        calls.append(Call(name, arguments))
    return tuple(calls)


def _arguments(parameters: Mapping[str, Any], accepted: Mapping[str, Any]) -> dict[str, Any]:
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    arguments: dict[str, Any] = {}
    for key, alternatives in accepted.items():
        if not isinstance(alternatives, list):
            continue
        omissible = "" in alternatives and key not in required
        candidates = [*_candidates(alternatives), *([] if omissible else [a for a in alternatives if a == ""])]
        right = (c for c in candidates if key in properties and _accepts(key, c, properties[key], alternatives))
        for value in itertools.chain(right, [] if omissible else candidates):
            arguments[key] = value
            break
    return arguments


def _accepts(key: str, value: Any, documented: Any, alternatives: Sequence[Any]) -> bool:
    try:
        return check_value(key, value, documented, alternatives) is None
    except ScorerCrash:
        return False


def _candidates(alternatives: Sequence[Any]) -> Iterator[Any]:
    """Alternatives as values, then as they stand, then with floats for whole numbers: only one type may be accepted."""
    given = [a for a in alternatives if a != ""]
    yield from map(_concrete, given)
    yield from given
    yield from map(_with_floats, given)


def _concrete(alternative: Any) -> Any:
    """An answer's dict maps keys to alternatives: the first one of each that is not ``""``."""
    if isinstance(alternative, list):
        return [_concrete(a) if isinstance(a, dict) else a for a in alternative]
    if not isinstance(alternative, dict) or not all(isinstance(v, list) for v in alternative.values()):
        return alternative
    chosen = {key: next((v for v in values if v != ""), "") for key, values in alternative.items()}
    return {key: value for key, value in chosen.items() if value != ""}


def _with_floats(value: Any) -> Any:
    """Whole numbers, also those in a list, as floats."""
    if isinstance(value, list):
        return [_with_floats(v) for v in value]
    return float(value) if type(value) is int and abs(value) < 2**53 else value
