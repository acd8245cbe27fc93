"""One document of schemas: what a reference in it names, and which draft of JSON Schema it follows."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urljoin

Schema = Mapping[str, Any] | bool

_MAX_WALKED: Final = 200_000
_ALONE: Final = ("draft-03", "draft-04", "draft-06", "draft-07")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


class Part(NamedTuple):
    """A schema, and the resource of the document (the root, or a schema with its own ``$id``) that contains it."""

    schema: Schema
    resource: Mapping[str, Any]


class Document:
    """The schemas of one document.

    Parameters
    ----------
    root : Mapping
        The document that references without another name point into.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._targets: dict[tuple[str, int], Part | None] = {}

    @cached_property
    def references_stand_alone(self) -> bool:
        """Whether the words next to ``$ref`` are ignored, as up to draft 7, if the document names its draft."""
        draft = self.root.get("$schema")
        return isinstance(draft, str) and any(name in draft for name in _ALONE)

    def part(self, schema: Schema, resource: Mapping[str, Any]) -> Part:
        """A schema inside a resource; it may be a resource of its own."""
        if isinstance(schema, dict) and isinstance(name := _name(schema), str) and not name.startswith("#"):
            return Part(schema, schema)
        return Part(schema, resource)

    def target(self, reference: str, resource: Mapping[str, Any]) -> Part | None:
        """The schema that a reference inside ``resource`` names; ``None`` if the document has none."""
        key = reference, id(resource)
        if key not in self._targets:
            self._targets[key] = self._find(reference, resource)
        return self._targets[key]

    def _find(self, reference: str, resource: Mapping[str, Any]) -> Part | None:
        name, _, fragment = reference.partition("#")
        places = [resource, self.root] if not name else [self._named(name, resource)]
        for place in places:
            found = None if place is None else self._inside(place, fragment)
            if place is not None and isinstance(found, dict | bool):
                return self.part(found, place)
        return None

    def _inside(self, place: Mapping[str, Any], fragment: str) -> Any:
        if not fragment:
            return place
        if fragment.startswith("/"):
            return pointed(place, fragment)
        return self._anchors.get(fragment)

    def _named(self, name: str, resource: Mapping[str, Any]) -> Mapping[str, Any] | None:
        base = _name(self.root) or ""
        inner = _joined(base, _name(resource) or "")
        for url in (_joined(inner, name), _joined(base, name), name):
            if url in self._names:
                return self._names[url]
        return None

    @cached_property
    def _names(self) -> dict[str, Mapping[str, Any]]:
        """The address of each schema with an ``$id``."""
        base = _name(self.root) or ""
        found: dict[str, Mapping[str, Any]] = {}
        for schema in self._objects():
            if isinstance(name := _name(schema), str):
                found.setdefault(_joined(base, name).partition("#")[0], schema)
        return found

    @cached_property
    def _anchors(self) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for schema in self._objects():
            for word in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := schema.get(word), str):
                    found.setdefault(name, schema)
            name = _name(schema)
            if isinstance(name, str) and name.startswith("#"):
                found.setdefault(name[1:], schema)
        return found

    def _objects(self) -> Iterator[Mapping[str, Any]]:
        """All objects of the document, a bounded number."""
        waiting: list[Any] = [self.root]
        seen: set[int] = set()
        while waiting and len(seen) < _MAX_WALKED:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, dict):
                yield node
            inside = node.values() if isinstance(node, dict) else node
            waiting += [member for member in inside if isinstance(member, dict | list | tuple)]


def reference_in(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """The word and the text of a schema's reference."""
    for word in _REFERENCES:
        if isinstance(schema.get(word), str):
            return word, schema[word]
    return None


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
