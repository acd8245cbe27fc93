"""A flat description of a tool: the common format of the oracle and of extracted tools."""

import re
from dataclasses import dataclass, field
from typing import Any


class _Absent:
    def __repr__(self):
        return "absent"


ABSENT = _Absent()
"""No default is documented."""


@dataclass(frozen=True)
class Key:
    """One key. Nested keys are ``outer.inner``, or ``outer[].inner`` inside the elements of a list.

    ``kind`` is a normalised type such as ``list[str]``, followed by ``?`` if null is allowed. ``element_enum`` is the
    enum of the elements of a list.
    """

    path: str
    required: bool | None
    raw_type: str
    kind: str
    enum: tuple[Any, ...] | None = None
    element_enum: tuple[Any, ...] | None = None
    default: Any = ABSENT
    description: str = ""


@dataclass(frozen=True)
class Tool:
    name: str
    description: str = ""
    keys: tuple[Key, ...] = field(default=())


@dataclass(frozen=True)
class Case:
    """One input of ``extract`` with the tools that it documents."""

    id: str
    source: Any
    expected: list[Tool]
    origin: str = "<text>"
    on_duplicate: str = "error"


_NAMES = {
    "str": "str string char text date datetime time enum binary",
    "int": "int integer long",
    "float": "float number double",
    "bool": "bool boolean",
    "list": "list array arraylist",
    "dict": "dict object hashmap",
    "tuple": "tuple",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_INSIDE = re.compile(r"(\w+) ?[\[(<](.+)[\])>]", re.DOTALL)


def kind_of_name(written: str) -> str:
    """The kind of a type name: ``List[str]`` -> ``list[str]``. An unknown name is ``any``.

    Only lists and tuples have elements: ``DATE (YYYY-MM-DD)`` is a text.
    """
    name = written.strip().lower()
    if name in _KINDS:
        return _KINDS[name]
    if match := re.fullmatch(r"array of (.+)", name):
        return container("list", kind_of_name(match[1].removesuffix("s")))
    if match := _INSIDE.fullmatch(name):
        outer = kind_of_name(match[1])
        return container(outer, kind_of_name(match[2])) if outer in ("list", "tuple") else outer
    return "any"


def container(outer: str, element: str) -> str:
    """``list`` of ``str`` -> ``list[str]``. Elements of any type are omitted."""
    return outer if element == "any" else f"{outer}[{element}]"
