"""OpenAPI 3 and Swagger 2 documents: every operation is a tool.

``{"openapi": "3.0.0", "paths": {"/albums/{id}": {"get": {"operationId", "parameters": [...], "requestBody"}}}}``

A call has one flat set of keys: the parameters in path, query, headers and cookies, and the keys of the request body.
The required keys of the body are required even if the body is optional. A parameter is optional by default. Responses
are ignored.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from lookup.dictionary import ParameterSpec, ToolSpec, ValueType
from lookup.documents.forms.form import ObjectForm
from lookup.documents.parameters.plain_values import demand_object, read_description
from lookup.documents.parameters.property_reader import PropertyReader
from lookup.documents.parameters.requiredness import is_required, own_flag
from lookup.documents.parameters.tool_schemas import Schemas
from lookup.errors import DocumentationError, quoted, shown
from lookup.schema.document import Document
from lookup.schema.value_schema import Conditions

METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "options", "head", "trace"})
VERSION_KEYS: Final = ("openapi", "swagger")

_VARIABLE = re.compile(r"\{([^{}/]+)\}")
# OpenAPI ignores header parameters with these names: other parts of an operation describe them.
_RESERVED_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
# In Swagger 2 a parameter is its own schema. These keys do not belong to the schema.
_NO_SCHEMA: Final = frozenset({"name", "in", "required"})


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object is an OpenAPI document, or at least has ``paths`` with operations."""
    paths = data.get("paths")
    if any(isinstance(data.get(word), str | int | float) for word in VERSION_KEYS):
        return "paths" in data
    return isinstance(paths, Mapping) and any(
        isinstance(path, str)
        and path.startswith("/")
        and isinstance(item, Mapping)
        and any(_is_method(key) and isinstance(operation, Mapping) for key, operation in item.items())
        for path, item in paths.items()
    )


def read(data: Mapping[str, Any]) -> Iterator[tuple[ToolSpec, Mapping[str, Any]]]:
    """Each operation as a tool, in document order, with the object that documents it.

    The name is the ``operationId``, verbatim; without one it is method and path: ``GET /albums/{id}``.

    DocumentationError, naming operation and parameter: ``paths``, a path, an operation, a body or a parameter is not an
    object, ``parameters`` is not a list, a parameter has no name, or as for ``PropertyReader``.
    """
    paths = data["paths"]
    if not isinstance(paths, Mapping):
        raise DocumentationError(f"expected 'paths' to be an object of paths, found {shown(paths)}")
    document = Document(data, documentation=True, requires=partial(is_required, False), asks=True)
    for path, item in paths.items():
        if not isinstance(path, str) or path.startswith("x-"):
            continue
        schemas = Schemas(f"path {path!r}", document)
        item = schemas.held(demand_object(item, f"path {path!r}", "an object of operations")).keywords
        for method, operation in item.items():
            if _is_method(method):
                operation = demand_object(operation, f"operation '{method.upper()} {path}'", "an object")
                yield _Operation(document, path, item, method, operation).tool(schemas.notes), operation


class _Operation:
    """Collects the keys of one operation."""

    def __init__(
        self, document: Document, path: str, item: Mapping[str, Any], method: str, operation: Mapping[str, Any]
    ) -> None:
        title = f"{method.upper()} {path}"
        name = operation.get("operationId")
        if name is not None and not isinstance(name, str):
            raise DocumentationError(f"operation {title!r}: expected 'operationId' to be a text, found {shown(name)}")
        self._name = name if name and name.strip() else title
        self._owner = f"tool {quoted(self._name)}"
        self._variables = dict.fromkeys(_VARIABLE.findall(path))
        self._item = item
        self._operation = operation
        self._reader = PropertyReader(self._owner, document, convention=False, skip_read_only=True)
        self._notes = self._reader.notes
        self._keys: dict[str, tuple[ParameterSpec, str]] = {}  # with the place of each
        self._conditions: Conditions | None = None  # of the body

    def tool(self, notes: list[str]) -> ToolSpec:
        """The tool. ``notes`` are those of the operation's path."""
        declared = self._declared()
        names = {parameter["name"] for parameter in declared}
        for name in self._variables:
            if name not in names:
                self._add(ParameterSpec(name, ValueType("str"), "", True, rule="path variable"), "path")
        for parameter in declared:
            if parameter.get("in") != "body":
                self._parameter(parameter)
        for parameter in declared:
            if parameter.get("in") == "body":
                self._body(parameter, parameter.get("schema"))
        if (written := self._operation.get("requestBody")) is not None:
            request = self._resolved(written, "'requestBody'")
            self._body(request, self._content_schema(request))
        description = read_description(self._operation, self._owner)
        summary = self._operation.get("summary")
        if not description.strip() and isinstance(summary, str):
            description = summary
        keys = tuple(spec for spec, _ in self._keys.values())
        found = tuple(dict.fromkeys([*notes, *self._notes]))
        return ToolSpec(self._name, description, keys, notes=found, conditions=self._conditions)

    def _declared(self) -> list[Mapping[str, Any]]:
        """The parameters with references followed: those of the path unless overridden, then the operation's own."""
        own = list(self._listed(self._operation))
        overriding = {(parameter["name"], parameter.get("in")) for parameter in own}
        shared = self._item.get("parameters")
        if isinstance(shared, list | tuple) and not self._reader.may_read(len(shared)):
            return own
        above = [p for p in self._listed(self._item) if (p["name"], p.get("in")) not in overriding]
        return above + own

    def _listed(self, holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        listed = holder.get("parameters")
        if listed is None:
            return
        if not isinstance(listed, list | tuple):
            raise DocumentationError(f"{self._owner}: expected 'parameters' to be a list, found {shown(listed)}")
        for written in listed:
            parameter = self._resolved(written, "a parameter")
            if "name" not in parameter and "$ref" in written:
                self._notes.append(f"{self._owner}: a parameter that is not in the document: {written['$ref']!r}")
                continue
            name, place = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not name:
                found = shown(name) if "name" in parameter else f"only the keys {', '.join(map(str, parameter))}"
                raise DocumentationError(f"{self._owner}: expected a parameter to have a 'name', found {found}")
            if place is not None and not isinstance(place, str):
                raise DocumentationError(f"{self._where(name)}: expected 'in' to be a text, found {shown(place)}")
            yield parameter

    def _where(self, name: str) -> str:
        return f"{self._owner}, parameter {quoted(name)}"

    def _resolved(self, written: object, what: str) -> Mapping[str, Any]:
        return self._reader.held(demand_object(written, self._owner, f"{what} to be an object")).keywords

    def _parameter(self, parameter: Mapping[str, Any]) -> None:
        name, place = parameter["name"], parameter.get("in", "query")
        where = self._where(name)
        if place == "header" and name.lower() in _RESERVED_HEADERS:
            self._notes.append(f"{where}: a header that OpenAPI leaves to the protocol: not taken over")
            return
        schema = parameter.get("schema")
        if schema is None and "content" in parameter:
            schema = self._content_schema(parameter)
        if schema is None:
            schema = {key: value for key, value in parameter.items() if key not in _NO_SCHEMA}
        spec = self._reader.parameter(name, _described(schema, parameter))
        if place == "path" or name in self._variables:
            spec = replace(spec, required=True, rule="path variable")
            if name not in self._variables:
                self._notes.append(f"{where}: a parameter of the path that does not stand in it")
        else:
            spec = _flagged(spec, parameter, where)
        self._add(spec, place)

    def _content_schema(self, holder: Mapping[str, Any]) -> object:
        """The schema of the JSON content, or of the first content that has one; ``None`` if there is none."""
        if holder.get("content") is None:
            return None
        schemas = {
            str(media): described["schema"]
            for media, described in demand_object(holder["content"], self._owner, "'content' to be an object").items()
            if isinstance(described, Mapping) and "schema" in described
        }
        if not schemas:
            return None
        chosen = min(schemas, key=lambda media: (not media.lower().startswith("application/json"), "json" not in media))
        for media, schema in schemas.items():
            if schema != schemas[chosen]:
                self._notes.append(f"{self._owner}: the keys are those of {chosen}, and not those of {media}")
        return schemas[chosen]

    def _body(self, body: Mapping[str, Any], schema: object) -> None:
        if schema is None:
            return
        written = demand_object({} if schema is True else schema, self._owner, "the body's 'schema' to be an object")
        keys = self._reader.parameters(written, strict=False)
        for spec in keys:
            self._add(spec, "body")
        conditions = self._reader.conditions
        if conditions is not None and conditions.unsatisfiable:
            words = ", ".join(conditions.keywords)
            self._notes.append(f"{self._owner}: no call can obey the conditions of the body, so not checked: {words}")
        else:
            self._conditions = conditions or self._conditions
        if keys:
            return
        spec = self._reader.parameter("body", _described(schema, body))
        if spec.type.kind == "dict":
            self._notes.append(f"{self._owner}: the keys of the request body are not documented")
        else:
            self._add(_flagged(spec, body, f"{self._owner}, request body"), "body")

    def _add(self, spec: ParameterSpec, place: str) -> None:
        """Add a key. The first one of a name wins; it is required if any of them is."""
        if spec.name not in self._keys:
            self._keys[spec.name] = spec, place
            return
        first, first_place = self._keys[spec.name]
        self._notes.append(
            f"{self._owner}, parameter {spec.name!r}: documented in the {first_place} and in the {place}; "
            "the first one is taken, required if one of them is"
        )
        if spec.required and not first.required:
            self._keys[spec.name] = replace(first, required=True, rule=spec.rule), first_place


def _flagged(spec: ParameterSpec, holder: Mapping[str, Any], where: str) -> ParameterSpec:
    """The key, required or not if its holder says so."""
    flag = own_flag(holder, where)
    return spec if flag is None else replace(spec, required=flag, rule="flag")


def _described(schema: object, holder: Mapping[str, Any]) -> object:
    """The schema with the description of its holder, if it has one."""
    if schema is True:
        schema = {}
    if isinstance(schema, Mapping) and holder.get("description"):
        return {**schema, "description": holder["description"]}
    return schema


def _is_method(key: object) -> bool:
    return isinstance(key, str) and key.lower() in METHODS


FORM: Final = ObjectForm(
    'OpenAPI 3 or Swagger 2 documents {"openapi" or "swagger", "paths": {path: {method: {...}}}}', claims, read
)
