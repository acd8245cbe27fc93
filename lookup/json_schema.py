"""The JSON Schema form of tools, as BFCL, OpenAI, Anthropic and MCP print it.

``{"name", "description", "parameters": {"type", "properties", "required"}}``, with ``inputSchema`` or
``input_schema`` as other names of ``parameters``, bare or inside ``{"type": "function", "function": {...}}``.

Required is what the ``required`` list says; without a list what ``required`` or ``optional`` of the property
itself says; without either a key is optional, as in JSON Schema.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lookup.errors import DocumentationError, LiteralError
from lookup.forms import ObjectForm, read_description, read_name, shown
from lookup.literal_text import render_literal
from lookup.literals import parse_literal
from lookup.schema import ANY, MISSING, ParameterSpec, ToolSpec, ValueType
from lookup.type_names import NULL_NAMES, value_type

SCHEMA_KEYS: Final = ("parameters", "inputSchema", "input_schema")
_FLAGS: Final = {"true": True, "yes": True, "false": False, "no": False}
_MAX_REFERENCES: Final = 16
_MAX_NESTING: Final = 16


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool, rather than calling one or being something else."""
    key = next((key for key in SCHEMA_KEYS if key in data), None)
    if key is None:
        return False
    schema = data[key]
    if isinstance(schema, Mapping):
        if "properties" in schema or _is_object_type(schema.get("type")) or "$ref" in schema:
            return "name" in data or "description" in data
        return not schema and "name" in data
    if isinstance(schema, list | tuple):
        # [{"name": ...}, ...] documents parameters, whereas the list of a call's values does not.
        return "name" in data and any(isinstance(item, Mapping) and "name" in item for item in schema)
    return schema is None and "name" in data and "description" in data


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool; a missing schema means that the tool takes no parameters.

    Raises
    ------
    DocumentationError
        Naming tool and parameter: a name that is no text, ``properties`` or a property that is no object,
        ``required`` that is no list or names an unknown key, an ``enum`` that is no list or empty.
    """
    name = read_name(data)
    owner = f"tool {name!r}"
    description = read_description(data, owner)
    key = next((key for key in SCHEMA_KEYS if key in data), None)
    schema = data[key] if key else None
    if schema is None:
        return ToolSpec(name, description)
    if not isinstance(schema, Mapping):
        raise DocumentationError(
            f"{owner}: expected {key!r} to be an object with 'properties', found {shown(schema)}"
        )
    schema, root = resolve(schema, schema), schema
    properties = schema.get("properties")
    if properties is None:
        properties = {}
    if not isinstance(properties, Mapping):
        raise DocumentationError(
            f"{owner}: expected 'properties' to be an object of parameters, found {shown(properties)}"
        )
    required = _required_list(schema.get("required", data.get("required")), properties, owner)
    return ToolSpec(
        name,
        description,
        tuple(
            read_parameter(owner, key, spec, key in required if required is not None else None, root)
            for key, spec in properties.items()
        ),
    )


FORM: Final = ObjectForm(
    'JSON Schema objects {"name", "parameters" or "inputSchema" or "input_schema": {"properties"}}',
    claims,
    read_tool,
)


def read_parameter(
    owner: str,
    key: object,
    spec: object,
    required: bool | None,
    root: Mapping[str, Any],
    fallback: bool = False,
) -> ParameterSpec:
    """Read one property.

    Parameters
    ----------
    owner : str
        Names the tool in error messages.
    required : bool or None
        What the ``required`` list says; ``None`` without a list. Then the property's own flag counts, and
        without a flag ``fallback``.
    root : Mapping
        The schema that local references point into.
    """
    if not isinstance(key, str) or not key:
        raise DocumentationError(f"{owner}: expected a parameter's key to be a text, found {shown(key)}")
    owner = f"{owner}, parameter {key!r}"
    if spec is True:  # JSON Schema's schema that allows anything
        spec = {}
    if not isinstance(spec, Mapping):
        raise DocumentationError(f"{owner}: expected an object with 'type', found {shown(spec)}")
    kind, raw_type, spec = _read_type(spec, root, owner)
    if required is None:
        flag = _own_flag(spec, owner)
        required = fallback if flag is None else flag
    return ParameterSpec(
        name=key,
        type=kind,
        raw_type=raw_type,
        required=required,
        description=read_description(spec, owner),
        enum=_read_enum(spec, owner),
        default=_plain_value(spec["default"], "default", owner) if "default" in spec else MISSING,
    )


def resolve(spec: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow local references; what stands beside ``$ref`` wins. A cycle or foreign target gives ``{}``."""
    for _ in range(_MAX_REFERENCES):
        reference = spec.get("$ref")
        if not isinstance(reference, str):
            return spec
        beside = {key: value for key, value in spec.items() if key != "$ref"}
        spec = {**_target(reference, root), **beside}
    return {key: value for key, value in spec.items() if key != "$ref"}


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    node: Any = root
    if not reference.startswith("#/"):
        return {}
    for step in reference[2:].split("/"):
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def _read_type(
    spec: Mapping[str, Any], root: Mapping[str, Any], owner: str, nesting: int = 0
) -> tuple[ValueType, str, Mapping[str, Any]]:
    """The type, the type as written, and the property with references and its one branch merged in."""
    spec = resolve(spec, root)
    if nesting > _MAX_NESTING:
        return ANY, "", spec
    written = spec.get("type")
    if written is None:
        for union in ("anyOf", "oneOf", "allOf"):
            branches = spec.get(union)
            if isinstance(branches, list | tuple) and branches:
                return _read_union(spec, union, branches, root, owner, nesting)
        return ANY, "", spec
    if isinstance(written, str):
        raw_type, kind = written, value_type(written)
    elif isinstance(written, list | tuple) and all(isinstance(name, str) for name in written):
        raw_type = json.dumps(written, ensure_ascii=False)
        named = [name for name in written if name.lower() not in NULL_NAMES]
        kind = value_type(named[0]) if len(named) == 1 else ANY
    else:
        raise DocumentationError(f"{owner}: expected 'type' to be a text, found {shown(written)}")
    items = spec.get("items")
    if kind.kind in ("list", "tuple") and isinstance(items, Mapping):
        element, _, branch = _read_type(items, root, owner, nesting + 1)
        element = replace(element, enum=_read_enum(branch, owner))
        kind = ValueType(kind.kind, None if element == ANY else element)
    return kind, raw_type, spec


def _read_union(
    spec: Mapping[str, Any],
    union: str,
    branches: list[Any] | tuple[Any, ...],
    root: Mapping[str, Any],
    owner: str,
    nesting: int,
) -> tuple[ValueType, str, Mapping[str, Any]]:
    """One branch beside null gives its type and enum; several give ``any``."""
    raw_type = json.dumps(branches, ensure_ascii=False, skipkeys=True, default=repr)
    named = [branch for branch in branches if isinstance(branch, Mapping) and not _is_null(branch)]
    if len(named) != 1:
        return ANY, raw_type, spec
    kind, _, branch = _read_type(named[0], root, owner, nesting + 1)
    return kind, raw_type, {**branch, **spec}


def _is_null(branch: Mapping[str, Any]) -> bool:
    written = branch.get("type")
    return isinstance(written, str) and written.lower() in NULL_NAMES


def _is_object_type(written: object) -> bool:
    return isinstance(written, str) and value_type(written).kind == "dict"


def _read_enum(spec: Mapping[str, Any], owner: str) -> tuple[Any, ...] | None:
    enum = spec.get("enum")
    if enum is None:
        return (_plain_value(spec["const"], "const", owner),) if "const" in spec else None
    if not isinstance(enum, list | tuple) or not enum:
        raise DocumentationError(f"{owner}: expected 'enum' to be a list with members, found {shown(enum)}")
    return tuple(_plain_value(member, "enum", owner) for member in enum)


def _plain_value(value: Any, what: str, owner: str) -> Any:
    """The value itself, if a literal can write it: no set, NaN, infinity, endless number or nesting, half character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
        parse_literal(render_literal(value))
    except (LiteralError, TypeError, ValueError, RecursionError):
        raise DocumentationError(
            f"{owner}: expected {what!r} to hold values that a call can carry, found {shown(value)}"
        ) from None
    return value


def _required_list(required: object, properties: Mapping[str, Any], owner: str) -> frozenset[str] | None:
    """The required keys, ``None`` without a list."""
    if required is None:
        return None
    if not isinstance(required, list | tuple):
        raise DocumentationError(
            f"{owner}: expected 'required' to be a list of keys, found {shown(required)}"
        )
    for key in required:
        if not isinstance(key, str):
            raise DocumentationError(f"{owner}: expected 'required' to hold keys, found {shown(key)}")
        if key not in properties:
            raise DocumentationError(
                f"{owner}: 'required' names {key!r}, which is not in 'properties'; "
                f"expected one of {', '.join(map(repr, properties)) or 'nothing'}"
            )
    return frozenset(required)


def _own_flag(spec: Mapping[str, Any], owner: str) -> bool | None:
    """What the property's own ``required`` or ``optional`` says, ``None`` if it has neither."""
    for word, meaning in (("required", True), ("optional", False)):
        flag = spec.get(word)
        if isinstance(flag, str) and flag.lower() in _FLAGS:
            flag = _FLAGS[flag.lower()]
        if isinstance(flag, bool):
            return flag is meaning
        # A list is the required list of a nested object and says nothing of this property.
        if flag is not None and not isinstance(flag, list | tuple):
            raise DocumentationError(f"{owner}: expected {word!r} to be true or false, found {shown(flag)}")
    return None
