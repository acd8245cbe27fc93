"""Plain schemas, whose words all stand side by side -> one branch for each type that they allow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from lookup.schema.document import Document, Part
from lookup.schema.negation import ANNOTATIONS, Refused
from lookup.schema.nodes import Branch, Constants, Contained, Lists, Texts
from lookup.schema.object_branches import ObjectBranches
from lookup.schema.plain_words import Plain, given_values, numbers_of, texts_of
from lookup.schema.validation import Validator
from lookup.schema.words import KINDS, Kind, count, identity, is_plain, is_schema, kind_of, kinds_of, schema_list

if TYPE_CHECKING:
    from lookup.schema.conjunction import Conjunction

_IGNORED: Final = ANNOTATIONS | {
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "$ref",
    "nullable",
    "$dynamicRef",
    "$recursiveRef",
}
_GIVING: Final = {*ANNOTATIONS, "enum"}
_IMPLIED: Final[dict[Kind, tuple[str, ...]]] = {
    "object": ("properties", "additionalProperties", "patternProperties", "required", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


class PlainBranches:
    """Makes the branches of one document's schemas.

    Parameters
    ----------
    conjunction : callable
        Schemas of a member -> their conjunction.
    document : Document
    closed : bool
        Whether an object without ``additionalProperties`` has its documented keys only; and whether words that say
        something of one type only imply that type.
    """

    def __init__(
        self, conjunction: "Callable[[Iterable[Part]], Conjunction]", document: Document, closed: bool
    ) -> None:
        self.conjunction = conjunction
        self._document = document
        self._closed = closed
        self._validator = Validator(document, closed)
        self._objects = ObjectBranches(conjunction, document, closed)

    def build(self, parts: Sequence[Part], notes: list[str]) -> list[Branch] | None:
        """The branches of schemas that hold together; ``None`` if they allow everything."""
        plain: Plain = [(p.schema, p.resource) for p in parts if isinstance(p.schema, dict)]
        if all(_IGNORED.issuperset(schema) for schema, _ in plain):
            kinds = reduce(frozenset.__and__, (kinds_of(schema) for schema, _ in plain), KINDS)
            if kinds == KINDS:
                return None
        kinds = reduce(frozenset.__and__, (kinds_of(schema) for schema, _ in plain), KINDS)
        if self._closed and kinds == KINDS:
            kinds = _implied(plain)
        given = next((values for schema, _ in plain if (values := given_values(schema)) is not None), None)
        if given is not None:
            return self._constants(given, parts, plain, kinds, notes)
        found: list[Branch] = []
        if constants := tuple(v for kind, values in _LISTED.items() if kind in kinds for v in values):
            refused = {identity(value) for schema, _ in plain for value in schema.get(Refused.VALUES, ())}
            found.append(Constants(tuple(v for v in constants if identity(v) not in refused)))
        if "string" in kinds:
            found.append(texts_of(plain))
        if "integer" in kinds:
            found.append(numbers_of(plain, integer="number" not in kinds))
        if "array" in kinds:
            found += self._lists(plain, notes)
        if "object" in kinds:
            found += self._objects.build(plain, notes)
        return [branch for branch in found if not _is_contradictory(branch)]

    def _constants(
        self, given: Sequence[Any], parts: Sequence[Part], plain: Plain, kinds: frozenset[Kind], notes: list[str]
    ) -> list[Branch]:
        refused = {identity(value) for schema, _ in plain for value in schema.get(Refused.VALUES, ())}
        limiting = [p for p in parts if not (isinstance(p.schema, Mapping) and _only_gives(p.schema, given))]
        values = [
            value
            for value in given
            if identity(value) not in refused and all(self._validator.allows(value, part) for part in limiting)
        ]
        values = list(filter(is_plain, values))
        if self._closed and values and not any(kind_of(value) in kinds for value in values):
            notes.append("type, as no member of the enum has it")
        return [Constants(tuple(values))] if values else []

    def _lists(self, plain: Plain, notes: list[str]) -> list[Branch]:
        contained = any("contains" in schema for schema, _ in plain)
        if contained:
            notes += ["contains", *(["unevaluatedItems"] if _unevaluated(plain) else [])]
        tuples = [(_prefix(schema), _rest(schema), resource) for schema, resource in plain]
        size = max(len(prefix) for prefix, _, _ in tuples)
        if any("unevaluatedItems" in schema for schema, _ in plain[1:]) and any(p or r for p, r, _ in tuples[:-1]):
            notes.append("unevaluatedItems of a branch")  # it does not see what stands around it
        items = []
        for n in range(size + 1):
            said = [(prefix[n] if n < len(prefix) else rest, resource) for prefix, rest, resource in tuples]
            if all(schema is None for schema, _ in said) and not contained:
                said += _unevaluated(plain)
            items.append(self.conjunction(self._document.part(s, r) for s, r in said if s is not None))
        end = next((n for n, item in enumerate(items) if item.is_false), None)
        mosts = [most for schema, _ in plain if (most := count(schema, "maxItems")) is not None]
        most = min(mosts + ([] if end is None else [end]), default=None)
        places = items if end is None else items[:end]
        contains = tuple(
            self._contained(schema, resource, places) for schema, resource in plain if is_schema(schema.get("contains"))
        )
        leasts = [count(schema, "minItems") or 0 for schema, _ in plain] + [one.least for one in contains]
        least = max(leasts, default=0)
        if most is not None and least > most:
            return []
        unique = any(schema.get("uniqueItems") is True for schema, _ in plain)
        rest = None if end is not None else items[size]
        return [Lists(tuple(places[:size]), rest, least, most, unique, contains)]

    def _contained(
        self, schema: Mapping[Any, Any], resource: Mapping[str, Any], items: "Sequence[Conjunction]"
    ) -> Contained:
        wanted, others = (
            tuple(self.conjunction([*item.parts, self._document.part(inner, resource)]) for item in items)
            for inner in (schema["contains"], {"not": schema["contains"]})
        )
        least = count(schema, "minContains")
        return Contained(wanted, others, 1 if least is None else least, count(schema, "maxContains"))


_LISTED: Final[dict[Kind, tuple[Any, ...]]] = {"null": (None,), "boolean": (True, False)}


def _implied(plain: Plain) -> frozenset[Kind]:
    """The types of which schemas without a type say something; all types if they say nothing."""
    found = {kind for kind, words in _IMPLIED.items() for schema, _ in plain if any(word in schema for word in words)}
    return frozenset(found | ({"integer"} if "number" in found else set())) or KINDS


def _prefix(schema: Mapping[Any, Any]) -> list[Any]:
    """The schemas of the first items, in the words of any draft."""
    word = "prefixItems" if "prefixItems" in schema else "items"
    return schema_list(schema, word)


def _rest(schema: Mapping[Any, Any]) -> Any:
    """The schema of all further items; ``None`` if there is none."""
    word = "additionalItems" if isinstance(schema.get("items"), list | tuple) else "items"
    return schema[word] if is_schema(schema.get(word)) else None


def _unevaluated(plain: Plain) -> Plain:
    """What ``unevaluatedItems`` says of items of which no other word does: the innermost one, which is the last."""
    return [(s["unevaluatedItems"], r) for s, r in plain if is_schema(s.get("unevaluatedItems"))][-1:]


def _only_gives(schema: Mapping[Any, Any], given: Sequence[Any]) -> bool:
    """Whether a schema says nothing but that a value is one of those given."""
    return schema.get("enum") is given and schema.keys() <= _GIVING


def _is_contradictory(branch: Branch) -> bool:
    match branch:
        case Constants(values):
            return not values
        case Texts(least=least, most=most):
            return most is not None and least > most
    return False
