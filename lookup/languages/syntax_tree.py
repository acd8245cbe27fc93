"""The syntax tree of a pattern."""

from typing import Literal, NamedTuple, TypeAlias

from lookup.languages.codepoints import CodePoints


class Characters(NamedTuple):
    """One character of a set."""

    points: CodePoints


class Sequence(NamedTuple):
    """One part after the other."""

    parts: "tuple[Node, ...]"


class Choice(NamedTuple):
    """One of several parts."""

    parts: "tuple[Node, ...]"


class Repeat(NamedTuple):
    """A part ``least`` to ``most`` times; ``None``: without end."""

    part: "Node"
    least: int
    most: int | None


class Look(NamedTuple):
    """A text that must follow, or must not."""

    part: "Node"
    negative: bool


class Edge(NamedTuple):
    """The start or the end of the text, a word boundary, or none."""

    kind: Literal["start", "end", "boundary", "no boundary"]


Node: TypeAlias = Characters | Sequence | Choice | Repeat | Look | Edge


def weight(node: Node) -> int:
    """How many nodes the pattern has after its repetitions are written out."""
    match node:
        case Sequence(parts) | Choice(parts):
            return 1 + sum(map(weight, parts))
        case Repeat(part, least, most):
            return 1 + weight(part) * max(1, least + 1 if most is None else most)
        case Look(part):
            return 1 + weight(part)
    return 1


def nodes_of(node: Node) -> list[Node]:
    """The node and all nodes inside."""
    found = [node]
    for one in found:
        if isinstance(one, Sequence | Choice):
            found.extend(one.parts)
        elif isinstance(one, Repeat | Look):
            found.append(one.part)
    return found


def is_anchored(node: Node) -> bool:
    """Whether every match surely begins at the start of the text."""
    match node:
        case Edge("start"):
            return True
        case Sequence(parts):
            return any(map(is_anchored, parts[:1])) or (
                len(parts) > 1 and isinstance(parts[0], Look) and is_anchored(Sequence(parts[1:]))
            )
        case Choice(parts):
            return all(map(is_anchored, parts))
        case Repeat(part, least):
            return least > 0 and is_anchored(part)
    return False
