"""Plain schemas, whose words all stand side by side -> one branch for each type that they allow."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final

from lookup.schema.check import allows
from lookup.schema.leaves import Constants, Texts
from lookup.schema.nodes import Branch, Lists
from lookup.schema.number_range import Numbers, common_multiple
from lookup.schema.object_branches import Conjoin, objects_of
from lookup.schema.schema import Schema, said
from lookup.schema.words import IMPLIED, KINDS, Kind, exact, identity, is_number

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
    kinds = reduce(frozenset.__and__, (schema.kinds for schema in plain), KINDS)
    if closed and kinds == KINDS:
        implied = [IMPLIED[word] for schema in plain for word in schema.words if word in IMPLIED]
        kinds = frozenset[Kind]().union(*implied) or KINDS
    refused = set(map(identity, refused_values(plain)))
    if given := [schema for schema in plain if "enum" in schema.words]:
        return _constants(given[0], plain, refused, closed)
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


def _constants(given: Schema, plain: Sequence[Schema], refused: set[Any], closed: bool) -> list[Branch]:
    limiting = [schema for schema in plain if schema is not given or not schema.words.keys() <= _GIVING]
    values = [
        value
        for value in given.words["enum"]
        if identity(value) not in refused and all(allows(value, [schema], closed) for schema in limiting)
    ]
    return [Constants(tuple(values))] if values else []


def _lists(plain: Sequence[Schema], conjoin: Conjoin, notes: list[str]) -> list[Branch]:
    contained = any("contains" in schema.words for schema in plain)
    unevaluated = said(plain, "unevaluatedItems")[-1:]  # the innermost one, which is the last
    if contained:
        notes += ["contains", *(["unevaluatedItems"] if unevaluated else [])]
    tuples = [(schema.words.get("prefixItems", ()), schema.words.get("items")) for schema in plain]
    size = max(len(prefix) for prefix, _ in tuples)
    if any("unevaluatedItems" in schema.words for schema in plain[1:]) and any(p or r for p, r in tuples[:-1]):
        notes.append("unevaluatedItems of a branch")  # it does not see what stands around it
    items = []
    for place in range(size + 1):
        here = [prefix[place] if place < len(prefix) else rest for prefix, rest in tuples]
        of_item = [schema for schema in here if schema is not None]
        items.append(conjoin(of_item if of_item or contained else unevaluated))
    end = next((place for place, item in enumerate(items) if item.is_false), None)
    most = min(said(plain, "maxItems") + ([] if end is None else [end]), default=None)
    contains = (schema.words.get("minContains", 1) for schema in plain if "contains" in schema.words)
    least = max([*said(plain, "minItems"), *contains], default=0)
    if most is not None and least > most:
        return []
    unique = any("uniqueItems" in schema.words for schema in plain)
    rest = None if end is not None else items[size]
    prefix = tuple(items[:size] if end is None else items[:end])
    return [Lists(prefix, rest, least, most, unique, any(said(plain, "tuple")))]


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
