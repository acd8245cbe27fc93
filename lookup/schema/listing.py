"""All values of a schema, where there are few."""

from typing import Any, Final

from lookup.schema.nodes import Branch, Conjunction, Constants, Lists, Numbers, Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.words import identity

MAX_LISTED: Final = 256
"""The most values that are listed."""


def listed_values(conjunction: Conjunction) -> list[Any] | None:
    """All values that a schema allows, none of them twice; ``None`` if they are too many, or lists or objects."""
    if conjunction.node.anything:
        return None
    found: dict[Any, Any] = {}
    for branch in conjunction.node.branches:
        values = listed_values_of(branch)
        if values is None:
            return None
        found |= {identity(value): value for value in values}
    return list(found.values()) if len(found) <= MAX_LISTED else None


def listed_values_of(branch: Branch) -> list[Any] | None:
    """All values of a branch; ``None`` if they are too many, or lists or objects."""
    match branch:
        case Constants(values):
            return list(values)
        case Texts():
            members = None if branch.language is None else branch.language.members(MAX_LISTED)
            return None if members is None else list(members)
        case Numbers() if branch.is_limited:
            return NumberRange(branch).all_numbers(MAX_LISTED)
    return None


def leaves_values(branch: Lists) -> bool:
    """Whether each item that a list must have can differ from all before it, whatever those are."""
    if not branch.prefix:
        return True  # otherwise no list has so many items
    places = {*range(min(branch.least, len(branch.prefix))), branch.least - 1} - {-1}
    items = ((place, branch.item(place)) for place in places)
    listed = ((place, None if item is None else listed_values(item)) for place, item in items)
    return not any(values is not None and len(values) <= place for place, values in listed)
