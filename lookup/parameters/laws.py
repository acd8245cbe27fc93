"""Which properties say more than a type, an enum and keys: their whole schema becomes a law for values."""

from collections.abc import Mapping
from typing import Any, Final

from lookup.parameters.schema_branches import UNIONS, branches_of, is_null
from lookup.schema.document import Document
from lookup.schema.law import Law
from lookup.schema.nodes import NOT_ENFORCED, knows_format

_MAX_WALKED: Final = 300
_LIMITS: Final = frozenset(
    [
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "not",
        "if",
        "allOf",
        "$dynamicRef",
        "$recursiveRef",
    ]
)
"""Words that limit values in a way that a type does not say."""

_ACROSS: Final = (
    "if", "not", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", *UNIONS
)  # fmt: skip
"""Words that limit several arguments of a call together."""


def law_of_arguments(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Law | None:
    """The law of all arguments, if the schemas of single keys stand in several branches."""
    combined = not {"allOf", "if", *UNIONS}.isdisjoint(schema)
    return Law(schema, root, closed=True) if combined else None


def law_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Law | None:
    """The law of a property in a document, if it says more than a type."""
    return Law(schema, root, closed=True) if says_more(schema, root) else None


def says_more(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
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
            target = Document(root).target(reference, root)
            waiting.append((None if target is None else target.schema, active | {reference}))
        waiting += [(inner, active) for inner in _inside(node)]
    return False


def _limits(schema: Mapping[str, Any]) -> bool:
    """Whether the schema's own words say more than a type."""
    if not _LIMITS.isdisjoint(schema):
        return True
    written = schema.get("format")
    if isinstance(written, str) and (written in NOT_ENFORCED or knows_format(written)):
        return True
    if isinstance(schema.get("items"), list | tuple):
        return True
    additional = schema.get("additionalProperties")
    if schema.get("properties") and (additional is True or isinstance(additional, Mapping)):
        return True
    return any(_has_objects(schema, union) for union in UNIONS)


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
        found += branches_of(schema, union)
    return [inner for inner in found if inner is not None]


class Together:
    """What a tool's schema says of several arguments together; checked when a call is finished.

    Parameters
    ----------
    schema : Mapping
        The schema of all arguments.
    root : Mapping
        The document that references point into.
    """

    def __init__(self, schema: Mapping[str, Any], root: Mapping[str, Any]) -> None:
        self.words = [w for w in _ACROSS if w in schema and (w not in UNIONS or len(branches_of(schema, w)) > 1)]
        said = {word: schema[word] for word in (*self.words, "then", "else") if word in schema}
        self._law = Law(said, root, closed=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while the arguments are decoded."""
        return (f"several parameters together: {', '.join(self.words)}",) if self.words else ()

    def check(self, value: Any) -> Any:
        """The arguments if they obey the schema; otherwise SchemaError."""
        return self._law.check(value)
