"""BFCL functions as Python: source with Google docstrings, signature lines, live functions."""

import inspect
import keyword
from collections.abc import Mapping
from typing import Any, Literal, Optional

from parity.facts import kind_of_name

_TYPES = {t.__name__: t for t in (str, int, float, bool, list, dict, tuple)}
Spec = Mapping[str, Any]


def writable(function: Spec) -> bool:
    """Whether all keys are possible in a Python signature."""
    keys = function["parameters"]["properties"]
    return all(key.isidentifier() and not keyword.iskeyword(key) for key in keys)


def annotation(spec: Spec) -> str:
    """The type in Python. An enum becomes a literal type."""
    if _is_literal(spec):
        return f"Literal[{', '.join(map(repr, spec['enum']))}]"
    kind = kind_of_name(spec.get("type", ""))
    if kind == "list" and kind_of_name(spec.get("items", {}).get("type", "")) != "any":
        return f"list[{annotation(spec['items'])}]"
    return "Any" if kind == "any" else kind


def live_annotation(spec: Spec) -> Any:
    """The type itself."""
    if _is_literal(spec):
        return Literal[tuple(spec["enum"])]
    kind = kind_of_name(spec.get("type", ""))
    if kind == "list" and kind_of_name(spec.get("items", {}).get("type", "")) != "any":
        return list[live_annotation(spec["items"])]
    return _TYPES.get(kind, Any)


def _is_literal(spec: Spec) -> bool:
    scalar = kind_of_name(spec.get("type", "")) in ("str", "int", "bool")
    return scalar and "enum" in spec and all(isinstance(member, str | int | None) for member in spec["enum"])


def _is_optional(function: Spec, key: str) -> bool:
    """Whether a key without a default is optional. In Python, its default is ``None``."""
    schema = function["parameters"]
    return key not in schema["required"] and "default" not in schema["properties"][key]


def signature(function: Spec) -> str:
    """``(a: str, b: Literal[1, 2] = 1, *, c: int)``, with a star if a key without a default follows one with it."""
    written = []
    defaults = False
    for number, (key, spec) in enumerate(function["parameters"]["properties"].items()):
        kind = annotation(spec)
        if "default" in spec:
            default = f" = {spec['default']!r}"
        elif _is_optional(function, key):
            default = " = None"
            if kind != "Any":
                kind = f"Optional[{kind}]" if number % 2 or _is_literal(spec) else f"{kind} | None"
        else:
            default = ""
            if defaults and "*" not in written:
                written.insert(0, "*")
        defaults = defaults or bool(default)
        written.append(f"{key}: {kind}{default}")
    return f"({', '.join(written)})"


def python_source(function: Spec) -> str:
    """A function with a docstring in Google's style."""
    text = docstring(function, " " * 4).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'def {identifier(function)}{signature(function)} -> dict:\n    """{text}\n    """\n    ...\n'


def docstring(function: Spec, indent: str) -> str:
    """The text of the docstring. Every second key repeats its type."""
    lines = [function["description"].strip()]
    properties = function["parameters"]["properties"]
    if properties:
        lines += ["", f"{indent}Args:"]
    for number, (key, spec) in enumerate(properties.items()):
        head = key
        if number % 2 == 0:
            head = f"{key} ({annotation(spec)}{', optional' if _is_optional(function, key) else ''})"
        lines.append(f"{indent}    {head}: {spec.get('description', '')}")
    return "\n".join([*lines, "", f"{indent}Returns:", f"{indent}    dict: The result."])


def signature_line(function: Spec) -> str:
    """``add(a: int, b: int = 1) -> dict - Adds two.``"""
    return f"{function['name']}{signature(function)} -> dict - {function['description'].strip()}"


def identifier(function: Spec) -> str:
    """``uber.ride`` -> ``uber_ride``."""
    return function["name"].replace(".", "_")


def live(function: Spec) -> Any:
    """A function with this name, signature and docstring."""

    def tool(**arguments: Any) -> dict[str, Any]:
        return arguments

    parameters = []
    for number, (key, spec) in enumerate(function["parameters"]["properties"].items()):
        kind, default = live_annotation(spec), spec.get("default", inspect.Parameter.empty)
        if _is_optional(function, key):
            default = None
            if kind is not Any:
                kind = Optional[kind] if number % 2 else kind | None  # noqa: UP045
        parameters.append(
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind),
        )
    tool.__name__ = tool.__qualname__ = identifier(function)
    tool.__doc__ = docstring(function, " " * 4)
    tool.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    tool.__signature__ = inspect.Signature(parameters)
    return tool
