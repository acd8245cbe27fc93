"""Plain schemas, whose words all stand side by side -> one branch for each type that they allow.

Some contradictions are found by a short look, so that choices that contradict each other are not multiplied out.
"""

import itertools
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final

from lookup.schema.check import allows
from lookup.schema.leaves import Constants, Texts
from lookup.schema.nodes import Branch, Lists
from lookup.schema.number_range import Numbers, common_multiple
from lookup.schema.object_branches import Conjoin, objects_of
from lookup.schema.schema import (
    IMPLIED,
    KINDS,
    NOTHING,
    Kind,
    Schema,
    exact,
    identity,
    is_number,
    said,
)

_OF_CHOICES: Final = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "notes"}
_OTHERS: Final[dict[Kind, tuple[Any, ...]]] = {"boolean": (True, False), "null": (None,)}
_GIVING: Final = {"enum", "type", "notes"}


def branches_of(plain: Sequence[Schema], conjoin: Conjoin, closed: bool, notes: list[str]) -> list[Branch] | None:
    """The branches of schemas that hold together; ``None`` if they allow everything.

    Parameters
    ----------
    plain : sequence of Schema
    conjoin : callable
        Schemas of a member -> their conjunction.
    closed : bool
        Whether they are those of documentation: an object with documented keys has no others, and words that say
        something of one type only imply that type.
    notes : list of str
        Gets what is not enforced.
    """
    if all(_OF_CHOICES.issuperset(schema.words) for schema in plain):
        return None
    kinds = _kinds(plain)
    if closed and not any("type" in schema.words and "unnamed" not in schema.words for schema in plain):
        implied = [IMPLIED[word] for schema in plain for word in schema.words if word in IMPLIED]
        kinds &= frozenset[Kind]().union(*implied) or KINDS
    refused = set(map(identity, refused_values(plain)))
    if given := [schema for schema in plain if "enum" in schema.words]:
        return _constants(given, plain, refused, closed)
    found: list[Branch] = []
    if "string" in kinds:
        texts = texts_of(plain)
        found += [] if texts.is_contradictory else [texts]
    if "integer" in kinds:
        found.append(numbers_of(plain, integer="number" not in kinds))
    if "array" in kinds:
        found += _lists(plain, conjoin, notes)
    if "object" in kinds:
        found += objects_of(plain, conjoin, closed, notes)
    constants = (value for kind, values in _OTHERS.items() if kind in kinds for value in values)
    if values := tuple(value for value in constants if identity(value) not in refused):
        found.append(Constants(values))
    return found


def _constants(given: Sequence[Schema], plain: Sequence[Schema], refused: set[Any], closed: bool) -> list[Branch]:
    first, *others = given
    is_limited = any(schema is not first or not schema.words.keys() <= _GIVING for schema in plain)
    values = [
        value
        for value in first.words["enum"]
        if (found := identity(value)) not in refused
        and all(found in other.members for other in others)
        and (not is_limited or allows(value, plain, closed))
    ]
    return [Constants(tuple(values))] if values else []


def _lists(plain: Sequence[Schema], conjoin: Conjoin, notes: list[str]) -> list[Branch]:
    containing = [(s.words["contains"], s.words.get("minContains", 1)) for s in plain if "contains" in s.words]
    unevaluated = said(plain, "unevaluatedItems")[-1:]  # the innermost one, which is the last
    if containing:
        notes += ["contains", *(["unevaluatedItems"] if unevaluated else [])]
    tuples = [(schema.words.get("prefixItems", ()), schema.words.get("items")) for schema in plain]
    size = max(len(prefix) for prefix, _ in tuples)
    if any("unevaluatedItems" in schema.words for schema in plain[1:]) and any(p or r for p, r in tuples[:-1]):
        notes.append("unevaluatedItems of a branch")  # it does not see what stands around it
    items = []
    for place in range(size + 1):
        here = [prefix[place] if place < len(prefix) else rest for prefix, rest in tuples]
        of_item = [schema for schema in here if schema is not None]
        items.append(conjoin(of_item if of_item or containing else unevaluated))
    end = next((place for place, item in enumerate(items) if NOTHING in item.schemas), None)
    most = min(said(plain, "maxItems") + ([] if end is None else [end]), default=None)
    least = max([*said(plain, "minItems"), *(times for _, times in containing)], default=0)
    if most is not None and least > most:
        return []
    unique = any("uniqueItems" in schema.words for schema in plain)
    rest = None if end is not None else items[size]
    prefix = tuple(items[:size] if end is None else items[:end])
    contained = tuple(
        tuple(conjoin([*item.schemas, wanted]) for item in items[:most]) for wanted, times in containing if times
    )
    return [Lists(prefix, rest, least, most, unique, any(said(plain, "tuple")), contained)]


def refused_values(schemas: Iterable[Schema]) -> list[Any]:
    """The values that some schemas refuse."""
    return [value for values in said(schemas, "refused") for value in values]


def texts_of(schemas: Sequence[Schema]) -> Texts:
    """The texts that schemas allow together."""
    limits = [limit for limits in said(schemas, "texts") for limit in limits]
    limits.sort(key=lambda limit: (limit[0] != "pattern", not limit[2]))
    excluded = [value for value in refused_values(schemas) if isinstance(value, str)]
    return Texts(
        tuple(dict.fromkeys(limits)),
        max(said(schemas, "minLength"), default=0),
        min(said(schemas, "maxLength"), default=None),
        tuple(dict.fromkeys(excluded)),
    )


def numbers_of(schemas: Sequence[Schema], integer: bool) -> Numbers:
    """The numbers that schemas allow together."""
    low, low_open = max(((exact(limit), is_open) for limit, is_open in said(schemas, "low")), default=(None, False))
    high, closed = min(((exact(limit), not is_open) for limit, is_open in said(schemas, "high")), default=(None, True))
    steps = [abs(exact(step)) for step in said(schemas, "multipleOf")]
    step = reduce(common_multiple, steps) if steps else None
    excluded = frozenset(map(exact, filter(is_number, refused_values(schemas))))
    return Numbers(integer, low, high, low_open, not closed, step, excluded)


def contradict(plain: Sequence[Schema]) -> bool:
    """Whether schemas allow no type together, or only objects with a key that is not there or has no value."""
    kinds = _kinds(plain)
    if kinds != {"object"}:
        return not kinds
    required = dict.fromkeys(itertools.chain.from_iterable(said(plain, "required")))
    properties = said(plain, "properties") if required else []
    return any(_has_no_value([keys[name] for keys in properties if name in keys]) for name in required)


def _has_no_value(schemas: Sequence[Schema]) -> bool:
    """Whether nothing is allowed, or all listed values are refused."""
    listed = [frozenset(schema.members) for schema in schemas if "enum" in schema.words]
    if NOTHING in schemas or not listed:
        return NOTHING in schemas
    left = frozenset.intersection(*listed)
    return left.issubset(itertools.chain.from_iterable(map(_refused, schemas)))


def _refused(schema: Schema) -> Iterable[Any]:
    """The identities of the values that a schema refuses by name."""
    inner: Schema | None = schema.words.get("not")
    if inner is not None and "enum" in inner.words and inner.words.keys() <= {"enum", "type"}:
        return inner.members
    return map(identity, schema.words.get("refused", ()))


def _kinds(schemas: Iterable[Schema]) -> frozenset[Kind]:
    return reduce(frozenset.__and__, (schema.kinds for schema in schemas), KINDS)
