"""The oracle for parsed data: JSON Schema, Seal-Tools, RapidAPI, API-Bank.

Independent of ``lookup``. Whether a key is required is decided by the property itself, then by a list of required keys,
a marker in the description, a default, and the convention of the form.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from parity.facts import ABSENT, Key, Tool, container, kind_of_name

_LEADING = re.compile(r"\s*(?:(optional|required)\s*(?:[.:,;!]|-\s|$)|(optional)\s)", re.IGNORECASE)
_BRACKETED = re.compile(r"[\[(]\s*(optional|required)\s*[\])]", re.IGNORECASE)


def requiredness(
    flag: bool | None, listed: bool | None, description: str, has_default: bool, habit: bool | None
) -> bool | None:
    """Whether a key is required; ``None`` if the documentation does not say."""
    if flag is not None:
        return flag
    if listed is not None:
        return listed
    if marker := _LEADING.match(description) or _BRACKETED.search(description):
        return "required" in marker[0].lower()
    return False if has_default else habit


def own_flag(spec: Mapping[str, Any]) -> bool | None:
    """The property's own ``required`` or ``optional``, as a boolean or in words."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    for key, meaning in (("required", True), ("optional", False)):
        said = spec.get(key)
        said = words.get(said.lower()) if isinstance(said, str) else said
        if isinstance(said, bool):
            return said == meaning
    return None


def kind_of(spec: Mapping[str, Any]) -> str:
    """The kind of a property with the kind of its elements."""
    kind = kind_of_name(spec.get("type") or "")
    if kind in ("list", "tuple") and isinstance(spec.get("items"), Mapping):
        return container(kind, kind_of(spec["items"]))
    return kind


def element_enum(spec: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The enum of the elements of a list."""
    items = spec.get("items")
    if not isinstance(items, Mapping):
        return None
    return tuple(items["enum"]) if "enum" in items else element_enum(items)


def keys(
    properties: Mapping[str, Any], required: list[str] | None, habit: bool | None, prefix: str = ""
) -> Iterator[Key]:
    """The keys of an object, each followed by the keys inside it."""
    for name, spec in properties.items():
        description = spec.get("description") or ""
        listed = None if required is None else name in required
        yield Key(
            prefix + name,
            requiredness(own_flag(spec), listed, description, "default" in spec, habit),
            spec.get("type", ""),
            kind_of(spec),
            tuple(spec["enum"]) if "enum" in spec else None,
            element_enum(spec),
            spec.get("default", ABSENT),
            description,
        )
        yield from inner_keys(spec, prefix + name, habit)


def inner_keys(spec: Mapping[str, Any], path: str, habit: bool | None) -> Iterator[Key]:
    """The keys inside a property, or inside its elements."""
    if "properties" in spec:
        required = spec.get("required")
        listed = required if isinstance(required, list) else None
        yield from keys(spec["properties"], listed, habit, f"{path}.")
    elif isinstance(spec.get("items"), Mapping):
        yield from inner_keys(spec["items"], f"{path}[]", habit)


def schema_tool(function: Mapping[str, Any], habit: bool | None = False) -> Tool:
    """A tool whose parameters are a JSON Schema, under any of its names."""
    schema = next(
        function[key] for key in ("parameters", "inputSchema", "input_schema", "arguments") if key in function
    )
    return Tool(
        function["name"],
        function.get("description") or "",
        tuple(keys(schema.get("properties", {}), schema.get("required"), habit)),
    )


def seal_tool(document: Mapping[str, Any]) -> Tool:
    """Seal-Tools: an object of keys next to a list of required keys."""
    found = keys(document["parameters"], document.get("required"), None)
    return Tool(document["api_name"], document["api_description"], tuple(found))


def rapid_tool(document: Mapping[str, Any]) -> Tool:
    """RapidAPI: two lists of keys. An empty default is ignored."""
    lists = [
        (required, [{k: v for k, v in spec.items() if k != "default" or v != ""} for spec in document[word]])
        for word, required in (("required_parameters", True), ("optional_parameters", False))
    ]
    return Tool(document["api_name"], document["api_description"] or "", _listed_keys(lists))


def _listed_keys(lists: list[tuple[bool | None, list[Any]]]) -> tuple[Key, ...]:
    """The keys of lists that are required or not. The first of two keys with the same name counts."""
    found: dict[str, Key] = {}
    for required, specs in lists:
        for spec in specs:
            listed = {True: [spec["name"]], False: [], None: None}[required]
            for key in keys({spec["name"]: spec}, listed, None):
                found.setdefault(key.path, key)
    return tuple(found.values())


def api_bank_tool(document: Mapping[str, Any]) -> Tool:
    """API-Bank: every documented key is required unless its description says ``[Optional]``."""
    parameters = document["input_parameters"]
    found = keys(parameters, None, True) if isinstance(parameters, Mapping) else ()
    return Tool(document["name"], document["description"], tuple(found))


def renamed(tools: list[tuple[Tool, str]]) -> list[Tool]:
    """Tools with unique names, from tools with their collections. The first tool of a name keeps it.

    A later one is ``name_for_collection``, or just the name without a collection. If that is taken, the first free
    number from 2 on is appended. No documented name is given to another tool.
    """
    taken = {tool.name for tool, _ in tools}
    seen: set[str] = set()
    distinct = []
    for tool, collection in tools:
        name = tool.name
        if name in seen:
            base = name = f"{name}_for_{collection}" if collection else name
            number = 2
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
        seen.add(tool.name)
        distinct.append(Tool(name, tool.description, tool.keys))
    return distinct
