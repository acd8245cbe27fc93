"""Schemas that hold together for one value, and the compiler that brings them into normal form."""

from collections.abc import Iterable
from functools import cached_property

from lookup.schema.choices import Choices
from lookup.schema.document import Document, Part
from lookup.schema.inhabited import surely_allows
from lookup.schema.nodes import INFINITE, Branch, Node
from lookup.schema.plain_branches import PlainBranches
from lookup.schema.sizes import size_of_branch, smallest


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
        """The branches of the normal form without those that have no value."""
        if self._is_sure and len(self.node.branches) == 1:
            return list(self.node.branches)
        return [branch for branch in self.node.branches if self.size_of(branch) < INFINITE]

    def size_of(self, branch: Branch) -> int:
        """About the characters of the smallest value of a branch."""
        return self._compiler.branch_size(branch)

    @cached_property
    def _is_sure(self) -> bool:
        """Whether some value is surely allowed."""
        return not self.parts or (len(self.parts) == 1 and surely_allows(self.parts[0], self._compiler.document))

    @cached_property
    def is_false(self) -> bool:
        """Whether one of the schemas is ``false``."""
        return any(part.schema is False for part in self.parts)

    @cached_property
    def is_empty(self) -> bool:
        """Whether no value is allowed."""
        return self.is_false or not (self._is_sure or self.size < INFINITE)


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
        """See ``Conjunction.size_of``."""
        return size_of_branch(branch, self._sizes)
