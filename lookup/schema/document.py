"""One document of schemas: what a reference in it names, and its schemas in one form (``NormalizedSchema``).

A keyword with a value of the wrong type says nothing. Those of older drafts and of OpenAPI are put into newer ones.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Final, cast
from urllib.parse import unquote, urljoin

from lookup.errors import shown
from lookup.literals.syntaxes import JSON
from lookup.schema.equality import exact, identity, is_number, is_plain
from lookup.schema.json_types import JSON_TYPES, NUMBERS, JsonType, json_type_of, json_types_named, schema_named
from lookup.schema.leaves import meant_pattern
from lookup.schema.schema import (
    EVERYTHING,
    NOTHING,
    NormalizedSchema,
    Schema,
    is_schema,
    is_typed_enum,
    named_type,
    names,
    with_enum,
)

_MAX_WALKED: Final = 200_000  # objects of a document in which names are looked for
_MAX_COUNT: Final = 10**100  # a larger count says nothing
_MAX_DIGITS: Final = 640  # of a limit that is a text
_WITHOUT_IF: Final = ("draft-03", "draft-04", "draft-06")
_ALONE: Final = (*_WITHOUT_IF, "draft-07")
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_MAX_PARTS: Final = 500  # schemas that hold together
_COUNTS: Final = (
    *(f"m{end}{what}" for end in ("in", "ax") for what in ("Length", "Items", "Properties")),
    *("minContains", "maxContains"),
)
_SCHEMA: Final = (
    *("items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else"),
    *("additionalProperties", "unevaluatedProperties", "unevaluatedItems"),
)
_FORMS: Final[dict[str, str]] = {
    **dict.fromkeys(_COUNTS, "count"),
    **dict.fromkeys(_SCHEMA, "schema"),
    **dict.fromkeys(("prefixItems", "anyOf", "oneOf"), "schemas"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependencies"), "keys"),
}
"""Word -> of which form its value is."""

_ENDS: Final = (("low", "minimum", "exclusiveMinimum", 1), ("high", "maximum", "exclusiveMaximum", -1))
_LIMITING: Final = frozenset({"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"})
_MEANT: Final = frozenset({*_COUNTS, *_SCHEMA, *_LIMITING, "multipleOf", "pattern", "properties"})

_KEYED: Final = frozenset({"properties", "required", "dependentRequired", "dependentSchemas", "dependencies"})
"""Keywords of an object's keys that are read together."""

_PLAIN: Final = frozenset({"type", "title", "description", "default", "example", "examples", "deprecated"})
"""All keywords of a schema that says no more than a type."""


class Written:
    """A part of a document, equal only to itself, as a key: YAML's aliases and references lead to one part often."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.part is other.part

    def __hash__(self) -> int:
        return id(self.part)


@dataclass(frozen=True, eq=False)
class Resource:
    """The root of a document, or a schema in it with its own ``$id``: references inside it are relative to it."""

    url: str
    written: Mapping[str, Any] | None


_NOWHERE: Final = Resource("", None)


class Document:
    """The schemas of one document.

    Parameters
    ----------
    root : Mapping
        The document that references without another name point into.
    documentation : bool
        Whether it documents a tool, and is read as it is meant: an enum without a member of its own type wins over the
        type, a key may say by itself that it is required, ``nullable`` holds without a type, a limit may be a text.
    requires : callable, optional
        Whether a documented key of an object is required by itself, and not by a list; gets its schema, and whether
        there is a list.
    asks : bool
        Whether the values are those of requests: a list of required keys then does not mean those that are
        ``readOnly``, which only responses hold.

    Attributes
    ----------
    taken : int
        How many members of its objects were read for display, by all tools together.
    kept : dict
        What tools made of it that others make again.
    """

    def __init__(
        self,
        root: Mapping[str, Any],
        documentation: bool = False,
        requires: Callable[[Any, bool], bool] | None = None,
        asks: bool = False,
    ) -> None:
        self.root = root
        self.documentation = documentation
        self._requires = requires
        self._asks = asks
        self._whole = Resource(_name(root) or "", root)
        self._draft = str(root.get("$schema", ""))
        # the keywords next to ``$ref`` are ignored, as up to draft 7, if the document names its draft
        self._references_stand_alone = any(name in self._draft for name in _ALONE)
        self._schemas: dict[Any, Schema] = {}
        self.taken = 0
        self.kept: dict[Any, Any] = {}
        self.meant_pattern = cache(meant_pattern)  # many references may lead to one pattern

    def __reduce__(self) -> tuple[Any, ...]:
        return Document, (self.root, self.documentation, self._requires, self._asks)

    def schema(self, written: object, resource: Resource | None = None) -> Schema:
        """The schema that is written somewhere in a resource, by default in the root; the same object each time.

        All that say no more than a type, which are most, are one.
        """
        if not isinstance(written, dict) or not written:
            return NOTHING if written is False else EVERYTHING
        resource = self._own_resource(written, resource or self._whole)
        kind = written.get("type") if written.keys() <= _PLAIN else None
        place: Any = kind if isinstance(kind, str) else (Written(written), resource)
        if place not in self._schemas:
            self._schemas[place] = Schema(partial(self._keywords, written, resource))
        return self._schemas[place]

    def parts(
        self, written: Mapping[str, Any], known: Collection[Written] = (), lost: list[str] | None = None
    ) -> Iterator[tuple[Mapping[str, Any], bool]]:
        """A schema, what its reference names, the members of its ``allOf``, and theirs: each once, a bounded number.

        Each comes with whether a reference names it.

        Parameters
        ----------
        known : collection of Written
            A schema that a reference names and that is among them comes without what it leads to.
        lost : list of str, optional
            Gets the references that lead nowhere.
        """
        waiting: list[tuple[Any, Resource, bool]] = [(written, self._whole, False)]
        seen: set[int] = set()
        while waiting and len(seen) < _MAX_PARTS:
            part, resource, is_named = waiting.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            yield part, is_named
            if not (is_named and Written(part) in known):
                applied = self._applied(part, self._own_resource(part, resource), [] if lost is None else lost)
                waiting += reversed(applied)

    def _applied(
        self, written: Mapping[str, Any], resource: Resource, lost: list[str]
    ) -> list[tuple[Any, Resource, bool]]:
        """What holds beside the keywords of a schema: what its reference names, and the members of ``allOf``."""
        keyword, all_of = _reference(written), written.get("allOf")
        applied: list[tuple[Any, Resource, bool]] = []
        if keyword is not None and (found := self._find(written[keyword], resource)):
            applied.append((*found, True))
        elif keyword is not None:
            lost.append(written[keyword])
        if isinstance(all_of, list | tuple) and (keyword is None or not self._references_stand_alone):
            applied += [(inner, resource, False) for inner in all_of if is_schema(inner)]
        return applied

    def is_read_only(self, written: object) -> bool:
        """Whether only responses hold a key with this schema, by its own keywords or by those that hold beside them."""
        if (key := Written(written)) not in self.kept:
            parts = self.parts(written) if isinstance(written, Mapping) else ()
            self.kept[key] = next((part["readOnly"] for part, _ in parts if "readOnly" in part), False) is True
        return cast(bool, self.kept[key])

    def _keywords(self, written: Mapping[str, Any], resource: Resource) -> NormalizedSchema:
        """The keywords of a schema."""
        lost: list[str] = []
        always = [self.schema(inner, place) for inner, place, _ in self._applied(written, resource, lost)]
        notes = [f"the reference {reference!r}, which leads nowhere" for reference in lost]
        keyword = _reference(written)
        notes += [] if keyword in (None, "$ref") else [str(keyword)]
        keywords: dict[str, Any] = {"allOf": tuple(always) or None}
        if keyword is None or not self._references_stand_alone:
            keywords = self._read(_meant(written, notes) if self.documentation else written, resource, always)
            keywords |= self._given(written, {of: value for of, value in keywords.items() if value is not None}, notes)
        keywords["notes"] = tuple(notes) or None
        return cast(NormalizedSchema, {word: value for word, value in keywords.items() if value is not None})

    def _read(self, written: Mapping[str, Any], resource: Resource, always: list[Schema]) -> dict[str, Any]:
        """All keywords but those of types and given values. ``always`` are schemas that hold as well."""
        found: dict[str, Any] = {}
        for keyword, value in written.items():
            form = _FORMS.get(keyword) if isinstance(keyword, str) else None
            read = None if form is None else self._value(form, value, resource)
            if read is not None:
                found[keyword] = read
        if written.get("uniqueItems") is True:
            found["uniqueItems"] = True
        if is_number(step := written.get("multipleOf")) and step:
            found["multipleOf"] = step
        if isinstance(first := written.get("items"), list | tuple):
            found.setdefault("prefixItems", self._value("schemas", first, resource))
            found["items"] = found.get("additionalItems")
        if not _KEYED.isdisjoint(written):
            found |= self._keys(written, found)
        if "pattern" in written or "format" in written:
            texts = tuple((of, written[of], True) for of in ("pattern", "format") if isinstance(written.get(of), str))
            found["texts"] = texts or None
        if not _LIMITING.isdisjoint(written):
            found |= _limits(written)
        for union in ("anyOf", "oneOf"):
            if union in found and len(found[union]) == 1:
                always += found.pop(union)
        if "if" not in found or any(name in self._draft for name in _WITHOUT_IF):
            found |= {"if": None, "then": None, "else": None}
        return found | {"allOf": tuple(always) or None, "additionalItems": None, "dependencies": None}

    def _value(self, form: str, value: Any, resource: Resource) -> Any:
        """The value of a keyword; ``None`` if it is not of the form."""
        match form:
            case "count":
                whole = is_number(value) and 0 <= value < _MAX_COUNT and int(value) == value
                return int(value) if whole else None
            case "schema":
                return self.schema(value, resource) if is_schema(value) else None
            case "schemas" if isinstance(value, list | tuple):
                return tuple(self.schema(inner, resource) for inner in value if is_schema(inner)) or None
            case "keys" if isinstance(value, dict):
                pairs = ((key, inner) for key, inner in value.items() if isinstance(key, str) and is_schema(inner))
                return {key: self.schema(inner, resource) for key, inner in pairs} or None
        return None

    def _keys(self, written: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
        """The required keys, and those that other keys need."""
        required = list(names(written.get("required")))
        properties = written.get("properties")
        if self._requires is not None and isinstance(properties, dict):
            listed = isinstance(written.get("required"), list | tuple)
            required += [key for key in found.get("properties", ()) if self._requires(properties[key], listed)]
        if self._asks and isinstance(properties, dict):
            required = [key for key in required if not self.is_read_only(properties.get(key))]
        needs: dict[str, tuple[str, ...]] = {}
        for keyword in ("dependentRequired", "dependencies"):
            lists = written.get(keyword)
            for key, needed in lists.items() if isinstance(lists, dict) else ():
                if isinstance(needed, list | tuple | str):
                    needs[key] = (*needs.get(key, ()), *([needed] if isinstance(needed, str) else names(needed)))
        schemas = {**found.get("dependencies", {}), **found.get("dependentSchemas", {})}
        return {
            "required": tuple(dict.fromkeys(required)) or None,
            "dependentRequired": needs or None,
            "dependentSchemas": schemas or None,
        }

    # Types and given values

    def _given(self, written: Mapping[str, Any], found: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
        """What ``type``, ``nullable``, ``enum`` and ``const`` say beside the keywords that are found."""
        keywords: dict[str, Any] = {}
        if self.documentation and is_typed_enum(written):
            written = with_enum(written)
            notes += ["the type 'enum', whose members are not listed"] if is_typed_enum(written) else []
        named = written.get("type", written.get("param_type") if self.documentation else None)
        if isinstance(named, str) and (inner := schema_named(named)):
            keywords["allOf"] = (*found.get("allOf", ()), self.schema(inner))
        elif named is not None:
            keywords |= _types(named if isinstance(named, list | tuple) else [named], written.get("nullable") is True)
        given = _values(written)
        if given is None:
            whole = {**found, **keywords}
            if not self.documentation or written.get("nullable") is not True or "type" in whole or not whole:
                return keywords
            # null stands beside a reference or a union, too
            either = Schema(cast(NormalizedSchema, whole)), Schema({"enum": (None,)})
            return {**keywords, **dict.fromkeys(whole), "anyOf": either}
        types: frozenset[JsonType] = keywords.get("type", JSON_TYPES)
        fitting = given if types == JSON_TYPES else tuple(value for value in given if json_type_of(value) in types)
        if fitting or not self.documentation or not given or types <= {"object", "null"}:
            return {**keywords, "enum": fitting}
        notes.append("the enum has no member of the type, so only the enum is enforced")
        if "array" in types and not any(isinstance(value, list | tuple) for value in given):
            return {**keywords, "type": frozenset({"array"}), "items": Schema({"enum": given})}
        return {"enum": given}

    # References

    def _own_resource(self, written: Mapping[str, Any], outer: Resource) -> Resource:
        return outer if _name(written) is None else self._places.get(Written(written), outer)

    def _find(self, reference: str, resource: Resource) -> tuple[Any, Resource] | None:
        """What a reference names, as it is written, and the resource that it stands in."""
        name, _, fragment = reference.partition("#")
        places = [resource, self._whole]
        if name:
            urls = _joined(resource.url, name), _joined(self._whole.url, name), name
            places = [self._places[url] for url in urls if url in self._places][:1]
        for place in places:
            found: Any = place.written
            if fragment.startswith("/"):
                found = pointed(found, fragment)
            elif fragment:  # an anchor
                found = self._places.get(f"#{fragment}", _NOWHERE).written
            if is_schema(found):
                return found, place
        return None

    @cached_property
    def _places(self) -> dict[Any, Resource]:
        """A written schema, its address or its anchor (``#name``) -> the resource that it is."""
        found: dict[Any, Resource] = {Written(self.root): self._whole, self._whole.url: self._whole}
        for schema in self.objects():
            name = _name(schema) or ""
            url, _, anchor = _joined(self._whole.url, name).partition("#")
            resource = Resource(url, schema)
            if name and not name.startswith("#"):
                found.setdefault(url, resource)
                found.setdefault(Written(schema), resource)
            for given in (schema.get("$anchor"), schema.get("$dynamicAnchor"), anchor):
                if isinstance(given, str) and given:
                    found.setdefault(f"#{given}", resource)
        return found

    @cached_property
    def members(self) -> int:
        """How many objects it has, and members in them."""
        return sum(1 + len(each) for each in self.objects())

    def objects(self) -> Iterator[Mapping[str, Any]]:
        """All objects of the document, a bounded number."""
        waiting: list[Any] = [self.root]
        seen: set[int] = set()  # YAML's aliases share objects
        while waiting and len(seen) < _MAX_WALKED:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, dict):
                yield node
            inside = node.values() if isinstance(node, dict) else node
            waiting += [member for member in inside if isinstance(member, dict | list | tuple)]


def _meant(written: Mapping[str, Any], notes: list[str]) -> Mapping[str, Any]:
    """A documented schema with what its texts mean (``"minItems": "2"``). ``notes`` gets what says nothing."""
    meant = dict(written)
    for word in filter(_MEANT.__contains__, written):
        value = found = written[word]
        if word == "properties" and isinstance(value, dict):
            found = {key: named_type(inner) or inner for key, inner in value.items()}
        elif isinstance(value, str):
            number = json.loads(value) if len(value) < _MAX_DIGITS and JSON.number.fullmatch(value) else None
            found = named_type(value) if word in _SCHEMA else number if is_number(number) else None
            found = meant_pattern(value) if word == "pattern" else found
        if (found is None and value is not None) or (word in _COUNTS and is_number(found) and found < 0):
            notes.append(f"{word} ({'no text has it' if word == 'pattern' else 'says nothing'}: {shown(value)})")
        meant[word] = found
    return meant


def _limits(written: Mapping[str, Any]) -> dict[str, tuple[float, bool] | None]:
    """The strictest limit at each end, and whether it is excluded; in draft 4 that is a boolean beside it."""
    found = {}
    for end, inclusive, exclusive, sign in _ENDS:
        limits = [(written.get(inclusive), written.get(exclusive) is True), (written.get(exclusive), True)]
        numbers = [(sign * exact(limit), is_open, limit) for limit, is_open in limits if is_number(limit)]
        strictest = max(numbers, default=None)
        found[end] = None if strictest is None else (strictest[2], strictest[1])
    return found


def _types(named: Collection[Any], nullable: bool) -> dict[str, Any]:
    """The keywords of some names of types. Draft 3 allows schemas among them."""
    each = [json_types_named(name) if isinstance(name, str) else JSON_TYPES for name in named]
    types = frozenset[JsonType]().union(*each, ["null"] if nullable else [])
    keywords: dict[str, Any] = {} if types == JSON_TYPES else {"type": types}
    if {"integer"} in each and NUMBERS in each:
        keywords["whole"] = True
    return keywords | ({"tuple": True} if "tuple" in named else {})


def _values(written: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The values of ``enum`` and ``const``; ``None`` without one."""
    values = written.get("enum")
    listed = tuple(filter(is_plain, values)) if isinstance(values, list | tuple) else None
    if "const" not in written:
        return listed
    constant = written["const"]
    if listed is not None:
        return tuple(value for value in listed if identity(value) == identity(constant))[:1]
    return (constant,) if is_plain(constant) else ()


def _reference(written: Mapping[str, Any]) -> str | None:
    """The keyword with which a schema refers to another one."""
    return next((keyword for keyword in REFERENCES if isinstance(written.get(keyword), str)), None)


def _name(schema: Mapping[str, Any]) -> str | None:
    name = schema.get("$id", schema.get("id"))
    return name if isinstance(name, str) else None


def _joined(base: str, name: str) -> str:
    """The address of a name; the name itself if one of both is no address."""
    try:
        return urljoin(base, name)
    except ValueError:
        return name


def pointed(node: Any, pointer: str) -> Any:
    """What a JSON pointer (``/a/0``, possibly percent-encoded) leads to; ``None`` if it leads nowhere."""
    for step in unquote(pointer[1:]).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(name)
        elif isinstance(node, list | tuple) and name.isdecimal() and len(name) < 10 and int(name) < len(node):
            node = node[int(name)]
        else:
            return None
    return node
