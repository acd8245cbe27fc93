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
    """What breaks the typed part of law 1: not of the documented type, or no member of the enum."""
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
        return next((w for v in value if (w := wrong_in_value(v, {"type": items["type"]}))), None)
    return None
