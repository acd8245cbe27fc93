"""Follow ``$ref`` inside one document: pointers, anchors and cycles."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.parameters.expansion import Allowance
from lookup.schema.document import Document

_WORDS: Final = ("$ref", "$dynamicRef")
_MAX_CHAIN: Final = 16
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
    allowance : Allowance
        How much of the document may be read more than once.
    document : Document
    """

    def __init__(self, root: Mapping[str, Any], habit: bool | None = False) -> None:
        self.allowance = Allowance(root)
        self.document = Document(root, documentation=True, habit=habit)

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
