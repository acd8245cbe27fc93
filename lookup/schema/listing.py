"""All values of a schema, where there are few."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lookup.schema.nodes import Branch, Conjunction, Constants, Lists, Numbers, Objects, Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.words import identity

MAX_LISTED: Final = 256
"""The most values that are listed."""

_MAX_DEPTH: Final = 4


class _TooManyError(Exception):
    """More values than ``MAX_LISTED``."""


def listed_values(conjunction: Conjunction, depth: int = 0) -> list[Any] | None:
    """All values that a schema allows, none of them twice; ``None`` if they are too many, or nested too deep."""
    node = conjunction.node
    if node.anything or depth > _MAX_DEPTH:
        return None
    found: dict[Any, Any] = {}
    for branch in node.branches:
        values = listed_values_of(branch, depth)
        if values is None:
            return None
        found |= {identity(value): value for value in values}
    return list(found.values()) if len(found) <= MAX_LISTED else None


def listed_values_of(branch: Branch, depth: int = 0) -> list[Any] | None:
    """All values of a branch; ``None`` if they are too many."""
    match branch:
        case Constants(values):
            return list(values)
        case Texts():
            members = None if branch.language is None else branch.language.members(MAX_LISTED)
            return None if members is None else list(members)
        case Numbers():
            return NumberRange(branch).all_numbers(MAX_LISTED) if branch.is_limited else None
    try:
        return list(_lists(branch, depth) if isinstance(branch, Lists) else _objects(branch, depth))
    except _TooManyError:
        return None


def leaves_values(branch: Lists) -> bool:
    """Whether each item that a list must have can differ from all before it, whatever those are."""
    if not branch.prefix:
        return True  # otherwise no list has so many items
    places = {*range(min(branch.least, len(branch.prefix))), branch.least - 1} - {-1}
    items = ((place, branch.item(place)) for place in places)
    listed = ((place, None if item is None else listed_values(item)) for place, item in items)
    return not any(values is not None and len(values) <= place for place, values in listed)


def _some(values: Iterable[Any]) -> list[Any]:
    """Values in a list, if they are few."""
    found = list(itertools.islice(values, MAX_LISTED + 1))
    if len(found) > MAX_LISTED:
        raise _TooManyError
    return found


def _of(conjunction: Conjunction, depth: int) -> list[Any]:
    found = listed_values(conjunction, depth + 1)
    if found is None:
        raise _TooManyError
    return found


def _lists(branch: Lists, depth: int) -> Iterator[Any]:
    begun: list[list[Any]] = [[]]
    for size in range(MAX_LISTED + 1):
        if size >= branch.least:
            yield from begun
        item = branch.item(size)
        further = [] if item is None or not begun else _of(item, depth)
        begun = _some([*items, value] for items in begun for value in further if _may_follow(value, items, branch))
        if not begun:
            return
    raise _TooManyError


def _may_follow(value: Any, items: list[Any], branch: Lists) -> bool:
    return not branch.unique or identity(value) not in map(identity, items)


def _objects(branch: Objects, depth: int) -> Iterator[Any]:
    if branch.free is not None:
        raise _TooManyError
    begun: list[dict[str, Any]] = [{}]
    for name, value in branch.keys.items():
        without = [] if name in branch.required else begun
        begun = _some(itertools.chain(without, ({**o, name: v} for v in _of(value, depth) for o in begun)))
    for found in begun:
        needs = (other for name in found for other in branch.dependent.get(name, ()))
        few_enough = branch.most is None or len(found) <= branch.most
        if branch.least <= len(found) and few_enough and all(other in found for other in needs):
            yield found
