"""How much of a document may be read more than once.

References and branches let a small text stand for an endless one: a chain of fourteen objects that name the next one
twice has 16,384 ends. What a tool may expand to is bounded by the size of the document that it stands in, so that
reading stays linear in the text; beyond it, objects are taken without their keys, with a note.
"""

from collections.abc import Mapping
from typing import Any, Final

_FOR_EACH_TOOL: Final = 100
_TIMES_THE_DOCUMENT: Final = 10


class Allowance:
    """What the tools of one document may expand to together, in members of objects.

    Parameters
    ----------
    document : Mapping
        What references point into; it may be endless itself only by references.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._left: int | None = None

    def take(self, members: int) -> bool:
        """Whether an object with so many members may be read."""
        if self._left is None:
            self._left = _TIMES_THE_DOCUMENT * _size(self._document)
        if self._left < members:
            return False
        self._left -= members
        return True


class Expansion:
    """What one tool may expand to: some members of its own, then those of the document's allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._own = _FOR_EACH_TOOL
        self._allowance = allowance

    def take(self, members: int = 1) -> bool:
        """Whether an object with so many members may be read."""
        if self._own >= members:
            self._own -= members
            return True
        return self._allowance.take(members)


def _size(document: Mapping[str, Any]) -> int:
    """How many members the objects and lists of a document have."""
    size = 0
    seen: set[int] = set()  # YAML's aliases share what they name
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
