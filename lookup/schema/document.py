"""One document of schemas: what a reference in it names, and its schemas in one form (``lookup.schema.schema.Words``).

A word with a value of the wrong type says nothing. The words of older drafts and of OpenAPI are put into newer ones.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final
from urllib.parse import unquote, urljoin

from lookup.schema.schema import EVERYTHING, NOTHING, Schema, Words
from lookup.schema.type_schema import kinds_named, schema_named
from lookup.schema.words import KINDS, Kind, exact, identity, is_number, is_plain, is_schema, kind_of, names

_MAX_WALKED: Final = 200_000
_MAX_COUNT: Final = 10**100
_ALONE: Final = ("draft-03", "draft-04", "draft-06", "draft-07")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
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
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), "schemas"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependencies"), "keys"),
}
"""Word -> of which form its value is."""

_ENDS: Final = (("low", "minimum", "exclusiveMinimum", 1), ("high", "maximum", "exclusiveMaximum", -1))

_KEYED: Final = frozenset({"properties", "required", "dependentRequired", "dependentSchemas", "dependencies"})
"""Words of an object's keys that are read together."""

_PLAIN: Final = frozenset({"type", "title", "description", "default", "example", "examples", "deprecated"})
"""All words of a schema that says no more than a type."""


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
    written: Mapping[str, Any]


class Document:
    """The schemas of one document.

    Parameters
    ----------
    root : Mapping
        The document that references without another name point into.
    documentation : bool
        Whether it documents a tool, and is read as it is meant: an enum without a member of its own type wins over the
        type, a key may say by itself that it is required, ``nullable`` holds without a type.
    requires : callable, optional
        Whether a documented key of an object is required by itself, and not by a list; gets its schema, and whether
        there is a list.
    """

    def __init__(
        self, root: Mapping[str, Any], documentation: bool = False, requires: Callable[[Any, bool], bool] | None = None
    ) -> None:
        self.root = root
        self.documentation = documentation
        self._requires = requires
        self._whole = Resource(_name(root) or "", root)
        self._schemas: dict[Any, Schema] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Document, (self.root, self.documentation, self._requires)

    @cached_property
    def _references_stand_alone(self) -> bool:
        """Whether the words next to ``$ref`` are ignored, as up to draft 7, if the document names its draft."""
        draft = self.root.get("$schema")
        return isinstance(draft, str) and any(name in draft for name in _ALONE)

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
            self._schemas[place] = Schema(partial(self._words, written, resource))
        return self._schemas[place]

    def named(self, reference: str) -> Any:
        """What a reference in the root names, as it is written; ``None`` if the document has none."""
        found = self._find(reference, self._whole)
        return None if found is None else found[0]

    def _words(self, written: Mapping[str, Any], resource: Resource) -> Words:
        """The words of a schema."""
        always: list[Schema] = []
        notes: list[str] = []
        word = next((word for word in _REFERENCES if isinstance(written.get(word), str)), None)
        if word is not None:
            found = self._find(written[word], resource)
            always += [] if found is None else [self.schema(*found)]
            notes += [f"the reference {written[word]!r}, which leads nowhere"] if found is None else []
            notes += [] if word == "$ref" else [word]
        words: dict[str, Any] = {"allOf": tuple(always) or None}
        if word is None or not self._references_stand_alone:
            words = self._read(written, resource, always)
            words |= self._given(written, {word: value for word, value in words.items() if value is not None}, notes)
        words["notes"] = tuple(notes) or None
        return {word: value for word, value in words.items() if value is not None}

    def _read(self, written: Mapping[str, Any], resource: Resource, always: list[Schema]) -> dict[str, Any]:
        """All words but those of types and given values. ``always`` are schemas that hold as well."""
        found: dict[str, Any] = {}
        for word, value in written.items():
            form = _FORMS.get(word) if isinstance(word, str) else None
            read = None if form is None else self._value(form, value, resource)
            if read is not None:
                found[word] = read
        if written.get("uniqueItems") is True:
            found["uniqueItems"] = True
        if is_number(step := written.get("multipleOf")) and step:
            found["multipleOf"] = step
        if isinstance(first := written.get("items"), list | tuple):
            found.setdefault("prefixItems", self._value("schemas", first, resource))
            found["items"] = found.get("additionalItems")
        if not _KEYED.isdisjoint(written):
            found |= self._keys(written, found)
        found["texts"] = _texts(written)
        found |= _limits(written)
        always += found.get("allOf", ())
        for union in ("anyOf", "oneOf"):
            always += found.pop(union) if len(found.get(union, ())) == 1 else ()
        if "if" not in found:
            found |= {"then": None, "else": None}
        return found | {"allOf": tuple(always) or None, "additionalItems": None, "dependencies": None}

    def _value(self, form: str, value: Any, resource: Resource) -> Any:
        """The value of a word; ``None`` if it is not of the form."""
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
        needs: dict[str, tuple[str, ...]] = {}
        for word in ("dependentRequired", "dependencies"):
            lists = written.get(word)
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

    def _given(self, written: Mapping[str, Any], found: Words, notes: list[str]) -> dict[str, Any]:
        """What ``type``, ``nullable``, ``enum`` and ``const`` say beside the words that are found."""
        said: dict[str, Any] = {}
        named = written.get("type", written.get("param_type") if self.documentation else None)
        if isinstance(named, str) and (inner := schema_named(named)):
            said["allOf"] = (*found.get("allOf", ()), self.schema(inner))
        elif named is not None:
            said |= _kinds(named if isinstance(named, list | tuple) else [named], written.get("nullable") is True)
        given = _values(written)
        if given is None:
            whole = {**found, **said}
            if not self.documentation or written.get("nullable") is not True or "type" in whole or not whole:
                return said
            # null stands beside a reference or a union, too
            return {**said, **dict.fromkeys(whole), "anyOf": (Schema(whole), Schema({"enum": (None,)}))}
        kinds: frozenset[Kind] = said.get("type", KINDS)
        fitting = given if kinds == KINDS else tuple(value for value in given if kind_of(value) in kinds)
        if fitting or not self.documentation or not given or kinds <= {"object", "null"}:
            return {**said, "enum": fitting}
        notes.append("the enum has no member of the type, so only the enum is enforced")
        if "array" in kinds and not any(isinstance(value, list | tuple) for value in given):
            return {**said, "type": frozenset({"array"}), "items": Schema({"enum": given})}
        return {"enum": given}

    # References

    def _own_resource(self, written: Mapping[str, Any], outer: Resource) -> Resource:
        name = _name(written)
        if name is None or name.startswith("#") or written is outer.written:
            return outer
        url = _joined(_name(self.root) or "", name)
        known = self._names.get(url.partition("#")[0])
        return known if known is not None and known.written is written else Resource(url, written)

    def _find(self, reference: str, resource: Resource) -> tuple[Any, Resource] | None:
        """What a reference names, as it is written, and the resource that it stands in."""
        name, _, fragment = reference.partition("#")
        for place in self._named(name, resource) if name else [resource, self._whole]:
            found: Any = place.written
            if fragment:  # a pointer or an anchor
                found = pointed(found, fragment) if fragment.startswith("/") else self._anchors.get(fragment)
            if is_schema(found):
                return found, place
        return None

    def _named(self, name: str, resource: Resource) -> list[Resource]:
        """The resource with a name, in a list; empty if there is none."""
        urls = _joined(resource.url, name), _joined(_name(self.root) or "", name), name
        return [self._names[url] for url in urls if url in self._names][:1]

    @cached_property
    def _names(self) -> dict[str, Resource]:
        """The resource of each address."""
        base = _name(self.root) or ""
        found = {base: self._whole} if base else {}
        for schema in self.objects():
            if (name := _name(schema)) is not None:
                url = _joined(base, name)
                found.setdefault(url.partition("#")[0], Resource(url, schema))
        return found

    @cached_property
    def _anchors(self) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for schema in self.objects():
            for name in (schema.get("$anchor"), schema.get("$dynamicAnchor"), (_name(schema) or "").partition("#")[2]):
                if isinstance(name, str) and name:
                    found.setdefault(name, schema)
        return found

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


def _texts(written: Mapping[str, Any]) -> tuple[tuple[str, str, bool], ...] | None:
    words = (word for word in ("pattern", "format") if isinstance(written.get(word), str))
    return tuple((word, written[word], True) for word in words) or None


def _limits(written: Mapping[str, Any]) -> dict[str, tuple[float, bool] | None]:
    """The strictest limit at each end, and whether it is excluded; in draft 4 that is a boolean beside it."""
    found = {}
    for end, inclusive, exclusive, sign in _ENDS:
        limits = [(written.get(inclusive), written.get(exclusive) is True), (written.get(exclusive), True)]
        numbers = [(sign * exact(limit), is_open, limit) for limit, is_open in limits if is_number(limit)]
        strictest = max(numbers, default=None)
        found[end] = None if strictest is None else (strictest[2], strictest[1])
    return found


def _kinds(named: Collection[Any], nullable: bool) -> dict[str, Any]:
    """The words of some names of types. Draft 3 allows schemas among them."""
    kinds = frozenset[Kind]().union(*(kinds_named(name) if isinstance(name, str) else KINDS for name in named))
    if nullable:
        kinds |= {"null"}
    said: dict[str, Any] = {} if kinds == KINDS else {"type": kinds}
    return said | ({"tuple": True} if "tuple" in named else {})


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


def _name(schema: Mapping[str, Any]) -> str | None:
    for word in ("$id", "id"):
        if isinstance(schema.get(word), str):
            return str(schema[word])
    return None


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
