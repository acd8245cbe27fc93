"""The syntax tree of a pattern. Nodes are compared by identity."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from lookup.languages.codepoints import TEXT, CodePoints, common
from lookup.languages.limits import MAX_OPTIONAL, TooLarge


class Node(ABC):
    """A part of a pattern."""

    @property
    def inside(self) -> "tuple[Node, ...]":
        """The nodes directly inside."""
        return ()

    @cached_property
    def is_plain(self) -> bool:
        """Whether it has neither lookaheads nor edges, so that what it matches depends on nothing around."""
        return all(node.is_plain for node in self.inside)

    @cached_property
    def has_start(self) -> bool:
        """Whether it has the edge at the start of the text."""
        return any(node.has_start for node in self.inside)

    @property
    @abstractmethod
    def empty(self) -> "Node":
        """What must hold where it matches no character: ``EMPTY`` if nothing, ``NOTHING`` if it always matches one."""

    @property
    @abstractmethod
    def solid(self) -> "Node":
        """The same part where it matches at least one character."""

    @abstractmethod
    def at(self, is_start: bool) -> "Node":
        """The same part, where it begins at the start of the text or surely not, without edges at the start."""


@dataclass(frozen=True, eq=False)
class Characters(Node):
    """One character of a set."""

    points: CodePoints

    @property
    def empty(self) -> Node:
        return NOTHING

    @property
    def solid(self) -> Node:
        return self

    def at(self, is_start: bool) -> Node:
        return self


@lru_cache(maxsize=4096)
def characters(points: CodePoints) -> Characters:
    """One character of a set that a text may have; the same node for the same set."""
    return Characters(common(points, TEXT))


@dataclass(frozen=True, eq=False)
class Sequence(Node):
    """One part after the other."""

    parts: tuple[Node, ...]

    @property
    def inside(self) -> tuple[Node, ...]:
        return self.parts

    @cached_property
    def empty(self) -> Node:
        return sequence(part.empty for part in self.parts)

    @cached_property
    def solid(self) -> Node:
        found: list[Node] = []
        before: list[Node] = []
        for place, part in enumerate(self.parts):
            found.append(sequence([*before, part.solid, *self.parts[place + 1 :]]))
            if part.empty is NOTHING:
                break
            before += [] if part.empty is EMPTY else [part.empty]
            if place == MAX_OPTIONAL:
                raise TooLarge(f"the pattern has more than {MAX_OPTIONAL} optional parts in a row")
        return choice(found)

    def at(self, is_start: bool) -> Node:
        if not is_start:
            return sequence(part.at(False) for part in self.parts)
        if any(part.has_start for part in self.parts[MAX_OPTIONAL:]):
            raise TooLarge(f"the pattern has a '^' behind {MAX_OPTIONAL} other parts")
        for place, part in enumerate(self.parts[:-1]):
            behind = Sequence(self.parts[place + 1 :])
            if behind.has_start and not (part.is_plain and part.empty is NOTHING):
                first = part.at(True)
                moved = sequence([*self.parts[:place], first.solid, behind.at(False)])
                return choice([moved, sequence([*self.parts[:place], first.empty, behind.at(True)])])
            if part.has_start or part.empty is NOTHING:
                return sequence([*self.parts[:place], part.at(True), behind.at(False)])
        return sequence([*self.parts[:-1], *[part.at(True) for part in self.parts[-1:]]])


@dataclass(frozen=True, eq=False)
class Choice(Node):
    """One of several parts."""

    parts: tuple[Node, ...]

    @property
    def inside(self) -> tuple[Node, ...]:
        return self.parts

    @cached_property
    def empty(self) -> Node:
        return choice(part.empty for part in self.parts)

    @cached_property
    def solid(self) -> Node:
        return choice(part.solid for part in self.parts)

    def at(self, is_start: bool) -> Node:
        return choice(part.at(is_start) for part in self.parts)


@dataclass(frozen=True, eq=False)
class Repeat(Node):
    """A part ``least`` to ``most`` times; ``None``: without end."""

    part: Node
    least: int
    most: int | None

    @property
    def inside(self) -> tuple[Node, ...]:
        return (self.part,)

    @cached_property
    def empty(self) -> Node:
        return self.part.empty if self.least else EMPTY

    def again(self, least: int) -> Node:
        """What follows one of the parts, if at least as many still must."""
        return repeat(self.part, least, None if self.most is None else self.most - 1)

    @cached_property
    def solid(self) -> Node:
        if self.most == 0:
            return NOTHING
        found = [sequence([self.part.solid, self.again(max(self.least - 1, 0))])]
        if self.least > 1 and self.part.empty is not NOTHING:
            found.append(sequence([self.part.empty, self.part.solid, self.again(0)]))
        return choice(found)

    def at(self, is_start: bool) -> Node:
        if not self.has_start or not is_start:
            return self if not self.has_start else repeat(self.part.at(False), self.least, self.most)
        first, late = self.part.at(True), Repeat(self.part.at(False), self.least, self.most)
        found = [sequence([first.solid, late.again(max(self.least - 1, 0))]), first.empty if self.least else EMPTY]
        if self.least > 1:
            found.append(sequence([first.empty, first.solid, late.again(0)]))
        return choice(found)


class Condition(Node):
    """What looks at the text around and matches no character."""

    is_plain = False

    @property
    def empty(self) -> Node:
        return self

    @property
    def solid(self) -> Node:
        return NOTHING


@dataclass(frozen=True, eq=False)
class Look(Condition):
    """A text that must follow, or must not."""

    part: Node
    negative: bool

    @property
    def inside(self) -> tuple[Node, ...]:
        return (self.part,)

    def at(self, is_start: bool) -> Node:
        return Look(self.part.at(is_start), self.negative) if self.has_start else self


@dataclass(frozen=True, eq=False)
class Edge(Condition):
    """The start or the end of the text, a word boundary, or none."""

    kind: Literal["start", "end", "boundary", "no boundary"]

    @property
    def has_start(self) -> bool:
        return self.kind == "start"

    def at(self, is_start: bool) -> Node:
        return self if self.kind != "start" else EMPTY if is_start else NOTHING


EMPTY: Final[Node] = Sequence(())
"""Matches no character, everywhere."""

NOTHING: Final[Node] = Choice(())
"""Matches nowhere."""


def sequence(parts: Iterable[Node]) -> Node:
    """One part after the other."""
    found: list[Node] = []
    for part in parts:
        if part is NOTHING:
            return NOTHING
        found += part.parts if isinstance(part, Sequence) else [part]
    return found[0] if len(found) == 1 else Sequence(tuple(found)) if found else EMPTY


def choice(parts: Iterable[Node]) -> Node:
    """One of several parts."""
    found = dict.fromkeys(part for part in parts if part is not NOTHING)
    return next(iter(found)) if len(found) == 1 else Choice(tuple(found)) if found else NOTHING


def repeat(part: Node, least: int, most: int | None) -> Node:
    """A part ``least`` to ``most`` times."""
    if most == 0 or part is EMPTY or (part is NOTHING and not least):
        return EMPTY
    return part if part is NOTHING or (least, most) == (1, 1) else Repeat(part, least, most)


def nodes_of(node: Node) -> Iterator[Node]:
    """The node and all nodes inside."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.inside)
