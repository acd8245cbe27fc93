"""The oracle for OpenAPI documents. Each operation is a tool."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from parity.facts import Key, Tool
from parity.oracle import inner_keys, keys, own_flag

Json = Mapping[str, Any]
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
_METHODS = ("get", "put", "post", "delete", "patch", "options", "head", "trace")


def operations(document: Json) -> Iterator[tuple[str, str, Json, Json]]:
    """Method, path and operation, and the item of the path."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in _METHODS:
                yield method, path, operation, item


def openapi_tools(document: Json) -> list[Tool]:
    """Every operation under its ``operationId``, with the parameters of its path and the keys of its body."""
    return [
        operation_tool(document, operation.get("operationId") or f"{method.upper()} {path}", path, operation, item)
        for method, path, operation, item in operations(document)
    ]


def operation_tool(document: Json, name: str, path: str, operation: Json, item: Json) -> Tool:
    """One operation. An undescribed variable of the path is a required key before all others."""
    own = [_resolved(document, p) for p in operation.get("parameters", [])]
    places = [(p["name"], p["in"]) for p in own]
    shared = [p for p in (_resolved(document, p) for p in item.get("parameters", [])) if _place(p) not in places]
    found: dict[str, Key] = {}
    variables = re.findall(r"\{([^{}/]+)\}", path)
    declared = {p["name"] for p in shared + own}
    for variable in variables:
        if variable not in declared:
            found[variable] = Key(variable, True, "", "str")
    for parameter in shared + own:
        if parameter["in"] == "header" and parameter["name"].lower() in _IGNORED_HEADERS:
            continue
        schema = _resolved(document, parameter["schema"])
        description = parameter.get("description") or schema.get("description") or ""
        required = parameter["name"] in variables or parameter["in"] == "path" or own_flag(parameter)
        listed = None if required is None else [parameter["name"]] if required else []
        for key in keys({parameter["name"]: {**schema, "description": description}}, listed, False):
            found.setdefault(key.path, key)
    for key in _body_keys(document, operation):
        if key.path in found:
            key = replace(found[key.path], required=found[key.path].required or key.required)
        found[key.path] = key
    description = operation.get("description") or operation.get("summary") or ""
    return Tool(name, description, tuple(found.values()))


def _place(parameter: Json) -> tuple[str, str]:
    return parameter["name"], parameter["in"]


def _body_keys(document: Json, operation: Json) -> Iterator[Key]:
    """The keys of a JSON body. A body that is not an object is one key, ``body``."""
    body = _resolved(document, operation.get("requestBody", {}))
    schemas = {media: content["schema"] for media, content in body.get("content", {}).items() if "schema" in content}
    if not schemas:
        return
    schema = expanded(document, schemas.get("application/json", next(iter(schemas.values()))))
    if schema.get("properties"):
        for key in inner_keys(schema, "", False):
            yield replace(key, path=key.path.removeprefix("."))
    elif schema.get("type") != "object":
        spec = {**schema, "description": body.get("description", "")}
        yield from keys({"body": spec}, ["body"] if own_flag(body) else [], False)


def _resolved(document: Json, node: Json) -> Json:
    if "$ref" not in node:
        return node
    found: Any = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return _resolved(document, found)


def expanded(document: Json, node: Any) -> Any:
    """The node with all references resolved."""
    if isinstance(node, list):
        return [expanded(document, member) for member in node]
    if not isinstance(node, Mapping):
        return node
    return {key: expanded(document, member) for key, member in _resolved(document, node).items()}
