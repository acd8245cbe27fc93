"""Parts of languages: automata with limits of length."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from lookup.languages.alphabet import alphabet_of
from lookup.languages.automaton import DEAD, Automaton, product
from lookup.languages.codepoints import EVERY
from lookup.languages.lengths import ENDLESS
from lookup.languages.limits import MAX_PARTS, TooLarge

ALL_LENGTHS: Final = (0, ENDLESS)

ANY: Final = Automaton(alphabet_of([EVERY])[0], [[0, DEAD], [DEAD, DEAD]], [True])
"""The automaton of all texts."""


class Part(NamedTuple):
    """The texts of an automaton with ``least`` to ``most`` characters."""

    automaton: Automaton
    least: int
    most: int


def united_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The union of parts, with as few parts as possible."""
    by_length: dict[tuple[int, int], Automaton] = {}
    for part in parts:
        part = _normal(part)
        span = part.least, part.most
        if not any(part.automaton.accepts) or (
            span != ALL_LENGTHS and part.automaton.lengths.next_length(0, *span) is None
        ):
            continue
        by_length[span] = _union(by_length[span], part.automaton) if span in by_length else part.automaton
    united = _touching(Part(automaton, *span) for span, automaton in by_length.items())
    if len(united) > MAX_PARTS:
        raise TooLarge(f"a union of more than {MAX_PARTS} parts with lengths of their own")
    return united


def _normal(part: Part) -> Part:
    """A part without the limits that its automaton keeps anyway."""
    if part[1:] == ALL_LENGTHS:
        return part
    lengths = part.automaton.lengths
    least = 0 if part.least <= lengths.shortest[0] else part.least
    most = ENDLESS if part.most >= lengths.longest[0] else part.most
    return Part(part.automaton, least, most)


def _touching(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Unite parts of one automaton whose lengths touch."""
    result: dict[int, list[Part]] = {}
    for part in sorted(parts, key=lambda part: part.least):
        united = result.setdefault(id(part.automaton), [])
        if united and part.least <= united[-1].most + 1:
            united[-1] = united[-1]._replace(most=max(united[-1].most, part.most))
        else:
            united.append(part)
    return tuple(part for united in result.values() for part in united)


def common_parts(one: tuple[Part, ...], two: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of the intersection of two unions."""
    if len(one) * len(two) > 2 * MAX_PARTS:
        raise TooLarge(f"the intersection of {len(one)} with {len(two)} parts with lengths of their own")
    return united_parts(
        Part(_intersection(left.automaton, right.automaton), max(left.least, right.least), min(left.most, right.most))
        for left in one
        for right in two
        if max(left.least, right.least) <= min(left.most, right.most)
    )


def _intersection(one: Automaton, two: Automaton) -> Automaton:
    if one is two or two is ANY:
        return one
    return two if one is ANY else product(one, two, lambda left, right: left and right, needs_both=True)


def _union(one: Automaton, two: Automaton) -> Automaton:
    if one is two or two is ANY:
        return two
    return one if one is ANY else product(one, two, lambda left, right: left or right, needs_both=False)


def completion(automaton: Automaton, state: int, length: int) -> str:
    """A text of a length that leads from a state to the end, with plain characters."""
    lengths = automaton.lengths
    result = []
    for left in range(length - 1, -1, -1):
        for behind, character in automaton.following(state).items():
            if lengths.next_length(behind, left, left) is not None:
                state = behind
                result.append(character)
                break
    return "".join(result)
