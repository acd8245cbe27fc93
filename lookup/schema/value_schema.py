"""What a JSON Schema allows, for values that are decoded and for values that are finished."""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any, Final, cast

from lookup.dictionary import ParameterSpec
from lookup.errors import DocumentationError, quoted
from lookup.schema.check import allows, check
from lookup.schema.document import Document
from lookup.schema.json_types import JsonType, type_schema
from lookup.schema.leaves import Texts
from lookup.schema.normal import Alternative, LazySchema, Lists, Objects, groups_of, leaves_values, needed
from lookup.schema.normalizer import Normalizer
from lookup.schema.schema import EVERYTHING, NOTHING, NormalizedSchema, Schema, values_of, with_all

_MAX_WALKED: Final = 2_000  # schemas that are looked through for notes
_MAX_ALTERNATIVES: Final = 2_000  # and their alternatives
_MAX_NOTES: Final = 20  # notes of one parameter
_UNSATISFIABLE: Final = "no value can obey the schema"
_ACROSS: Final = (
    "if", "not", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties", "anyOf", "oneOf"
)  # fmt: skip
"""Keywords that limit several arguments of a call together."""

_LEADING_THERE: Final = frozenset({*_ACROSS, "dependencies", "allOf", "$ref", "$dynamicRef"})


class ValueSchema:
    """The values that some schemas allow together.

    ``closed``: whether they document a tool: an object with documented keys has no others, and keywords that say
    something of one type only imply the type.
    """

    def __init__(self, schemas: tuple[Schema, ...], closed: bool) -> None:
        self._schemas = schemas
        self._closed = closed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._schemas, self._closed)

    @cached_property
    def lazy_schema(self) -> LazySchema:
        """The schemas, whose normal form is made when it is needed."""
        return Normalizer(self._closed).lazy_schema(self._schemas)

    @property
    def plain_types(self) -> frozenset[JsonType] | None:
        """The types of the values, if nothing else is said of them."""
        keywords = self._schemas[0].keywords if len(self._schemas) == 1 else {}
        return self._schemas[0].types if keywords.keys() == {"type"} else None

    def key(self, name: str) -> "ValueSchema":
        """The schema of one key of the objects that are allowed; a contradiction is that of all its keys."""
        objects = [one for one in self.lazy_schema.node.alternatives if isinstance(one, Objects)]
        found = list(dict.fromkeys(key for one in objects if (key := one.keys.get(name)) is not None))
        if len(found) < 2:
            nothing = self._schemas if self.unsatisfiable else (NOTHING,)
            return ValueSchema(found[0].schemas if found else nothing, self._closed)
        union = Schema({"anyOf": tuple(Schema({"allOf": key.schemas}) for key in found)})
        return ValueSchema((union,), self._closed)

    def check(self, value: Any) -> Any:
        """The value, if it obeys the schema; in its documented types if the schema documents a tool.

        SchemaError if it does not.
        """
        return check(value, self._schemas, self._closed)

    def allows(self, value: Any) -> bool:
        """Whether a value obeys the schema."""
        return allows(value, self._schemas, self._closed)

    @property
    def has_texts(self) -> bool:
        """Whether texts are allowed that are not listed."""
        node = self.lazy_schema.node
        return node.anything or any(isinstance(alternative, Texts) for alternative in node.alternatives)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while a value is decoded, only checked after: ``key 'a': not``."""
        if self.unsatisfiable:
            return (f"{self.contradiction}, so it is never written",)
        found = dict.fromkeys(f"{where}{', '.join(keywords)}" for where, keywords in _unenforced(self.lazy_schema))
        return tuple(found)[:_MAX_NOTES]

    @cached_property
    def unsatisfiable(self) -> bool:
        """Whether no value is allowed."""
        return self.lazy_schema.is_empty

    @property
    def contradiction(self) -> str:
        """Where a schema that no value can obey contradicts itself: ``key 'a': items: no value …``."""
        path = [("", self.lazy_schema)]
        for where, here in path:  # it grows
            seen = {inner for _, inner in path}
            members = (
                (f"{where}{step}: ", inner)
                for alternative in here.node.alternatives
                for step, inner in _inside(alternative)
                if inner not in seen and inner in needed(alternative) and inner.is_empty
            )
            path += islice(members, 1)
        overlapping = Normalizer(self._closed, exclusive=False)
        for where, here in reversed(path):
            if not overlapping.lazy_schema(here.schemas).is_empty:
                return f"{where}more than one alternative of 'oneOf' always fits: {_UNSATISFIABLE}"
        return f"{path[-1][0]}{_unnamed(path[-1][1].schemas)}{_UNSATISFIABLE}"


class Conditions(ValueSchema):
    """What a tool's schema says of several arguments together; checked when a call is finished.

    The first of its schemas says which arguments they are about: of an OpenAPI operation, only those of the body.
    """

    def check(self, value: Any) -> Any:
        """The arguments, if those that the conditions are about obey them. SchemaError if they do not."""
        known = self._schemas[0].keywords["properties"]
        super().check({key: argument for key, argument in value.items() if key in known})
        return value

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that say it."""
        return tuple(dict.fromkeys(word for schema in self._schemas[1:] for word in schema.keywords if word in _ACROSS))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while the arguments are decoded."""
        end = "; no call can obey it, so the tool is refused" if self.unsatisfiable else ""
        return (f"several parameters together: {', '.join(self.keywords)}{end}",)


def conditions(
    written: Mapping[str, Any], document: Document, keys: Collection[str], required: Collection[str]
) -> Conditions | None:
    """The conditions of a tool, if there are some.

    Parameters
    ----------
    written : Mapping
        The schema of all arguments.
    document : Document
        What references point into.
    keys, required : collection of str
        The tool's keys, and those that every call has.
    """
    if _LEADING_THERE.isdisjoint(written):
        return None
    across: list[Schema] = []
    for schema in with_all(document.schema(written)):
        each: Mapping[str, Any] = schema.keywords
        keywords = {word: each[word] for word in _ACROSS if word in each}
        if keywords.get("minProperties", 0) <= len(required):
            keywords.pop("minProperties", None)
        if keywords.get("maxProperties", len(keys)) >= len(keys):
            keywords.pop("maxProperties", None)
        if "if" in keywords:
            keywords |= {word: each[word] for word in ("then", "else") if word in each}
        across += [Schema(cast(NormalizedSchema, keywords))] if keywords else []
    if not across:
        return None
    properties = dict.fromkeys(keys, EVERYTHING)
    known = Schema({"properties": properties, "required": (*required,), "additionalProperties": NOTHING})
    return Conditions((known, *across), closed=False)  # what each argument may hold, its own schema says


def value_schema(written: object, document: Document | None = None) -> ValueSchema:
    """The values that a JSON Schema allows.

    DocumentationError if the schema is neither an object nor a boolean.

    ``document``: what references point into; by default the schema itself.
    """
    if not isinstance(written, dict | bool):
        raise DocumentationError(f"expected a schema to be an object or a boolean, found {type(written).__name__}")
    if document is None:
        document = Document(written if isinstance(written, dict) else {})
    return ValueSchema((document.schema(written),), document.documentation)


def schema_of(spec: ParameterSpec) -> ValueSchema:
    """The schema of a parameter: its own, or that of its type. What its description says is no limit."""
    if isinstance(spec.schema, ValueSchema):
        return spec.schema
    if ValueSchema not in spec.derived:
        spec.derived[ValueSchema] = value_schema(type_schema(spec.value_type), Document({}, documentation=True))
    found: ValueSchema = spec.derived[ValueSchema]
    return found


def _unnamed(schemas: tuple[Schema, ...]) -> str:
    """That a key is required which contradictory schemas neither name nor allow; empty if there is none."""
    together = [schema for start in schemas for schema in with_all(start)]
    closed = NOTHING in values_of(together, "additionalProperties") and not values_of(together, "patternProperties")
    known = set[str]().union(*values_of(together, "properties"))
    missing = [name for required in values_of(together, "required") for name in required if name not in known]
    return f"{quoted(missing[0])} is required, but not among the properties: " if closed and missing else ""


def _unenforced(start: LazySchema) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where keywords are not enforced, and which."""
    waiting: list[tuple[str, LazySchema]] = [("", start)]
    seen = {start}
    alternatives = 0
    for walked, (where, lazy_schema) in enumerate(waiting):  # it grows
        if walked >= _MAX_WALKED or alternatives >= _MAX_ALTERNATIVES:
            yield "", (f"what the schemas beyond the first {walked} say was not looked at",)
            return
        node = lazy_schema.node
        alternatives += len(node.alternatives)
        keywords = (*node.notes, *(note for alternative in node.alternatives for note in _own_notes(alternative)))
        if keywords:
            yield where, tuple(dict.fromkeys(keywords))
        for alternative in node.alternatives:
            for step, inner in _inside(alternative):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append((f"{where}{step}: ", inner))


def _own_notes(alternative: Alternative) -> tuple[str, ...]:
    if isinstance(alternative, Lists) and alternative.unique and not leaves_values(alternative):
        return ("uniqueItems",)
    return alternative.notes if isinstance(alternative, Texts) else ()


def _inside(alternative: Alternative) -> Iterator[tuple[str, LazySchema]]:
    if isinstance(alternative, Lists):
        yield from ((f"item {place}", item) for place, item in enumerate(alternative.prefix))
        if alternative.rest is not None:
            yield "items", alternative.rest
    if isinstance(alternative, Objects):
        yield from ((f"key {name!r}", key) for name, key in alternative.keys.items())
        yield from (("other keys", group.values) for group in groups_of(alternative) or ())
