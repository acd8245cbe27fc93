"""Follow ``$ref`` inside one document: pointers, anchors and cycles, as often as the size of the document allows.

References and branches let a small text expand exponentially: a chain of fourteen objects that each name the next one
twice has 16,384 ends. The size of the document limits the expansion of its tools, so that reading stays linear in the
text. Beyond the limit, objects are read without their keys, with a note.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Final

from lookup.parameters.requiredness import is_required
from lookup.schema.document import Document
from lookup.schema.schema import Written

_WORDS: Final = ("$ref", "$dynamicRef")
_MAX_CHAIN: Final = 16
_FOR_EACH_TOOL: Final = 100
_TIMES_THE_DOCUMENT: Final = 10
# What is taken from a reference to an object that is already being read.
_OF_A_CYCLE: Final = ("type", "title", "description")


class References:
    """The targets of references in one document.

    Parameters
    ----------
    root : Mapping
        The document; ``#/$defs/Unit`` is a pointer into it, ``#unit`` the anchor of one of its definitions.
    habit : bool, optional
        Whether a key in an object is required if nothing says so.

    Attributes
    ----------
    document : Document
    """

    def __init__(self, root: Mapping[str, Any], habit: bool | None = False) -> None:
        self.document = Document(root, documentation=True, requires=partial(is_required, habit))
        self._taken = 0

    @cached_property
    def _allowed(self) -> int:
        """How many members of objects all tools may read more than once."""
        size = 0
        seen: set[Written] = set()  # YAML's aliases share objects
        waiting: list[Any] = [self.document.root]
        while waiting:
            node = waiting.pop()
            if Written(node) in seen:
                continue
            seen.add(Written(node))
            size += 1 + len(node)
            inside = node.values() if isinstance(node, Mapping) else node
            waiting += [member for member in inside if isinstance(member, Mapping | list | tuple)]
        return _TIMES_THE_DOCUMENT * size

    def take(self, members: int) -> bool:
        """Whether an object with this number of members may be read."""
        if self._allowed - self._taken < members:
            return False
        self._taken += members
        return True

    def resolve(
        self, spec: Mapping[str, Any], active: frozenset[str], notes: list[str], take: Callable[[int], bool]
    ) -> tuple[Mapping[str, Any], frozenset[str]]:
        """The object that a reference names, merged with the words next to the reference, which win.

        Parameters
        ----------
        active : frozenset of str
            The references that led to ``spec``. Following one of them again is a cycle: it gives the type of the
            object without its keys.
        notes : list of str
            A note is added for a reference without a target. It resolves to an empty object.
        take : callable
            Whether an object with a number of members may be read (again).
        """
        for _ in range(_MAX_CHAIN):
            word = next((word for word in _WORDS if isinstance(spec.get(word), str)), None)
            if word is None:
                return spec, active
            reference = spec[word]
            beside = {key: value for key, value in spec.items() if key != word}
            target = self.document.named(reference)
            if not isinstance(target, Mapping):
                notes.append(f"the reference {reference!r} leads nowhere")
                return beside, active
            if reference in active:
                return {**{key: target[key] for key in _OF_A_CYCLE if key in target}, **beside}, active
            if not take(1 + len(target)):
                return beside, active
            active = active | {reference}
            spec = {**target, **beside}
        return {key: value for key, value in spec.items() if key not in _WORDS}, active


class Expansion:
    """The expansion of one tool: a constant number of members, then what the document allows to all."""

    def __init__(self, references: References) -> None:
        self._own = _FOR_EACH_TOOL
        self._references = references

    def take(self, members: int = 1) -> bool:
        """Whether an object with this number of members may be read."""
        if self._own >= members:
            self._own -= members
            return True
        return self._references.take(members)
