"""What documentation says of a tool, flat: the common ground of the oracle and of what was extracted."""

import re
from dataclasses import dataclass, field
from typing import Any


class _Absent:
    def __repr__(self):
        return "absent"


ABSENT = _Absent()
"""No default documented."""


@dataclass(frozen=True)
class Key:
    """One key; nested ones are ``outer.inner`` and, inside the elements of a list, ``outer[].inner``.

    ``kind`` is a normalised type such as ``list[str]``, with ``?`` behind it where null is allowed, too.
    ``element_enum`` is what the elements of a list may be.
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
    """One text, or what else ``extract`` takes, with the tools that it documents."""

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
    """The kind of a type's name: ``List[str]`` -> ``list[str]``; what is not known is ``any``.

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
    """``list`` of ``str`` -> ``list[str]``; elements of any type go without saying."""
    return outer if element == "any" else f"{outer}[{element}]"
