"""The normal form of schemas: a union of plain alternatives, without ``allOf``, ``anyOf`` and ``oneOf``.

The schemas of members (items, values of keys) are ``LazySchema``s, whose own normal form is made when it is needed.

A schema also has a size, which says whether it has values at all. A value that needs more than ``_MAX_DEPTH`` levels,
``_MAX_SIZE`` characters or too many schemas is taken to be impossible.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from lookup.languages.language import ANY_TEXT, Language, completions
from lookup.languages.limits import LanguageError
from lookup.schema.equality import identity
from lookup.schema.leaves import MAX_LISTED, Constants, Texts
from lookup.schema.number_range import Numbers
from lookup.schema.schema import INFINITE, Schema

_MAX_DEPTH: Final = 50  # levels of the smallest value: a round for each
_MAX_SIZE: Final = 65_536  # characters of it; the same bound as that of its bytes, ``MAX_CLOSING``
_MAX_ALTERNATIVES: Final = 6_000  # alternatives that are looked through for one size
_MAX_GROUPS: Final = 16  # what four patterns of keys, which all overlap, make of them
_MAX_COUNTED: Final = 256  # free keys that are counted
_MOST_COUNTED: Final = 4_096  # values that are counted where more items must differ
_MOST_BEGUN: Final = 1_024  # beginnings of values, beyond those that may be listed
_MAX_INSIDE: Final = 64  # schemas of members whose values are listed together


class LazySchema:
    """Some schemas, all of which a value must obey.

    Parameters
    ----------
    schemas : tuple of Schema
        Empty if every value is allowed.
    make : callable
        Schemas -> their normal form.
    sizes : dict
        The sizes that are known of one document's lazy schemas; shared by them.
    """

    def __init__(
        self, schemas: tuple[Schema, ...], make: "Callable[[tuple[Schema, ...]], Node]", sizes: "dict[LazySchema, int]"
    ) -> None:
        self.schemas = schemas
        self._make = make
        self._sizes = sizes

    @cached_property
    def node(self) -> "Node":
        """The normal form."""
        return self._make(self.schemas)

    @property
    def size(self) -> int:
        """About the characters of the smallest value in JSON; ``INFINITE`` if no value is allowed."""
        if self not in self._sizes:
            _minimal_sizes([self], self._sizes)
        return self._sizes[self]

    def size_of(self, alternative: "Alternative") -> int:
        """About the characters of the smallest value of an alternative."""
        _minimal_sizes(needed(alternative), self._sizes)
        return _size(alternative, self._sizes.__getitem__)

    @cached_property
    def inhabited(self) -> list["Alternative"]:
        """The alternatives of the normal form without those that have no value."""
        return [alternative for alternative in self.node.alternatives if self.size_of(alternative) < INFINITE]

    @property
    def is_empty(self) -> bool:
        """Whether no value is allowed."""
        return self.size >= INFINITE


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists: the schemas of the first items, and of all others (``None``: there are no others).

    ``is_tuple`` says that they are written as tuples where a notation has them; ``contained`` says of each item that a
    list must contain what it may be at each place.
    """

    prefix: tuple[LazySchema, ...]
    rest: LazySchema | None
    least: int = 0
    most: int | None = None
    unique: bool = False
    is_tuple: bool = False
    contained: tuple[tuple[LazySchema, ...], ...] = ()

    def item(self, index: int) -> LazySchema | None:
        """The schema of an item; ``None`` if there cannot be so many."""
        if self.most is not None and index >= self.most:
            return None
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects.

    Attributes
    ----------
    keys : mapping of str to LazySchema
        The named keys that an object may have, and their schemas.
    free : callable or None
        Key -> the schema of its value, or ``None`` if an object may not have this key. ``None``: named keys only.
    free_language : Language
        What free keys look like.
    least, most : int
        Number of keys; ``most`` may be ``None``.
    dependent : mapping of str to tuple of str
        Key -> the keys that it requires.
    patterns : tuple of Language
        Free keys that the same of these match have values of one schema.
    """

    keys: Mapping[str, LazySchema]
    required: tuple[str, ...]
    free: Callable[[str], LazySchema | None] | None
    free_language: Language = ANY_TEXT
    least: int = 0
    most: int | None = None
    dependent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: tuple[Language, ...] = ()

    def possible(self, names: Iterable[str]) -> list[str]:
        """Those of some keys that an object can have, as those that they need are among them."""
        possible = dict.fromkeys(names)
        while unfit := [name for name in possible if not possible.keys() >= {*self.dependent.get(name, ())}]:
            possible = {name: None for name in possible if name not in unfit}
        return list(possible)


Alternative = Constants | Texts | Numbers | Lists | Objects


@dataclass(frozen=True, eq=False)
class Node:
    """A union of alternatives.

    Attributes
    ----------
    alternatives : tuple of Alternative
        Empty if no value is allowed.
    notes : tuple of str
        The keywords that are not enforced while a value is decoded, only checked after.
    anything : bool
        Whether every value is allowed.
    """

    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()
    anything: bool = False


# Sizes

_SizeOf = Callable[[LazySchema], int]


def _minimal_sizes(wanted: Iterable[LazySchema], known: dict[LazySchema, int]) -> None:
    """Find the least fixpoint of the sizes: each round from those of the round before, so that a round adds a level.

    A list of ``minItems: 1`` whose items are such lists again stays ``INFINITE`` in each round: it has no value. A tree
    with an integer ``v``, and optional trees in it, has 8 in round 2, behind its integer in round 1: ``{"v": 0}``.
    """
    waiting = list(dict.fromkeys(of for of in wanted if of not in known))
    reached = set(waiting)
    dependent: dict[LazySchema, list[LazySchema]] = {}
    alternatives = 0
    for of in waiting:  # it grows
        alternatives += len(of.node.alternatives)
        for inner in dict.fromkeys(inner for alternative in of.node.alternatives for inner in needed(alternative)):
            dependent.setdefault(inner, []).append(of)
            if inner not in known and inner not in reached and alternatives < _MAX_ALTERNATIVES:
                reached.add(inner)
                waiting.append(inner)
    known.update(dict.fromkeys(waiting, INFINITE))
    changed = waiting
    for _ in range(_MAX_DEPTH):
        if not changed:
            break
        found = {of: _size_of_node(of.node, lambda inner: known.get(inner, INFINITE)) for of in changed}
        smaller = [of for of, size in found.items() if size < known[of]]
        known.update(found)
        changed = list(dict.fromkeys(of for inner in smaller for of in dependent.get(inner, ())))


def _size_of_node(node: Node, size_of: _SizeOf) -> int:
    return 1 if node.anything else min((_size(one, size_of) for one in node.alternatives), default=INFINITE)


def needed(alternative: Alternative) -> Iterator[LazySchema]:
    """The schemas on whose sizes the size of an alternative depends."""
    if isinstance(alternative, Lists):
        yield from alternative.prefix[: alternative.least]
        if alternative.least > len(alternative.prefix) and alternative.rest is not None:
            yield alternative.rest
        yield from itertools.chain.from_iterable(alternative.contained)
    elif isinstance(alternative, Objects):
        must_count = alternative.least > len(alternative.required)
        yield from alternative.keys.values() if must_count else (alternative.keys[key] for key in alternative.required)
        yield from (group.values for group in groups_of(alternative) or []) if must_count else ()


def _size(alternative: Alternative, size_of: _SizeOf) -> int:
    match alternative:
        case Lists():
            size = _list(alternative, size_of)
        case Objects():
            size = _object(alternative, size_of)
        case _:
            size = alternative.size
    return size if size <= _MAX_SIZE else INFINITE


def _list(lists: Lists, size_of: _SizeOf) -> int:
    if lists.least > _MAX_SIZE or (lists.unique and not _can_differ(lists)):
        return INFINITE
    if any(min(map(size_of, ways), default=INFINITE) >= INFINITE for ways in lists.contained):
        return INFINITE
    items = [size_of(item) for item in lists.prefix[: lists.least]]
    more = lists.least - len(items)
    if more > 0:
        rest = INFINITE if lists.rest is None else size_of(lists.rest)
        items.append(rest if rest >= INFINITE else rest * more)
    return min(INFINITE, 2 + sum(items))


def _can_differ(lists: Lists) -> bool:
    """Whether the values of the items that a list must have are as many as these items, where they are few."""
    items = map(lists.item, range(min(lists.least, len(lists.prefix) + 1)))
    fewer = min(lists.least - 1, _MOST_COUNTED)
    listed = [[] if item is None else listed_values(item.node, fewer) for item in items]
    if not listed or (listed[-1] is None and lists.least > len(lists.prefix)):
        return True
    unlisted = sum(values is None for values in listed)
    return len({identity(value) for values in listed for value in values or ()}) >= lists.least - unlisted


def _object(objects: Objects, size_of: _SizeOf) -> int:
    pairs = [len(key) + 4 + size_of(objects.keys[key]) for key in objects.required]
    if objects.least > _MAX_SIZE:
        return INFINITE
    if (more := objects.least - len(pairs)) > 0:
        if more > len(objects.keys) + _MAX_COUNTED:
            return INFINITE
        possible = objects.possible(name for name, key in objects.keys.items() if size_of(key) < INFINITE)
        others = [size_of(objects.keys[name]) for name in possible if name not in objects.required]
        groups = groups_of(objects)
        for group in groups or []:
            others += [size_of(group.values)] * min(more, more if group.size is None else group.size)
        others += [1] * more if groups is None else []
        pairs += [4 + size for size in [*sorted(others), *[INFINITE] * more][:more]]
    return min(INFINITE, 2 + sum(pairs))


def listed_values(node: Node, most: int = MAX_LISTED) -> list[Any] | None:
    """All values that a schema allows, none of them twice; ``None`` if they are more than ``most``, or much work.

    Values of lists and objects are put together from those of their members: booleans in a list of ``maxItems: 1`` are
    ``[]``, ``[True]``, ``[False]``. A schema may contain itself, so its values are found in rounds; each adds a level.
    """
    found: dict[Node, _Values] = {node: {}}
    for _ in range(_MAX_DEPTH):
        before = [None if values is None else len(values) for values in found.values()]
        for of in reversed(list(found)):  # members first
            found[of] = found[of] if found[of] is None else _values_of(of, partial(_known, found), most)
        if found[node] is None or [None if v is None else len(v) for v in found.values()] == before:
            break
    else:
        return None
    values = found[node]
    return None if values is None else list(values.values())


_Values = dict[Any, Any] | None
"""Identity -> value, of all values of a schema; ``None`` if they are many."""
_ValuesOf = Callable[[LazySchema], _Values]


def _known(found: dict[Node, _Values], inner: LazySchema) -> _Values:
    """The values that are known of a schema so far."""
    if inner.node not in found and len(found) >= _MAX_INSIDE:
        return None
    return found.setdefault(inner.node, {})


def _values_of(node: Node, values_of: _ValuesOf, most: int) -> _Values:
    if node.anything:
        return None
    found: dict[Any, Any] = {}
    for alternative in node.alternatives:
        values = _listed(alternative, values_of, most)
        if values is None:
            return None
        found |= {identity(value): value for value in values}
    return found if len(found) <= most else None


def _listed(of: Alternative, values_of: _ValuesOf, most: int) -> Sequence[Any] | None:
    """All values of an alternative; ``None`` if they are many. ``values_of``: those of a schema inside."""
    match of:
        case Constants(values):
            return values
        case Texts():
            return of.language.members(most)
        case Numbers():
            return of.all_numbers(most)
        case Lists():
            return _listed_lists(of, values_of, _MOST_BEGUN + most)
        case Objects():
            return _listed_objects(of, values_of, _MOST_BEGUN + most)


def _listed_lists(lists: Lists, values_of: _ValuesOf, most: int) -> list[Any] | None:
    if any(values_of(item) == {} for item in needed(lists)):
        return []
    found: list[Any] = []
    begun: list[tuple[Any, ...]] = [()]
    while begun:
        place = len(begun[0])
        found += begun if place >= lists.least else []
        item = lists.item(place)
        values = {} if item is None else values_of(item)
        if values is None or max(len(found), len(begun) * len(values), place) > most:
            return None
        begun = [
            (*items, value)
            for items in begun
            for key, value in values.items()
            if not lists.unique or key not in map(identity, items)
        ]
    return found if lists.is_tuple else [list(items) for items in found]


def _listed_objects(objects: Objects, values_of: _ValuesOf, most: int) -> list[Any] | None:
    groups = groups_of(objects)
    room = INFINITE if objects.most is None else objects.most
    keys = {name: objects.keys[name] for name in objects.required}
    if any(values_of(key) == {} for key in keys.values()):
        return []
    if len(keys) < room:
        if groups is None or any(group.size is None and values_of(group.values) != {} for group in groups):
            return None
        keys |= objects.keys
        for group in groups:
            free = dict.fromkeys(group.language.members(_MAX_COUNTED) or (), group.values)
            keys |= {**free, **objects.keys}
    begun: list[dict[str, Any]] = [{}]
    for place, (name, key) in enumerate(keys.items()):
        values = values_of(key)
        if values is None or len(begun) * len(values) > most:
            return None
        without = [] if place < len(objects.required) else begun
        more = [{**items, name: value} for items in begun if len(items) < room for value in values.values()]
        begun = [items for items in [*without, *more] if len(items) + len(keys) - place > objects.least]
    return [
        items
        for items in begun
        if all(items.keys() >= {*needs} for name, needs in objects.dependent.items() if name in items)
    ]


def leaves_values(lists: Lists) -> bool:
    """Whether each item that a list must have can differ from all before it, whatever those are."""
    if not lists.prefix:
        return True  # otherwise no list has so many items
    places = {*range(min(lists.least, len(lists.prefix))), lists.least - 1} - {-1}
    items = ((min(place, _MOST_COUNTED), lists.item(place)) for place in places)
    return all(item is None or listed_values(item.node, others) is None for others, item in items)


class KeyGroup(NamedTuple):
    """Keys that an object may have beside the named ones, and whose values have one schema.

    ``size``: how many there are; ``None`` if they are many.
    """

    language: Language
    values: LazySchema
    size: int | None


def groups_of(objects: Objects) -> list[KeyGroup] | None:
    """The groups of free keys that have a key; ``None`` if they are too many, or too much work.

    The patterns ``^x`` and ``y$`` make four: ``x…y`` with both schemas, other ``x…``, other ``…y``, and all others.
    """
    if objects.free is None:
        return []
    languages = [objects.free_language]
    try:
        for pattern in objects.patterns:
            parts = (language.intersection(way) for language in languages for way in (pattern, pattern.complement()))
            languages = [part for part in parts if not part.is_empty]
            if len(languages) > _MAX_GROUPS:
                return None
        return [group for language in languages for group in _group(objects, language)]
    except LanguageError:
        return None


def _group(objects: Objects, language: Language) -> Iterator[KeyGroup]:
    assert objects.free is not None
    members = language.members(_MAX_COUNTED)
    texts = completions(language, language.start)
    names = [name for name in members if name not in objects.keys] if members is not None else None
    tried = itertools.islice(texts, len(objects.keys) + _MAX_COUNTED) if names is None else names
    name = next((name for name in tried if name not in objects.keys), None)
    values = None if name is None else objects.free(name)
    if values is not None:
        yield KeyGroup(language, values, None if names is None else len(names))
