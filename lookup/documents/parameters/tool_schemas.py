"""Schemas of tools with all that holds for a value together, as often as the document's size allows.

References and branches let a small text expand exponentially: a chain of fourteen objects that each name the next one
twice has 16,384 ends. The size of the document limits the expansion of its tools, so that reading stays linear in the
text. Beyond the limit, objects are read without their keys, with a note.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from lookup.schema.document import REFERENCES, Document, Written
from lookup.schema.schema import names
from lookup.type_names import NULL_NAMES

Schema = Mapping[str, Any]

_UNIONS: Final = ("anyOf", "oneOf")
_LEADING_ON: Final = frozenset({*REFERENCES, "allOf"})
_MAX_NESTING: Final = 16  # objects, lists and branches inside each other
_MAX_NOTES: Final = 20  # notes of one tool
_FOR_EACH_TOOL: Final = 100  # members that each tool may take of a large shared document
_TIMES_THE_DOCUMENT: Final = 10  # how often all together may take its members beyond
# What is taken from a reference to an object that is already being read.
_OF_A_CYCLE: Final = ("type", "title", "description")


class Held(NamedTuple):
    """What holds for a value together.

    Attributes
    ----------
    keywords : Mapping
        The keywords of a schema, of what its references name, and of all in ``allOf``; the outer ones win.
    unions : list of list
        The lists ``anyOf`` and ``oneOf`` of all of them.
    active : frozenset of Written
        The schemas that references led to.
    """

    keywords: Schema
    unions: list[list[Any]]
    active: frozenset[Written]


class Schemas:
    """The schemas of one tool. ``notes`` says what was ignored."""

    def __init__(self, owner: str, document: Document) -> None:
        self.document = document
        self.notes: list[str] = []
        self._owner = owner
        self._own = _FOR_EACH_TOOL

    def note(self, note: str) -> None:
        """Add a note unless it is a repetition or there are too many."""
        if note not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(note)

    def may_read(self, members: int, where: str | None = None, nesting: int = 0) -> bool:
        """Whether an object with this number of members, so deep inside others, may be read (again); a note if not."""
        beyond = members if members > self._own else 0
        room = _TIMES_THE_DOCUMENT * self.document.members - self.document.taken if beyond else 0
        if nesting > _MAX_NESTING or beyond > room:
            where = self._owner if where is None else where
            self.note(f"{where}: nested too deep or in too many ways: some keys and elements are not taken over")
            return False
        self._own -= members - beyond
        self.document.taken += beyond
        return True

    def may_read_keys(self, keywords: Schema) -> bool:
        """Like ``may_read``, of an object with these keywords."""
        keys = keywords.get("properties")
        return self.may_read(1 + len(names(keywords.get("required"))) + (len(keys) if isinstance(keys, Mapping) else 0))

    def once(self, schema: object, place: tuple[Any, ...], read: Callable[[], Any]) -> Any:
        """``read()``; of a reference, made once for all tools of the document, unless it takes of the room of all.

        ``place``: on what it depends beside the schema and the room of the tool.
        """
        reference = schema.get("$ref") if isinstance(schema, Mapping) and len(schema) == 1 else None
        if not isinstance(reference, str):
            return read()
        key = (reference, *place, self._own)
        made = self.document.kept.get(key)
        if made is None:
            taken, earlier, self.notes = self.document.taken, self.notes, []
            made = read(), self.notes, self._own, self._owner
            self.notes = earlier
            if self.document.taken == taken:  # otherwise others have less room than it had
                self.document.kept[key] = made
        found, notes, self._own, owner = made
        for note in notes:
            self.note(self._owner + note.removeprefix(owner) if note.startswith(owner) else note)
        return found

    def held(self, schema: Schema, active: frozenset[Written] = frozenset()) -> Held:
        """All that holds for the values of a schema.

        ``active``: the schemas that references led to before. One of them again is a cycle: it gives the type of an
        object without its keys.
        """
        if _LEADING_ON.isdisjoint(schema):
            return Held(schema, _unions_of(schema), active)
        keywords: dict[str, Any] = {}
        unions: list[list[Any]] = []
        named: list[Written] = []
        lost: list[str] = []
        for part, is_named in self.document.parts(schema, active, lost):
            if is_named and Written(part) in active:
                part = {keyword: part[keyword] for keyword in _OF_A_CYCLE if keyword in part}
            elif is_named:
                named.append(Written(part))
            few = is_named and "properties" not in keywords  # otherwise its keys are put beside others
            if part is not schema and not (self.may_read(1 + len(part)) if few else self.may_read_keys(part)):
                break
            part = {keyword: value for keyword, value in part.items() if keyword not in REFERENCES}
            if keywords:
                _merge(keywords, part, names(part.get("required")))
            else:
                keywords = part
            unions += _unions_of(part)
        for reference in lost:
            self.note(f"the reference {reference!r} leads nowhere")
        return Held(keywords, unions, active.union(named))

    def with_branches(self, held: Held, nesting: int = 0) -> Schema:
        """The keywords of an object with those of its branches: the keys of all, and what all of them require."""
        if not held.unions or not self.may_read(0, nesting=nesting):
            return held.keywords
        merged = dict(held.keywords)
        for union in held.unions:
            named = [self.held(branch, held.active) for branch in branches_of(union) if not is_null(branch)]
            parts = [part for each in named if self.may_read_keys(part := self.with_branches(each, nesting + 1))]
            required = [dict.fromkeys(names(part.get("required"))) for part in parts]
            shared = [name for name in required[0] if all(name in each for each in required)] if parts else []
            for part in parts:
                _merge(merged, part, shared)
        return merged


def _unions_of(keywords: Schema) -> list[list[Any]]:
    return [keywords[union] for union in _UNIONS if union in keywords and branches_of(keywords[union])]


def branches_of(union: object) -> list[Schema]:
    """The objects in the list of ``anyOf`` or ``oneOf``; empty for anything else."""
    return [branch for branch in union if isinstance(branch, Mapping)] if isinstance(union, list | tuple) else []


def is_null(branch: Schema) -> bool:
    """Whether a branch allows nothing but null."""
    written = branch.get("type")
    return isinstance(written, str) and written.lower() in NULL_NAMES


def _merge(merged: dict[str, Any], part: Schema, required: Iterable[str]) -> None:
    """Merge a part into its schema, whose own keywords win, with the keys that the part requires."""
    listed = dict.fromkeys((*names(merged.get("required")), *required))
    keys, more = merged.get("properties"), part.get("properties")
    merged |= {**part, **merged}
    if isinstance(keys, Mapping) and isinstance(more, Mapping):
        merged["properties"] = {**keys, **more, **keys}
    if listed or "required" in part:
        merged["required"] = list(listed)
