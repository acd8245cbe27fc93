"""The size of the smallest value of a schema, also of one that refers to itself.

A value that needs more than ``_MAX_DEPTH`` levels, ``_MAX_SIZE`` characters or too many schemas is taken to be
impossible.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from lookup.schema.free_keys import groups_of
from lookup.schema.listing import MAX_LISTED, listed_values
from lookup.schema.nodes import INFINITE, Branch, Conjunction, Constants, Contained, Lists, Numbers, Objects, Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.words import identity

_MAX_DEPTH: Final = 50
_MAX_SIZE: Final = 65_536
_MAX_BRANCHES: Final = 6_000

_Sizes = dict[Conjunction, int]
_SizeOf = Callable[[Conjunction], int]


def smallest(conjunction: Conjunction, known: _Sizes) -> None:
    """Find the size of a schema and of those it needs, in characters of JSON, roughly."""
    _find([conjunction], known)


def size_of_branch(branch: Branch, known: _Sizes) -> int:
    """The size of the smallest value of a branch, roughly; ``INFINITE`` if it has none."""
    _find(list(needed(branch)), known)
    return _size(branch, known.__getitem__)


def _find(wanted: list[Conjunction], known: _Sizes) -> None:
    """Find sizes: each round from those of the round before, so that a round adds a level."""
    reached = dict.fromkeys(of for of in wanted if of not in known)
    branches = 0
    waiting = list(reached)
    for of in waiting:  # it grows
        branches += len(of.node.branches)
        for inner in (inner for branch in of.node.branches for inner in needed(branch)):
            if inner not in known and inner not in reached and branches < _MAX_BRANCHES:
                reached[inner] = None
                waiting.append(inner)
    sizes = dict.fromkeys(waiting, INFINITE)
    dependent: dict[Conjunction, list[Conjunction]] = {}
    for of in waiting:
        for inner in {inner for branch in of.node.branches for inner in needed(branch)}:
            dependent.setdefault(inner, []).append(of)
    changed = waiting
    for _ in range(_MAX_DEPTH):
        found = {of: _size_of_node(of, lambda inner: known.get(inner, sizes.get(inner, INFINITE))) for of in changed}
        smaller = [of for of, size in found.items() if size < sizes[of]]
        if not smaller:
            break
        sizes.update(found)
        changed = list(dict.fromkeys(of for inner in smaller for of in dependent.get(inner, ())))
    known |= sizes


def _size_of_node(of: Conjunction, size_of: _SizeOf) -> int:
    node = of.node
    return 1 if node.anything else min((_size(branch, size_of) for branch in node.branches), default=INFINITE)


def needed(branch: Branch) -> Iterator[Conjunction]:
    """The schemas on whose sizes the size of a branch depends."""
    if isinstance(branch, Lists):
        yield from branch.prefix[: branch.least]
        if branch.least > len(branch.prefix) and branch.rest is not None:
            yield branch.rest
        for contained in branch.contains:
            yield from (*contained.wanted, *contained.others)
    elif isinstance(branch, Objects):
        must_count = branch.least > len(branch.required)
        yield from branch.keys.values() if must_count else (branch.keys[key] for key in branch.required)
        yield from (group.values for group in groups_of(branch) or []) if must_count else ()


def _size(branch: Branch, size_of: _SizeOf) -> int:
    size = _exact_size(branch, size_of)
    return size if size <= _MAX_SIZE else INFINITE


def _exact_size(branch: Branch, size_of: _SizeOf) -> int:
    match branch:
        case Constants(values):
            return min((len(str(value)) for value in values), default=INFINITE)
        case Texts():
            return _text(branch)
        case Numbers():
            return INFINITE if NumberRange(branch).is_empty else 1
        case Lists():
            return _list(branch, size_of)
        case Objects():
            return _object(branch, size_of)


def _list(branch: Lists, size_of: _SizeOf) -> int:
    if branch.least > _MAX_SIZE or (branch.unique and not _can_differ(branch)):
        return INFINITE
    if not all(_can_contain(branch, contained, size_of) for contained in branch.contains):
        return INFINITE
    items = [size_of(item) for item in branch.prefix[: branch.least]]
    more = branch.least - len(items)
    if more > 0:
        rest = INFINITE if branch.rest is None else size_of(branch.rest)
        items.append(rest if rest >= INFINITE else rest * more)
    return min(INFINITE, 2 + sum(items))


def _can_differ(branch: Lists) -> bool:
    """Whether the items that a list must have can all differ, where their values are few: each takes one of its own."""
    takers: dict[Any, int] = {}
    listed = [None if item is None else listed_values(item) for item in map(branch.item, range(_few(branch)))]
    values = [[] if found is None else list(map(identity, found)) for found in listed]

    def takes(place: int, tried: set[Any]) -> bool:
        for value in values[place]:
            if value not in tried:
                tried.add(value)
                if value not in takers or takes(takers[value], tried):
                    takers[value] = place
                    return True
        return False

    return all(found is None or takes(place, set()) for place, found in enumerate(listed))


def _few(branch: Lists) -> int:
    """How many of the first items to look at: behind the prefix so many that all listed values are taken."""
    return min(branch.least, len(branch.prefix) + MAX_LISTED + 1)


def _can_contain(branch: Lists, contained: Contained, size_of: _SizeOf) -> bool:
    """Whether a list can have enough items that ``contains`` counts, and not too many."""
    inside = [size_of(item) < INFINITE for item in contained.wanted[: branch.most]]
    prefix = len(branch.prefix)
    places: float = sum(inside[:prefix])
    if any(inside[prefix:]):
        behind = math.inf if branch.most is None else branch.most - prefix
        places += min(behind, _values(contained.wanted[prefix])) if branch.unique else behind
    if contained.most is None:
        return places >= contained.least
    always = [size_of(item) >= INFINITE for item in contained.others]
    forced = sum(always[: min(prefix, branch.least)])
    forced += max(0, branch.least - prefix) if any(always[prefix:]) else 0
    return places >= contained.least and contained.most >= max(forced, contained.least)


def _object(branch: Objects, size_of: _SizeOf) -> int:
    pairs = [len(key) + 4 + size_of(branch.keys[key]) for key in branch.required]
    if branch.least > _MAX_SIZE:
        return INFINITE
    if (more := branch.least - len(pairs)) > 0:
        others = [size_of(key) for name, key in branch.keys.items() if name not in branch.required]
        groups = groups_of(branch)
        for group in groups or []:
            others += [size_of(group.values)] * min(more, more if group.size is None else group.size)
        others += [1] * more if groups is None else []
        pairs += [4 + size for size in [*sorted(others), *[INFINITE] * more][:more]]
    return min(INFINITE, 2 + sum(pairs))


def _values(conjunction: Conjunction) -> float:
    """How many values a schema allows, if they are listed; otherwise infinitely many."""
    listed = listed_values(conjunction)
    return math.inf if listed is None else len(listed)


def _text(branch: Texts) -> int:
    if branch.most is not None and branch.least > branch.most:
        return INFINITE
    language = branch.language
    if language is None:
        return 2
    return INFINITE if language.shortest is None else 2 + language.shortest
