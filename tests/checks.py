"""An independent reader of decoded calls: Python's own parser, and types straight from the documentation."""

import ast
from collections.abc import Mapping
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "str": (str,),
    "integer": (int,),
    "int": (int,),
    "float": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "bool": (bool,),
    "array": (list,),
    "list": (list,),
    "list(str)": (list,),
    "dict": (dict,),
    "object": (dict,),
    "tuple": (tuple,),
    "any": (object,),
}


def read_calls(text: str) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Names and (key, value) pairs of ``[Name(key=value), …]``; names and keys are identifiers or dotted."""
    body = ast.parse(text, mode="eval").body
    assert isinstance(body, ast.List), text
    calls = []
    for node in body.elts:
        assert isinstance(node, ast.Call) and not node.args, text
        pairs = [(str(k.arg), ast.literal_eval(k.value)) for k in node.keywords]
        calls.append((ast.unparse(node.func), pairs))
    return calls


def wrong_in_call(name: str, pairs: list[tuple[str, Any]], tools: Mapping[str, dict[str, Any]]) -> str | None:
    """What breaks law 1: unknown name or key, a missing or repeated key. ``tools``: name -> JSON Schema object."""
    if name not in tools:
        return f"unknown tool {name}"
    schema = tools[name]
    keys = [k for k, _ in pairs]
    if len(keys) != len(set(keys)):
        return f"repeated key in {keys}"
    if set(keys) - set(schema["properties"]):
        return f"unknown key in {keys}"
    if set(schema["required"]) - set(keys):
        return f"missing key: {keys}"
    return None


def wrong_in_value(value: Any, schema: dict[str, Any]) -> str | None:
    """What breaks the typed part of law 1: not of the documented type, no member of the enum, no key of the object.

    The documented default is right whatever its type.
    """
    if "default" in schema and repr(value) == repr(schema["default"]):
        return None
    kind = schema.get("type", "any")
    enum = schema.get("enum")
    if enum:
        members = {repr(m) for m in enum}
        if isinstance(value, list) and kind in ("array", "list"):
            ok = all(repr(v) in members for v in value)
        else:
            ok = repr(value) in members
        return None if ok else f"{value!r} is not among {enum}"
    allowed = TYPES.get(kind, (object,))
    if not isinstance(value, allowed) or (isinstance(value, bool) and allowed in ((int,), (int, float))):
        return f"{value!r} is no {kind}"
    items = schema.get("items")
    if kind in ("array", "tuple") and isinstance(items, dict) and "type" in items:
        return next((w for v in value if (w := wrong_in_value(v, items))), None)
    properties = schema.get("properties")
    if isinstance(value, dict) and properties:
        if set(value) - set(properties) or set(required_keys(schema)) - set(value):
            return f"{value!r} has not the keys {list(properties)}"
        return next((w for k, v in value.items() if (w := wrong_in_value(v, properties[k]))), None)
    return None


def required_keys(schema: dict[str, Any]) -> list[str]:
    """The required keys of a nested object: what its properties say of themselves, else its list."""
    listed = schema["required"] if isinstance(schema.get("required"), list) else []
    keys = []
    for key, spec in schema["properties"].items():
        flags = [(spec.get("required"), True), (spec.get("optional"), False)]
        own = [
            (str(flag).lower() in ("true", "yes")) is meaning for flag, meaning in flags if isinstance(flag, bool | str)
        ]
        if own[0] if own else key in listed:
            keys.append(key)
    return keys
