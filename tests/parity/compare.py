"""The tools that ``lookup.extract`` reads, in the shape of the oracle's."""

from collections.abc import Iterator
from typing import Any

from lookup import MISSING, DocumentationError, ParameterSpec, ToolSpec, ValueType, extract
from parity.facts import ABSENT, Case, Key, Tool


def differences(case: Case) -> list[str]:
    """What differs between the tools of a case and those that are read, also in their sequence; equal values of
    different types differ."""
    try:
        found = list(extract(case.source, origin=case.origin, on_duplicate=case.on_duplicate).tools)
    except DocumentationError as error:
        return [f"{case.id}: {error}"]
    names = [tool.name for tool in case.expected]
    if names != [tool.name for tool in found]:
        return [f"{case.id}: expected {names}, found {[tool.name for tool in found]}"]
    pairs = [(expected, flat(tool)) for expected, tool in zip(case.expected, found, strict=True)]
    return [f"{case.id}:\nexpected {a}\nfound    {b}" for a, b in pairs if repr(a) != repr(b)]


def flat(tool: ToolSpec) -> Tool:
    """An extracted tool in the shape of the oracle's."""
    return Tool(tool.name, tool.description, tuple(_flat_keys(tool.parameters)))


def _flat_keys(parameters: tuple[ParameterSpec, ...], prefix: str = "") -> Iterator[Key]:
    for spec in parameters:
        yield Key(
            path=prefix + spec.name,
            required=spec.required,
            raw_type=spec.raw_type,
            kind=_kind(spec.type),
            enum=spec.enum,
            element_enum=_element_enum(spec.type),
            default=ABSENT if spec.default is MISSING else spec.default,
            description=spec.description,
        )
        yield from _inner_keys(spec.type, prefix + spec.name)


def _inner_keys(kind: ValueType, path: str) -> Iterator[Key]:
    if kind.properties:
        yield from _flat_keys(kind.properties, f"{path}.")
    elif kind.items:
        yield from _inner_keys(kind.items, f"{path}[]")


def _kind(kind: ValueType) -> str:
    name = " | ".join(map(_kind, kind.any_of)) or kind.kind
    if kind.items:
        name = f"{name}[{_kind(kind.items)}]"
    return f"{name}?" if kind.nullable else name


def _element_enum(kind: ValueType) -> tuple[Any, ...] | None:
    return None if kind.items is None else kind.items.enum or _element_enum(kind.items)
