"""Plain schemas, whose keywords all stand side by side -> one alternative for each type that they allow.

Some contradictions are found by a short look, so that choices that contradict each other are not multiplied out.
"""

import itertools
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final

from lookup.schema.check import allows
from lookup.schema.equality import exact, identity, is_number
from lookup.schema.json_types import IMPLIED, JSON_TYPES, JsonType
from lookup.schema.leaves import Constants, Texts
from lookup.schema.normal import Alternative, Lists
from lookup.schema.number_range import Numbers, common_multiple
from lookup.schema.object_alternatives import Conjoin, objects_of
from lookup.schema.schema import NOTHING, Schema, values_of

_OF_CHOICES: Final = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "notes"}
_OTHERS: Final[dict[JsonType, tuple[Any, ...]]] = {"boolean": (True, False), "null": (None,)}
_GIVING: Final = {"enum", "type", "notes"}


def alternatives_of(
    plain: Sequence[Schema], conjoin: Conjoin, closed: bool, notes: list[str]
) -> list[Alternative] | None:
    """The alternatives of schemas that hold together; ``None`` if they allow everything.

    Parameters
    ----------
    conjoin : callable
        Schemas of a member -> their lazy schema.
    closed : bool
        Whether they are those of documentation: an object with documented keys has no others, and keywords that say
        something of one type only imply that type.
    notes : list of str
        Gets what is not enforced.
    """
    if all(_OF_CHOICES.issuperset(schema.keywords) for schema in plain):
        return None
    types = _types(plain)
    if closed and not any("type" in schema.keywords and "unnamed" not in schema.keywords for schema in plain):
        implied = [IMPLIED[keyword] for schema in plain for keyword in schema.keywords if keyword in IMPLIED]
        types &= frozenset[JsonType]().union(*implied) or JSON_TYPES
    refused = set(map(identity, refused_values(plain)))
    if given := [schema for schema in plain if "enum" in schema.keywords]:
        return _constants(given, plain, refused, closed)
    found: list[Alternative] = []
    if "string" in types:
        texts = texts_of(plain)
        found += [] if texts.is_contradictory else [texts]
    if "integer" in types:
        found.append(numbers_of(plain, integer="number" not in types))
    if "array" in types:
        found += _lists(plain, conjoin, notes)
    if "object" in types:
        found += objects_of(plain, conjoin, closed, notes)
    constants = (value for kind, values in _OTHERS.items() if kind in types for value in values)
    if values := tuple(value for value in constants if identity(value) not in refused):
        found.append(Constants(values))
    return found


def _constants(given: Sequence[Schema], plain: Sequence[Schema], refused: set[Any], closed: bool) -> list[Alternative]:
    first, *others = given
    is_limited = any(schema is not first or not schema.keywords.keys() <= _GIVING for schema in plain)
    values = [
        value
        for value in first.keywords["enum"]
        if (found := identity(value)) not in refused
        and all(found in other.members for other in others)
        and (not is_limited or allows(value, plain, closed))
    ]
    return [Constants(tuple(values))] if values else []


def _lists(plain: Sequence[Schema], conjoin: Conjoin, notes: list[str]) -> list[Alternative]:
    containing = [(s.keywords["contains"], s.keywords.get("minContains", 1)) for s in plain if "contains" in s.keywords]
    unevaluated = values_of(plain, "unevaluatedItems")[-1:]  # the innermost one, which is the last
    if containing:
        notes += ["contains", *(["unevaluatedItems"] if unevaluated else [])]
    tuples = [(schema.keywords.get("prefixItems", ()), schema.keywords.get("items")) for schema in plain]
    size = max(len(prefix) for prefix, _ in tuples)
    if any("unevaluatedItems" in schema.keywords for schema in plain[1:]) and any(p or r for p, r in tuples[:-1]):
        notes.append("unevaluatedItems of a branch")  # it does not see what stands around it
    items = []
    for place in range(size + 1):
        here = [prefix[place] if place < len(prefix) else rest for prefix, rest in tuples]
        of_item = [schema for schema in here if schema is not None]
        items.append(conjoin(of_item if of_item or containing else unevaluated))
    end = next((place for place, item in enumerate(items) if NOTHING in item.schemas), None)
    most = min(values_of(plain, "maxItems") + ([] if end is None else [end]), default=None)
    least = max([*values_of(plain, "minItems"), *(times for _, times in containing)], default=0)
    if most is not None and least > most:
        return []
    unique = any("uniqueItems" in schema.keywords for schema in plain)
    rest = None if end is not None else items[size]
    prefix = tuple(items[:size] if end is None else items[:end])
    contained = tuple(
        tuple(conjoin([*item.schemas, wanted]) for item in items[:most]) for wanted, times in containing if times
    )
    return [Lists(prefix, rest, least, most, unique, any(values_of(plain, "tuple")), contained)]


def refused_values(schemas: Iterable[Schema]) -> list[Any]:
    """The values that some schemas refuse."""
    return [value for values in values_of(schemas, "refused") for value in values]


def texts_of(schemas: Sequence[Schema]) -> Texts:
    """The texts that schemas allow together."""
    limits = [limit for limits in values_of(schemas, "texts") for limit in limits]
    limits.sort(key=lambda limit: (limit[0] != "pattern", not limit[2]))
    excluded = [value for value in refused_values(schemas) if isinstance(value, str)]
    return Texts(
        tuple(dict.fromkeys(limits)),
        max(values_of(schemas, "minLength"), default=0),
        min(values_of(schemas, "maxLength"), default=None),
        tuple(dict.fromkeys(excluded)),
    )


def numbers_of(schemas: Sequence[Schema], integer: bool) -> Numbers:
    """The numbers that schemas allow together."""
    low, low_open = max(((exact(end), is_open) for end, is_open in values_of(schemas, "low")), default=(None, False))
    high, closed = min(((exact(end), not is_open) for end, is_open in values_of(schemas, "high")), default=(None, True))
    steps = [abs(exact(step)) for step in values_of(schemas, "multipleOf")]
    step = reduce(common_multiple, steps) if steps else None
    excluded = frozenset(map(exact, filter(is_number, refused_values(schemas))))
    return Numbers(integer, low, high, low_open, not closed, step, excluded)


def contradict(plain: Sequence[Schema]) -> bool:
    """Whether schemas allow no type together, or only objects with a key that is not there or has no value."""
    types = _types(plain)
    if types != {"object"}:
        return not types
    required = dict.fromkeys(itertools.chain.from_iterable(values_of(plain, "required")))
    properties = values_of(plain, "properties") if required else []
    return any(_has_no_value([keys[name] for keys in properties if name in keys]) for name in required)


def _has_no_value(schemas: Sequence[Schema]) -> bool:
    """Whether nothing is allowed, or all listed values are refused."""
    listed = [frozenset(schema.members) for schema in schemas if "enum" in schema.keywords]
    if NOTHING in schemas or not listed:
        return NOTHING in schemas
    left = frozenset.intersection(*listed)
    return left.issubset(itertools.chain.from_iterable(map(_refused, schemas)))


def _refused(schema: Schema) -> Iterable[Any]:
    """The identities of the values that a schema refuses by name."""
    inner: Schema | None = schema.keywords.get("not")
    if inner is not None and "enum" in inner.keywords and inner.keywords.keys() <= {"enum", "type"}:
        return inner.members
    return map(identity, schema.keywords.get("refused", ()))


def _types(schemas: Iterable[Schema]) -> frozenset[JsonType]:
    return reduce(frozenset.__and__, (schema.types for schema in schemas), JSON_TYPES)
