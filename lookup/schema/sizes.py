"""Whether a schema has values, all of them where they are few, and the size of the smallest one.

A value that needs more than ``_MAX_DEPTH`` levels, ``_MAX_SIZE`` characters or too many schemas is taken to be
impossible.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from lookup.languages.language import ANY_TEXT, Language, completions
from lookup.languages.limits import LanguageError
from lookup.schema.nodes import INFINITE, Branch, Conjunction, Constants, Lists, Numbers, Objects, Texts
from lookup.schema.number_range import NumberRange
from lookup.schema.schema import EVERYTHING, Schema
from lookup.schema.words import identity

MAX_LISTED: Final = 256
"""The most values that are listed."""

_MAX_DEPTH: Final = 50
_MAX_SIZE: Final = 65_536
_MAX_BRANCHES: Final = 6_000
_MAX_LOOKED_AT: Final = 4
_MAX_SURE_LENGTH: Final = 1_000
_SURE_WORDS: Final = frozenset(
    {
        "type", "properties", "items", "additionalProperties", "required", "maxLength", "minLength", "texts", "enum",
        "maxItems", "uniqueItems", "allOf", "notes", "tuple",
    }
)  # fmt: skip
_WITH_VALUES: Final = frozenset({"enum", "type", "notes"})
_MAX_GROUPS: Final = 16
_MAX_COUNTED: Final = 256

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
    items = [size_of(item) for item in branch.prefix[: branch.least]]
    more = branch.least - len(items)
    if more > 0:
        rest = INFINITE if branch.rest is None else size_of(branch.rest)
        items.append(rest if rest >= INFINITE else rest * more)
    return min(INFINITE, 2 + sum(items))


def _can_differ(branch: Lists) -> bool:
    """Whether the values of the items that a list must have are as many as these items, where they are few."""
    items = map(branch.item, range(min(branch.least, len(branch.prefix) + 1)))
    listed = [[] if item is None else listed_values(item) for item in items]
    if not listed or (listed[-1] is None and branch.least > len(branch.prefix)):
        return True
    unlisted = sum(values is None for values in listed)
    return len({identity(value) for values in listed for value in values or ()}) >= branch.least - unlisted


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


def _text(branch: Texts) -> int:
    if branch.most is not None and branch.least > branch.most:
        return INFINITE
    language = branch.language
    if language is None:
        return 2
    return INFINITE if language.shortest is None else 2 + language.shortest


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


def surely_allows(schema: Schema, depth: int = 0) -> bool:
    """Whether some value surely obeys a schema. False says nothing."""
    words = schema.words
    if depth > _MAX_LOOKED_AT or not _SURE_WORDS.issuperset(words):
        return False
    if "allOf" in words:
        return len(words) == len(words["allOf"]) == 1 and surely_allows(words["allOf"][0], depth + 1)
    if "enum" in words:  # its members have the type
        return bool(words["enum"]) and _WITH_VALUES.issuperset(words)
    lengths = [word for word in ("minLength", "maxLength", "texts") if word in words]
    formats = all(word == "format" for word, _, _ in words.get("texts", ()))
    if len(lengths) > 1 or not formats or words.get("minLength", 0) > _MAX_SURE_LENGTH:
        return False
    if schema.kinds != {"object"}:
        return bool(schema.kinds)
    other = words.get("additionalProperties", EVERYTHING)
    needed = (words.get("properties", {}).get(name, other) for name in words.get("required", ()))
    return all(surely_allows(inner, depth + 1) for inner in needed)


class FreeKeys(NamedTuple):
    """Keys that an object may have beside the named ones, and whose values have one schema.

    Attributes
    ----------
    language : Language or None
        ``None`` if they may be any text.
    values : Conjunction
    size : int or None
        How many there are; ``None`` if they are many.
    """

    language: Language | None
    values: Conjunction
    size: int | None


def groups_of(branch: Objects) -> list[FreeKeys] | None:
    """The groups of free keys that have a key; ``None`` if they are too many, or too much work."""
    if branch.free is None:
        return []
    languages = [branch.free_language]
    try:
        for pattern in branch.patterns:
            languages = [part for language in languages for part in _parts(language, pattern)]
            if len(languages) > _MAX_GROUPS:
                return None
        return [group for language in languages for group in _group(branch, language)]
    except LanguageError:
        return None


def _parts(language: Language | None, pattern: Language) -> list[Language | None]:
    """The texts of a language that match a pattern, and those that do not."""
    whole = ANY_TEXT if language is None else language
    return [part for part in (whole.both(pattern), whole.both(pattern.outside())) if not part.is_empty]


def _group(branch: Objects, language: Language | None) -> Iterator[FreeKeys]:
    assert branch.free is not None
    members = None if language is None else language.members(_MAX_COUNTED)
    texts = map(str, itertools.count()) if language is None else completions(language, language.start)
    names = [name for name in members if name not in branch.keys] if members is not None else None
    tried = itertools.islice(texts, len(branch.keys) + _MAX_COUNTED) if names is None else names
    name = next((name for name in tried if name not in branch.keys), None)
    values = None if name is None else branch.free(name)
    if values is not None:
        yield FreeKeys(language, values, None if names is None else len(names))
