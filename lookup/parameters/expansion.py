"""Limits on how much of a document may be read more than once.

References and branches let a small text expand exponentially: a chain of fourteen objects that each name the next one
twice has 16,384 ends. The size of the document limits the expansion of its tools, so that reading stays linear in the
text. Beyond the limit, objects are read without their keys, with a note.
"""

from collections.abc import Mapping
from typing import Any, Final

_FOR_EACH_TOOL: Final = 100
_TIMES_THE_DOCUMENT: Final = 10


class Allowance:
    """The total expansion of all tools of one document, in members of objects.

    Parameters
    ----------
    document : Mapping
        The document that references point into.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._left: int | None = None

    def take(self, members: int) -> bool:
        """Whether an object with this number of members may be read."""
        if self._left is None:
            self._left = _TIMES_THE_DOCUMENT * _size(self._document)
        if self._left < members:
            return False
        self._left -= members
        return True


class Expansion:
    """The expansion of one tool: a constant number of members, then the document's allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._own = _FOR_EACH_TOOL
        self._allowance = allowance

    def take(self, members: int = 1) -> bool:
        """Whether an object with this number of members may be read."""
        if self._own >= members:
            self._own -= members
            return True
        return self._allowance.take(members)


def _size(document: Mapping[str, Any]) -> int:
    """The number of members in all objects and lists of a document."""
    size = 0
    seen: set[int] = set()  # YAML's aliases share objects
    waiting: list[Any] = [document]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        size += 1 + len(node)
        inside = node.values() if isinstance(node, Mapping) else node
        waiting += [member for member in inside if isinstance(member, Mapping | list | tuple)]
    return size
