"""One document of schemas: what a reference in it names, and its schemas in the words of JSON Schema 2020-12.

A word with a value of the wrong type says nothing. The words of older drafts and of OpenAPI are put into newer ones.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote, urljoin

from lookup.schema.given_values import GivenValues
from lookup.schema.schema import EVERYTHING, NOTHING, Made, Resource, Schema, Words, Written
from lookup.schema.words import is_number, is_schema, names

_MAX_WALKED: Final = 200_000
_MAX_COUNT: Final = 10**100
_ALONE: Final = ("draft-03", "draft-04", "draft-06", "draft-07")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("pattern", "format"), "text"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys((f"m{end}{what}" for end in ("in", "ax") for what in ("Length", "Items", "Properties")), "count"),
    **dict.fromkeys(("minContains", "maxContains"), "count"),
    **dict.fromkeys(("items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else"), "schema"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), "schema"),
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), "schemas"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependencies"), "keys"),
}
"""Word -> of which form its value is."""

_KEYED: Final = frozenset({"properties", "required", "dependentRequired", "dependentSchemas", "dependencies"})
"""Words of an object's keys that are read together."""

_PLAIN: Final = frozenset({"type", "title", "description", "default", "example", "examples", "deprecated"})
"""All words of a schema that says no more than a type."""


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
    def references_stand_alone(self) -> bool:
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
            self._schemas[place] = Schema(self, written, resource)
        return self._schemas[place]

    def named(self, reference: str) -> Any:
        """What a reference in the root names, as it is written; ``None`` if the document has none."""
        found = self._find(reference, self._whole)
        return None if found is None else found[0]

    def words(self, written: Mapping[str, Any], resource: Resource) -> Words:
        """The words of a schema."""
        found: dict[Any, Any] = {}
        notes: list[str] = []
        word = next((word for word in _REFERENCES if isinstance(written.get(word), str)), None)
        if word is not None:
            target = self._target(written[word], resource)
            notes += [] if target else [f"the reference {written[word]!r}, which leads nowhere"]
            notes += [] if word == "$ref" else [word]
            found |= {} if target is None else {"$ref": target}
        if word is None or not self.references_stand_alone:
            found |= self._read(written, resource)
            found |= GivenValues(written, self.documentation).words(found, notes, self.schema)
        found[Made.NOTES] = tuple(notes) or None
        return {word: value for word, value in found.items() if value is not None}

    def _read(self, written: Mapping[str, Any], resource: Resource) -> dict[Any, Any]:
        """All words but those of types and given values."""
        found: dict[Any, Any] = {}
        for word, value in written.items():
            form = _WORDS.get(word) if isinstance(word, str) else None
            read = None if form is None else self._value(form, value, resource)
            if read is not None:
                found[word] = read
        if written.get("uniqueItems") is True:
            found["uniqueItems"] = True
        if isinstance(first := written.get("items"), list | tuple):
            found.setdefault("prefixItems", self._value("schemas", first, resource))
            found["items"] = found.get("additionalItems")
        if not _KEYED.isdisjoint(written):
            found |= self._keys(written, found)
        for end, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if written.get(end) is True and inclusive in found:
                found[end] = found.pop(inclusive)
        if "if" not in found:
            found |= {"then": None, "else": None}
        return found | {"additionalItems": None, "dependencies": None}

    def _value(self, form: str, value: Any, resource: Resource) -> Any:
        """The value of a word; ``None`` if it is not of the form."""
        match form:
            case "text":
                return value if isinstance(value, str) else None
            case "number":
                return value if is_number(value) else None
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

    def _own_resource(self, written: Mapping[str, Any], outer: Resource) -> Resource:
        name = _name(written)
        if name is None or name.startswith("#") or written is outer.written:
            return outer
        url = _joined(_name(self.root) or "", name)
        known = self._names.get(url.partition("#")[0])
        return known if known is not None and known.written is written else Resource(url, written)

    def _target(self, reference: str, resource: Resource) -> Schema | None:
        """The schema that a reference inside a resource names."""
        found = self._find(reference, resource)
        return None if found is None else self.schema(*found)

    def _find(self, reference: str, resource: Resource) -> tuple[Any, Resource] | None:
        """What a reference names, as it is written, and the resource that it stands in."""
        name, _, fragment = reference.partition("#")
        places = [resource, self._whole] if not name else [self._named(name, resource)]
        for place in places:
            found = None if place is None else self._inside(place, fragment)
            if place is not None and is_schema(found):
                return found, place
        return None

    def _inside(self, place: Resource, fragment: str) -> Any:
        """What a fragment names: a pointer or an anchor."""
        if not fragment:
            return place.written
        return pointed(place.written, fragment) if fragment.startswith("/") else self._anchors.get(fragment)

    def _named(self, name: str, resource: Resource) -> Resource | None:
        base = _name(self.root) or ""
        for url in (_joined(resource.url, name), _joined(base, name), name):
            if url in self._names:
                return self._names[url]
        return None

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
            for word in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := schema.get(word), str):
                    found.setdefault(name, schema)
            name = _name(schema)
            if isinstance(name, str) and name.startswith("#"):
                found.setdefault(name[1:], schema)
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
