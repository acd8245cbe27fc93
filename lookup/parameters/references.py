"""Schemas of tools with their references followed and their branches merged, as often as the document's size allows.

References and branches let a small text expand exponentially: a chain of fourteen objects that each name the next one
twice has 16,384 ends. The size of the document limits the expansion of its tools, so that reading stays linear in the
text. Beyond the limit, objects are read without their keys, with a note.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import Any, Final

from lookup.parameters.requiredness import is_required
from lookup.schema.document import Document
from lookup.schema.schema import names
from lookup.type_names import NULL_NAMES

Schema = Mapping[str, Any]

UNIONS: Final = ("anyOf", "oneOf")
MAX_NESTING: Final = 16
TOO_MUCH: Final = "nested too deep or in too many ways: some keys and elements are not taken over"

_REFERENCES: Final = ("$ref", "$dynamicRef")
_MAX_CHAIN: Final = 16
_MAX_NOTES: Final = 20
_FOR_EACH_TOOL: Final = 100
_TIMES_THE_DOCUMENT: Final = 10
# What is taken from a reference to an object that is already being read.
_OF_A_CYCLE: Final = ("type", "title", "description")


class References:
    """One document, and how many members of its objects may still be read, by all of its tools together.

    Parameters
    ----------
    root : Mapping
        The document; ``#/$defs/Unit`` is a pointer into it, ``#unit`` the anchor of one of its definitions.
    convention : bool, optional
        Whether a key in an object is required if nothing says so.
    asks : bool
        Whether the document describes requests, which lack what only responses hold.
    """

    def __init__(self, root: Schema, convention: bool | None = False, asks: bool = False) -> None:
        self.document = Document(root, documentation=True, requires=partial(is_required, convention), asks=asks)
        self.taken = 0

    @cached_property
    def allowed(self) -> int:
        """How many members may be read, beside a constant number for each tool."""
        return _TIMES_THE_DOCUMENT * sum(1 + len(each) for each in self.document.objects())


class Schemas:
    """The schemas of one tool.

    Attributes
    ----------
    document : Document
    notes : list of str
        What was ignored.
    """

    def __init__(self, owner: str, references: References) -> None:
        self.document = references.document
        self.notes: list[str] = []
        self._owner = owner
        self._references = references
        self._own = _FOR_EACH_TOOL

    def note(self, note: str) -> None:
        """Add a note unless it is a repetition or there are too many."""
        if note not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(note)

    def take(self, members: int = 1) -> bool:
        """Whether an object with this number of members may be read (again)."""
        if self._own >= members:
            self._own -= members
        elif self._references.allowed - self._references.taken >= members:
            self._references.taken += members
        else:
            return False
        return True

    def may_read(self, members: int) -> bool:
        """Like ``take``. Adds a note if not."""
        taken = self.take(members)
        if not taken:
            self.note(f"{self._owner}: {TOO_MUCH}")
        return taken

    def take_keys(self, schema: Schema) -> bool:
        """Whether the keys of an object may be read (again). Adds a note if not."""
        properties = schema.get("properties")
        keys = len(properties) if isinstance(properties, Mapping) else 0
        return self.may_read(1 + len(names(schema.get("required"))) + keys)

    def resolve(self, spec: Schema, active: frozenset[str] = frozenset()) -> tuple[Schema, frozenset[str]]:
        """The object that a reference names, merged with the words next to it, which win; ``spec`` without one.

        Parameters
        ----------
        active : frozenset of str
            The references that led to ``spec``; they are returned with those that are followed. Following one of them
            again is a cycle: it gives the type of the object without its keys.
        """
        for _ in range(_MAX_CHAIN):
            word = next((word for word in _REFERENCES if isinstance(spec.get(word), str)), None)
            if word is None:
                return spec, active
            reference = spec[word]
            beside = {key: value for key, value in spec.items() if key != word}
            target = self.document.named(reference)
            if not isinstance(target, Mapping):
                self.note(f"the reference {reference!r} leads nowhere")
                return beside, active
            if reference in active:
                return {**{key: target[key] for key in _OF_A_CYCLE if key in target}, **beside}, active
            if not self.take(1 + len(target)):
                return beside, active
            active = active | {reference}
            spec = {**target, **beside}
        return {key: value for key, value in spec.items() if key not in _REFERENCES}, active

    def merged(
        self, schema: Schema, active: frozenset[str], unions: bool = True, depth: int = 0
    ) -> tuple[Schema, frozenset[str]]:
        """The schema of an object with its reference, ``allOf`` and other branches merged into one.

        It has the keys of all branches of ``anyOf`` and ``oneOf``, which are left out without ``unions``. A key is
        required if all of them require it.
        """
        schema, active = self.resolve(schema, active)
        merged = {word: value for word, value in schema.items() if unions or word not in UNIONS}
        if depth > MAX_NESTING:
            self.note(f"{self._owner}: {TOO_MUCH}")
            return merged, active
        for branch in branches_of(schema, "allOf"):
            part, active = self.merged(branch, active, depth=depth + 1)
            if self.take_keys(part):
                _merge(merged, part, names(part.get("required")))
        for union in UNIONS:
            named = [branch for branch in branches_of(merged, union) if not is_null(branch)]
            parts = [self.merged(branch, active, depth=depth + 1)[0] for branch in named]
            parts = [part for part in parts if self.take_keys(part)]
            for part in parts:
                _merge(merged, part, ())
            if parts:
                shared = frozenset.intersection(*(frozenset(names(part.get("required"))) for part in parts))
                _merge(merged, {}, shared)
        return merged, active


def branches_of(spec: Schema, word: str) -> list[Schema]:
    """The objects in the list ``allOf``, ``anyOf`` or ``oneOf``; empty without a list."""
    branches = spec.get(word)
    return [b for b in branches if isinstance(b, Mapping)] if isinstance(branches, list | tuple) else []


def is_null(branch: Schema) -> bool:
    """Whether a branch allows nothing but null."""
    written = branch.get("type")
    return isinstance(written, str) and written.lower() in NULL_NAMES


def _merge(merged: dict[str, Any], part: Schema, required: Iterable[str]) -> None:
    """Merge a branch into its schema, whose own words win, with the keys that the branch requires."""
    required = dict.fromkeys((*names(merged.get("required")), *required))
    properties = merged.get("properties"), part.get("properties")
    merged |= {word: value for word, value in part.items() if word not in {*merged, *UNIONS, "allOf", "required"}}
    if isinstance(properties[0], Mapping) and isinstance(properties[1], Mapping):
        merged["properties"] = {**properties[0], **{k: v for k, v in properties[1].items() if k not in properties[0]}}
    if required or "required" in part:
        merged["required"] = list(required)
