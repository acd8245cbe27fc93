"""The official scorer's type rule, "variables" included.

A possible answer of another type than documented makes a value a *variable*: it then must be equal to one of the
alternatives as it stands, without the leniency that texts, lists and dicts get (``eval.benchmarks.bfcl.values``).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

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


class TypeVerdict(NamedTuple):
    """The official error type or None, and whether the value counts as a variable."""

    error_type: str | None
    variable: bool


def check_type(value: Any, alternatives: Sequence[Any], kind: type, item: type | None) -> TypeVerdict:
    """Whether a value has its documented type, or the type of the first alternative that is not ``""``.

    Types must be the same: a bool is no int, an int no float.

    Parameters
    ----------
    kind : type
        Documented type.
    item : type or None
        Documented type of a list's elements. They are checked against each alternative's elements in the same way,
        one level deep; an alternative that is no list lets everything pass.
    """
    first = next((type(a) for a in alternatives if a != ""), None)
    if type(value) is kind:
        if item is None or any(_elements_fit(value, a, item) for a in alternatives):
            return TypeVerdict(None, first is not None and first is not kind)
        return TypeVerdict("type_error:nested" if first is kind else "type_error:simple", False)
    if type(value) is first:
        return TypeVerdict(None, True)
    return TypeVerdict("type_error:simple", False)


def _elements_fit(value: Any, alternative: Any, item: type) -> bool:
    if not isinstance(alternative, list):
        return True
    return all(check_type(v, alternative, item, None).error_type is None for v in value)
