"""The official scorer's comparison of values with the alternatives of a possible answer.

Texts are compared without the characters `` ,./-_*^``, in lower case, with one kind of quote. ``""`` among the
alternatives of a parameter or of a dict's key says that it may be left out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eval.benchmarks.faults import Fault, ScorerCrash, shown

_IGNORED = re.compile(r"[ ,./\-_*^]")


def standardise(value: Any) -> Any:
    """A text as it is compared; anything else as it stands."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def check_string(key: str, value: str, alternatives: Sequence[Any]) -> Fault | None:
    """A text must be equal to one of the alternatives that are texts."""
    if standardise(value) in [standardise(a) for a in alternatives if isinstance(a, str)]:
        return None
    return Fault("value_error:string", _expected(key, value, alternatives))


def check_list(key: str, value: Sequence[Any], alternatives: Sequence[Any]) -> Fault | None:
    """A list must be equal to an alternative, in the same sequence; texts in it are standardised, not deeper ones."""
    accepted = []
    for alternative in alternatives:
        accepted.append([standardise(a) for a in _elements(key, alternative)])
    if [standardise(v) for v in value] in accepted:
        return None
    return Fault("value_error:list/tuple", _expected(key, value, alternatives))


def check_dict(key: str, value: Any, alternatives: Sequence[Any]) -> Fault | None:
    """A dict must fit one alternative, a mapping from inner keys to lists of alternatives; deeper values must be equal.

    The last alternative that is not ``""`` decides the error type.
    """
    if not isinstance(value, dict):
        raise ScorerCrash(f"{key}: {shown(value)} stands where a dict is compared")
    fault = Fault("dict_checker:unclear", f"{key}: there is no dict to compare {shown(value)} with")
    for alternative in alternatives:
        if alternative == "":
            continue
        found = _dict_fault(key, value, alternative)
        if found is None:
            return None
        fault = found
    return fault


def check_list_of_dicts(key: str, value: Sequence[Any], alternatives: Sequence[Any]) -> Fault | None:
    """Each dict must fit the one at its place in an alternative of the same length."""
    fault = Fault("list_dict_checker:unclear", f"{key}: there is no list to compare {shown(value)} with")
    for alternative in alternatives:
        dicts = _elements(key, alternative)
        if len(value) != len(dicts):
            message = f"{key}: expected {len(dicts)} dicts, found {len(value)}"
            fault = Fault("value_error:list_dict_count", message)
            continue
        faults = (check_dict(key, v, [a]) for v, a in zip(value, dicts, strict=True))
        found = next((f for f in faults if f), None)
        if found is None:
            return None
        fault = found
    return fault


def _dict_fault(key: str, value: Mapping[Any, Any], alternative: Any) -> Fault | None:
    """A key that is missing outweighs one that is wrong: the official scorer looks for it later."""
    if not isinstance(alternative, dict):
        raise ScorerCrash(f"{key}: the alternative {shown(alternative)} stands among dicts")
    fault = None
    for inner, given in value.items():
        if inner not in alternative:
            fault = Fault("value_error:dict_key", f"{key}: unexpected key {shown(inner)}")
            break
        accepted = _elements(key, alternative[inner])
        if standardise(given) not in [standardise(a) for a in accepted]:
            fault = Fault("value_error:dict_value", _expected(f"{key}[{inner!r}]", given, accepted))
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
    raise ScorerCrash(f"{key}: the answer has {shown(expected)} where a list must stand")


def _expected(key: str, value: Any, alternatives: Sequence[Any]) -> str:
    return f"{key}: expected one of {shown(alternatives)}, found {shown(value)}"
