"""Schemas that hold together for one value, and the compiler that brings them into normal form."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

from lookup.schema.choices import Choices
from lookup.schema.document import Document, Part
from lookup.schema.nodes import INFINITE, Branch, Node
from lookup.schema.plain_branches import PlainBranches
from lookup.schema.sizes import size_of_branch, smallest
from lookup.schema.words import kinds_of

_MAX_KEPT: Final = 100_000


class Conjunction:
    """Some schemas, all of which a value must obey.

    Attributes
    ----------
    parts : tuple of Part
        Empty if every value is allowed.
    """

    def __init__(self, parts: tuple[Part, ...], compiler: "Compiler") -> None:
        self.parts = parts
        self._compiler = compiler

    @cached_property
    def node(self) -> Node:
        """The normal form."""
        return self._compiler.choices.node(self.parts)

    @property
    def size(self) -> int:
        """About the characters of the smallest value; ``INFINITE`` if no value is allowed."""
        return self._compiler.size(self)

    @cached_property
    def inhabited(self) -> list[Branch]:
        """The branches of the normal form, those with the smallest values first, without those that have none."""
        sized = [(self._compiler.branch_size(branch), branch) for branch in self.node.branches]
        return [branch for size, branch in sorted(sized, key=lambda pair: pair[0]) if size < INFINITE]

    @cached_property
    def is_false(self) -> bool:
        """Whether one of the schemas is ``false``."""
        return any(part.schema is False for part in self.parts)

    @cached_property
    def is_empty(self) -> bool:
        """Whether no value is allowed. Plain schemas are not looked into."""
        if self.is_false:
            return True
        if not self.parts or (len(self.parts) == 1 and _is_plain(self.parts[0].schema)):
            return False
        return self.size >= INFINITE


class Compiler:
    """Makes the normal forms of one document's schemas, each of them once.

    Parameters
    ----------
    document : Document
    closed : bool
        Whether an object without ``additionalProperties`` has its documented keys only. JSON Schema allows any others.
    """

    def __init__(self, document: Document, closed: bool) -> None:
        self.document = document
        self.closed = closed
        self._known: dict[frozenset[tuple[int, int]], Conjunction] = {}
        self._sizes: dict[Conjunction, int] = {}
        self.branches = PlainBranches(self.conjunction, document, closed)
        self.choices = Choices(document, self.branches)

    def conjunction(self, parts: Iterable[Part]) -> Conjunction:
        """The conjunction of some schemas; the same object for the same schemas."""
        distinct = {(id(p.schema), id(p.resource)): p for p in parts if p.schema is not True and p.schema != {}}
        key = frozenset(distinct)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Conjunction(tuple(distinct.values()), self)
        return found

    def size(self, conjunction: Conjunction) -> int:
        """See ``Conjunction.size``."""
        if conjunction not in self._sizes:
            smallest(conjunction, self._sizes)
        return self._sizes[conjunction]

    def branch_size(self, branch: Branch) -> int:
        """About the characters of a branch's smallest value."""
        return size_of_branch(branch, self._sizes)


_PLAIN_WORDS: Final = frozenset(
    {"type", "description", "title", "default", "examples", "example", "properties", "items"}
)


def _is_plain(schema: Any) -> bool:
    """Whether a schema of well-known words surely allows some value."""
    return isinstance(schema, dict) and _PLAIN_WORDS.issuperset(schema) and bool(kinds_of(schema))
