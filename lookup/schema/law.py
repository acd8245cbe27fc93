"""What a JSON Schema allows, for values that are decoded and for values that are finished."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from lookup.errors import DocumentationError
from lookup.schema.conjunction import Compiler, Conjunction
from lookup.schema.document import Document, Part, Schema
from lookup.schema.listing import leaves_values
from lookup.schema.nodes import INFINITE, Branch, Lists, Objects, Texts
from lookup.schema.sizes import needed
from lookup.schema.validation import Validator

_MAX_WALKED: Final = 2_000
_MAX_BRANCHES: Final = 2_000
_MAX_NOTES: Final = 20
_IMPOSSIBLE: Final = "no value can obey the schema"


class Law:
    """The values that a JSON Schema allows.

    Parameters
    ----------
    schema : Mapping or bool
    document : Document, optional
        What references point into; by default the schema itself.
    closed : bool
        Whether values are decoded as a tool's documentation is meant: an object without ``additionalProperties`` has
        its documented keys only, and words that say something of one type only imply the type.

    Raises
    ------
    DocumentationError
        If the schema is neither an object nor a boolean.
    """

    def __init__(self, schema: Schema, document: Document | None = None, closed: bool = False) -> None:
        if not isinstance(schema, dict | bool):
            raise DocumentationError(f"expected a schema to be an object or a boolean, found {type(schema).__name__}")
        if document is None:
            document = Document(schema if isinstance(schema, dict) else {})
        self._compiler = Compiler(document, closed)
        self._validator = Validator(document, closed)
        self._parts: tuple[Part, ...] = (document.part(schema, document.root),)

    def _with(self, parts: Iterable[Part]) -> "Law":
        law = object.__new__(Law)
        law._compiler, law._validator, law._parts = self._compiler, self._validator, tuple(parts)
        return law

    @cached_property
    def conjunction(self) -> Conjunction:
        """The schema, whose normal form is made when it is needed."""
        return self._compiler.conjunction(self._parts)

    def key(self, name: str) -> "Law | None":
        """The law of one key of the objects that are allowed; ``None`` if no object may have it."""
        objects = [branch for branch in self.conjunction.node.branches if isinstance(branch, Objects)]
        found = list(dict.fromkeys(key for branch in objects if (key := branch.keys.get(name)) is not None))
        if not found:
            return None
        if len(found) == 1:
            return self._with(found[0].parts)
        resource = self._parts[0].resource
        schema = {"anyOf": [{"allOf": [part.schema for part in key.parts]} for key in found]}
        return self._with([Part(schema, resource)])

    def check(self, value: Any) -> Any:
        """The value, if it obeys the schema.

        Raises
        ------
        SchemaError
            If it does not.
        """
        for part in self._parts:
            self._validator.demand(value, part)
        return value

    def allows(self, value: Any) -> bool:
        """Whether a value obeys the schema."""
        return all(self._validator.allows(value, part) for part in self._parts)

    decides = True

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while a value is decoded, only checked after: ``key 'a': not``."""
        if self.is_empty:
            return (f"{self.impossible}, so it is never written",)
        found: list[str] = []
        for where, words in _unenforced(self.conjunction):
            note = f"{where}{', '.join(words)}"
            if note not in found and len(found) < _MAX_NOTES:
                found.append(note)
        return tuple(found)

    @cached_property
    def is_empty(self) -> bool:
        """Whether no value is allowed."""
        return self.conjunction.size >= INFINITE

    @property
    def impossible(self) -> str:
        """Where a schema that no value can obey contradicts itself: ``key 'a': items: no value …``."""
        where, here, seen = "", self.conjunction, {self.conjunction}
        while True:
            members = (
                (step, inner)
                for branch in here.node.branches
                for step, inner in _inside(branch)
                if inner not in seen and inner in needed(branch) and inner.size >= INFINITE
            )
            step, inner = next(members, ("", None))
            if inner is None:
                return f"{where}{_IMPOSSIBLE}"
            where, here = f"{where}{step}: ", inner
            seen.add(inner)


def _unenforced(start: Conjunction) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where words are not enforced, and which."""
    waiting: list[tuple[str, Conjunction]] = [("", start)]
    seen = {start}
    branches = 0
    for walked, (where, conjunction) in enumerate(waiting):  # it grows
        if walked >= _MAX_WALKED or branches >= _MAX_BRANCHES:
            yield "", (f"what the schemas beyond the first {walked} say was not looked at",)
            return
        node = conjunction.node
        branches += len(node.branches)
        words = (*node.notes, *(note for branch in node.branches for note in _own_notes(branch)))
        if words:
            yield where, tuple(dict.fromkeys(words))
        for branch in node.branches:
            for step, inner in _inside(branch):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append((f"{where}{step}: ", inner))


def _own_notes(branch: Branch) -> tuple[str, ...]:
    if isinstance(branch, Lists) and branch.unique and not leaves_values(branch):
        return ("uniqueItems",)
    return branch.notes if isinstance(branch, Texts) else ()


def _inside(branch: Branch) -> Iterator[tuple[str, Conjunction]]:
    if isinstance(branch, Lists):
        yield from ((f"item {place}", item) for place, item in enumerate(branch.prefix))
        if branch.rest is not None:
            yield "items", branch.rest
    if isinstance(branch, Objects):
        yield from ((f"key {name!r}", key) for name, key in branch.keys.items())
        free = None if branch.free is None else branch.free("")
        if free is not None:
            yield "other keys", free
