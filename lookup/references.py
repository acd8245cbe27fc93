"""Following ``$ref`` inside one document: pointers, anchors, and an end to cycles."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

_WORDS: Final = ("$ref", "$dynamicRef")
_MAX_CHAIN: Final = 16
# What a reference back to an object that is being read still tells of it.
_OF_A_CYCLE: Final = ("type", "title", "description")


class References:
    """The places of one document that references name.

    Parameters
    ----------
    root : Mapping
        The document; ``#/$defs/Unit`` is a pointer into it, ``#unit`` the anchor of one of its definitions.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def resolve(
        self, spec: Mapping[str, Any], active: frozenset[str], notes: list[str]
    ) -> tuple[Mapping[str, Any], frozenset[str]]:
        """The object that a reference names, under what stands beside the reference, which wins.

        Parameters
        ----------
        active : frozenset of str
            The references inside whose objects ``spec`` stands. One of them again is a cycle, and gives the type
            of its object without the keys.
        notes : list of str
            Takes a line about a reference that leads nowhere, which gives an object that says nothing.
        """
        for _ in range(_MAX_CHAIN):
            word = next((word for word in _WORDS if isinstance(spec.get(word), str)), None)
            if word is None:
                return spec, active
            reference = spec[word]
            beside = {key: value for key, value in spec.items() if key != word}
            target = self._target(reference)
            if target is None:
                notes.append(f"the reference {reference!r} leads nowhere: any value is taken")
                return beside, active
            if reference in active:
                return {**{key: target[key] for key in _OF_A_CYCLE if key in target}, **beside}, active
            active = active | {reference}
            spec = {**target, **beside}
        return {key: value for key, value in spec.items() if key not in _WORDS}, active

    def _target(self, reference: str) -> Mapping[str, Any] | None:
        if reference == "#":
            return self._root
        node: Any = None
        if reference.startswith("#/"):
            node = self._root
            for step in unquote(reference[2:]).split("/"):
                node = _member(node, step.replace("~1", "/").replace("~0", "~"))
        elif reference.startswith("#"):
            definitions = self._root.get("$defs")
            for candidate in definitions.values() if isinstance(definitions, Mapping) else ():
                if isinstance(candidate, Mapping) and reference[1:] in (
                    candidate.get("$anchor"),
                    candidate.get("$dynamicAnchor"),
                ):
                    node = candidate
        return node if isinstance(node, Mapping) else None


def _member(node: Any, step: str) -> Any:
    if isinstance(node, Mapping):
        return node.get(step)
    if isinstance(node, list | tuple) and step.isdecimal() and len(step) < 10 and int(step) < len(node):
        return node[int(step)]
    return None
