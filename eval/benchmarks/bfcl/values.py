"""The official scorer's comparison of one value with the alternatives of a possible answer.

``""`` among the alternatives of a parameter or of a dict's key says that it may be left out. An alternative of another
type than documented makes a value a *variable*: it then must be equal to one of the alternatives as it stands, without
the leniency that texts, lists and dicts get.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.benchmarks.samples import Fault, ScorerCrash
from tooldecoding.files.json_lines import short_repr

TYPES: Final[Mapping[str, type]] = {
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


def standardise(value: Any) -> Any:
    """A text as BFCL and ACEBench compare it: without some marks and case; any other value as it stands."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def check_value(key: str, value: Any, documented: Any, alternatives: Any) -> Fault | None:
    """Compare the value of one parameter with its alternatives.

    Raises
    ------
    ScorerCrash
        If the official scorer would end with an exception.
    """
    alternatives = alternatives_of(key, alternatives)
    name = part(documented, "type")
    kind = _type(name)
    item = _type(part(documented, "items", "type")) if name in ("array", "tuple") else None
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


def alternatives_of(key: str, alternatives: Any) -> Sequence[Any]:
    """The alternatives of a parameter; ScorerCrash for anything but a list."""
    if not isinstance(alternatives, list):
        raise ScorerCrash(f"{key}: the answer is {short_repr(alternatives)}, no list of alternatives")
    return alternatives


def part(documented: Any, *path: str) -> Any:
    """A part of documentation that the official scorer reads without looking whether it is there."""
    for key in path:
        if not isinstance(documented, dict) or key not in documented:
            raise ScorerCrash(f"the documentation has no {'.'.join(path)}")
        documented = documented[key]
    return documented


def _type(name: Any) -> type:
    if not isinstance(name, str) or name not in TYPES:
        raise ScorerCrash(f"the documentation has the unknown type {short_repr(name)}")
    return TYPES[name]


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
