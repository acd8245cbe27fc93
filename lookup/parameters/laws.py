"""Which properties say more than a type, an enum and keys: their whole schema becomes a law for values."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

from lookup.dictionary import ValueLaw
from lookup.parameters.schema_branches import UNIONS, branches_of, is_null, listed_keys
from lookup.schema.document import Document
from lookup.schema.law import Law
from lookup.schema.nodes import NOT_ENFORCED, knows_format
from lookup.schema.words import kind_of, kinds_of

_MAX_WALKED: Final = 300
_MAX_DEPTH: Final = 8
_MAX_BRANCHES: Final = 64
_LIMITS: Final = frozenset(
    {
        "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minItems", "maxItems", "uniqueItems", "prefixItems", "additionalItems", "unevaluatedItems", "contains",
        "minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties",
        "dependentRequired", "dependentSchemas", "dependencies", "not", "if", "allOf", "$dynamicRef", "$recursiveRef",
    }
)  # fmt: skip
"""Words that limit values in a way that a type does not say."""

_ACROSS: Final = (
    "if", "not", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", *UNIONS
)  # fmt: skip
"""Words that limit several arguments of a call together."""


def law_of_arguments(schema: Mapping[str, Any], document: Document) -> Law | None:
    """The law of all arguments, if the schemas of single keys stand in several branches."""
    combined = not {"allOf", "if", "patternProperties", *UNIONS}.isdisjoint(schema)
    return Law(schema, document, closed=True) if combined else None


def law_of(schema: Mapping[str, Any], document: Document) -> ValueLaw | None:
    """The law of a property in a document, if it says more than a type, or contradicts itself."""
    members = schema.get("enum")
    kinds = kinds_of(schema)
    wrong = [kind_of(m) not in kinds for m in members] if isinstance(members, list | tuple) else []
    if wrong and all(wrong) and not kinds <= {"object", "null"}:
        return ListedAgainstType()
    if any(wrong) or says_more(schema, document):
        return Law(schema, document, closed=True)
    default = schema.get("default")
    if not isinstance(default, Mapping | list | tuple):
        return None
    law = Law(schema, document, closed=True)
    return None if law.allows(default) else law


class ListedAgainstType:
    """The law of an enum without a member of the documented type: what is listed wins, and nothing else is enforced.

    BFCL documents lists, numbers and booleans so; an object with such an enum has no value.
    """

    decides = is_empty = False
    notes = ("the enum has no member of the type, so only the enum is enforced",)

    def check(self, value: Any) -> Any:
        """The value."""
        return value


def says_more(schema: Mapping[str, Any], document: Document) -> bool:
    """Whether a schema, or one inside it, has words that a type does not express. Large ones are taken to have some."""
    waiting: list[tuple[Any, frozenset[str]]] = [(schema, frozenset())]
    for walked, (node, active) in enumerate(waiting):  # it grows
        if walked > _MAX_WALKED:
            return True
        if not isinstance(node, Mapping):
            continue
        if _limits(node):
            return True
        if isinstance(reference := node.get("$ref"), str):
            if reference in active:
                return True  # a type does not contain itself
            target = document.target(reference, document.root)
            waiting.append((None if target is None else target.schema, active | {reference}))
        waiting += [(inner, active) for inner in _inside(node)]
    return False


def _limits(schema: Mapping[str, Any]) -> bool:
    """Whether the schema's own words say more than a type."""
    if not _LIMITS.isdisjoint(schema) or is_null(schema):
        return True
    written = schema.get("format")
    if isinstance(written, str) and (written in NOT_ENFORCED or knows_format(written)):
        return True
    if isinstance(schema.get("items"), list | tuple):
        return True
    additional = schema.get("additionalProperties")
    if properties := schema.get("properties"):
        if not isinstance(properties, Mapping) or not properties.keys() >= set(listed_keys(schema)):
            return True  # a type has no keys without a description
        if additional is True or isinstance(additional, Mapping):
            return True
    elif additional is False or listed_keys(schema):
        return True  # a type has no object without keys
    several = isinstance(schema.get("type"), list | tuple)
    return any(_has_objects(schema, union) or (several and union in schema) for union in UNIONS)


def _has_objects(schema: Mapping[str, Any], union: str) -> bool:
    """Whether several branches of a union have keys, which a type would mix."""
    named = [branch for branch in branches_of(schema, union) if not is_null(branch)]
    simple = ("type", "description", "title", "enum", "const", "default", "examples")
    return len(named) > 1 and any(not set(branch).issubset(simple) for branch in named)


def _inside(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas of members and branches."""
    found: list[Any] = [schema.get("items"), schema.get("additionalProperties")]
    properties = schema.get("properties")
    found += properties.values() if isinstance(properties, Mapping) else ()
    for union in UNIONS:
        found += [branch for branch in branches_of(schema, union) if not is_null(branch)]
    return [inner for inner in found if inner is not None]


class Together:
    """What a tool's schema says of several arguments together; checked when a call is finished.

    Parameters
    ----------
    schema : Mapping
        The schema of all arguments, whose reference is followed.
    document : Document
        What references point into.
    keys, required : collection of str
        The tool's keys, and those that every call has.

    Attributes
    ----------
    words : list of str
        The words that say it.
    """

    decides = True

    def __init__(
        self, schema: Mapping[str, Any], document: Document, keys: Collection[str], required: Collection[str]
    ) -> None:
        self.words: list[str] = []
        self._said = self._across(schema, document, len(keys), len(required), 0)
        known = dict.fromkeys(keys, True)
        self._keys = {"properties": known, "required": list(required), "additionalProperties": False}
        self._document = document

    @cached_property
    def _law(self) -> Law:
        return Law(self._said, self._document, closed=True)

    @cached_property
    def is_empty(self) -> bool:
        """Whether no call obeys it, whatever its values are."""
        return bool(self.words) and Law({"allOf": [self._keys, self._said]}, self._document, closed=True).is_empty

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while the arguments are decoded."""
        if not self.words:
            return ()
        end = "; no call can obey it, so the tool is refused" if self.is_empty else ""
        return (f"several parameters together: {', '.join(self.words)}{end}",)

    def check(self, value: Any) -> Any:
        """The arguments if they obey the schema; otherwise SchemaError."""
        return self._law.check(value)

    def _across(
        self, schema: Mapping[str, Any], document: Document, keys: int, required: int, depth: int
    ) -> dict[str, Any]:
        """The part of a schema that is about several arguments, also of its branches that always hold."""
        always = [*branches_of(schema, "allOf")]
        said = {}
        for word in _ACROSS:
            if word not in schema or (word in UNIONS and not branches_of(schema, word)):
                continue
            if word in UNIONS and len(branches_of(schema, word)) == 1:
                always += branches_of(schema, word)
            elif not _is_idle(word, schema[word], keys, required):
                self.words += [] if word in self.words else [word]
                said[word] = schema[word]
        if "if" in said:
            said |= {word: schema[word] for word in ("then", "else") if word in schema}
        if isinstance(reference := schema.get("$ref"), str):
            target = document.target(reference, document.root)
            always += [] if target is None or not isinstance(target.schema, Mapping) else [target.schema]
        if depth < _MAX_DEPTH:
            inner = [self._across(branch, document, keys, required, depth + 1) for branch in always[:_MAX_BRANCHES]]
            if found := [each for each in inner if each]:
                said["allOf"] = found
        return said


def _is_idle(word: str, value: object, keys: int, required: int) -> bool:
    """Whether the number of keys is right in every call."""
    if not isinstance(value, int):
        return False
    return value <= required if word == "minProperties" else word == "maxProperties" and value >= keys
