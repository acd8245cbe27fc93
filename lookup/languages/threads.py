"""Nondeterministic automata: the nodes of a pattern, each with what follows it."""

from typing import Final, NamedTuple

from lookup.languages.codepoints import EVERY, WORD, CodePoints
from lookup.languages.limits import MAX_NODES, TooLarge
from lookup.languages.syntax_tree import (
    Characters,
    Choice,
    Edge,
    Look,
    Node,
    Repeat,
    Sequence,
    is_anchored,
    nodes_of,
    weight,
)

FINAL: Final = 0
"""The node behind the pattern: the match is found, and any text may follow."""


class Step(NamedTuple):
    """Read one character of a set."""

    set_number: int
    target: int


class Fork(NamedTuple):
    """Go on at each target."""

    targets: tuple[int, ...]


class Check(NamedTuple):
    """Go on if the edge or the lookahead holds here."""

    what: Edge | Look
    target: int


class Sets:
    """The sets of characters of a pattern, numbered.

    Attributes
    ----------
    sets : list of CodePoints
    has_boundary : bool
        Whether the pattern has word boundaries.
    """

    def __init__(self, node: Node) -> None:
        nodes = nodes_of(node)
        self.has_boundary = any(isinstance(one, Edge) and "boundary" in one.kind for one in nodes)
        found = [EVERY, *[WORD] * self.has_boundary, *[one.points for one in nodes if isinstance(one, Characters)]]
        numbers: dict[CodePoints, int] = {}
        # By identity: sets are long, and a repeated one is looked up often.
        self._numbers = {id(points): numbers.setdefault(points, len(numbers)) for points in found}
        self.sets = list(numbers)

    def number(self, points: CodePoints) -> int:
        """The number of a set that the pattern has."""
        return self._numbers[id(points)]


class Threads:
    """The nodes of a pattern.

    Attributes
    ----------
    nodes : list of Step, Fork or Check
        The first one is ``FINAL``.
    entry : int
        Where a match begins at the start of the text.
    skip : int or None
        The node that reads what stands before the match; ``None`` if nothing can.
    """

    def __init__(self, node: Node, sets: Sets, anywhere: bool) -> None:
        if weight(node) > MAX_NODES:
            raise TooLarge(f"the pattern has more than {MAX_NODES} nodes")
        self._sets = sets
        every = sets.number(EVERY)
        self.nodes: list[Step | Fork | Check] = [Step(every, FINAL)]
        self._known: dict[Step | Fork | Check, int] = {}
        self.entry = self._build(node, FINAL)
        self.skip: int | None = None
        if anywhere and not is_anchored(node):
            begin = self._reserve()
            self.skip = self._add(Step(every, begin))
            self.nodes[begin] = Fork((self.entry, self.skip))
            self.entry = begin

    def steps(self) -> dict[int, Step]:
        """The nodes that read a character, by number."""
        return {number: node for number, node in enumerate(self.nodes) if isinstance(node, Step)}

    def _reserve(self) -> int:
        """The number of a node that is put in later."""
        self.nodes.append(Fork(()))
        return len(self.nodes) - 1

    def _add(self, node: Step | Fork | Check) -> int:
        """The number of a node. Equal nodes are one, so alternatives share what they end with."""
        number = self._known.get(node)
        if number is None:
            number = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def _build(self, node: Node, target: int) -> int:
        match node:
            case Characters(points):
                return self._add(Step(self._sets.number(points), target))
            case Sequence(parts):
                for part in reversed(parts):
                    target = self._build(part, target)
                return target
            case Choice(parts):
                return self._add(Fork(tuple([self._build(part, target) for part in parts])))
            case Repeat(part, least, most):
                return self._repeat(part, least, most, target)
            case Edge() | Look():
                return self._add(Check(node, target))

    def _repeat(self, part: Node, least: int, most: int | None, target: int) -> int:
        if most is None:
            loop = self._reserve()
            body = self._build(part, loop)
            self.nodes[loop] = Fork((body, target))
            target = body if least else loop
            least -= least > 0
        else:
            behind = target
            for _ in range(most - least):
                target = self._add(Fork((self._build(part, target), behind)))
        for _ in range(least):
            target = self._build(part, target)
        return target
