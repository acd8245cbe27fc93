"""Tools whose parameters are in lists, one object with a ``name`` for each.

RapidAPI and ToolBench: ``{"tool_name", "api_name", "required_parameters": [{"name", "type", "description", "default"}],
"optional_parameters": [...]}``. Gorilla: ``{"name": title, "api_name", "parameters": [{"name", "description"}]}``, or
with ``parameters`` as ``{"required": [...], "optional": [...]}``.

The list of a key says whether it is required. In a plain list, the key itself may say it; otherwise it is unknown.
RapidAPI's ``default`` is an example shown on its page; an empty one is ignored.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.errors import DocumentationError
from lookup.forms.form import ObjectForm, has_name, one_tool, read_name
from lookup.messages import quoted, shown
from lookup.parameters.plain_values import read_description
from lookup.parameters.property_reader import PropertyReader

_RAPID_LISTS: Final = {"required_parameters": True, "optional_parameters": False}
_NESTED_LISTS: Final = {"required": True, "optional": False}


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool with lists of parameters."""
    if not has_name(data) or data.get("inputSchema") or data.get("input_schema"):
        return False
    if any(isinstance(data.get(key), list | tuple) for key in _RAPID_LISTS):
        return True
    keys = data.get("parameters")
    if isinstance(keys, Mapping):
        lists = [keys[key] for key in _NESTED_LISTS if key in keys]
        if not keys or len(lists) < len(keys):
            return False
    else:
        lists = [keys]
    # The list of values in a call contains no names.
    documented = "description" in data or "api_description" in data
    empty = all(isinstance(entries, list | tuple) and not entries for entries in lists)
    return any(map(_names_keys, lists)) or (documented and empty)


def _names_keys(entries: object) -> bool:
    return isinstance(entries, list | tuple) and any(isinstance(e, Mapping) and "name" in e for e in entries)


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool.

    Raises
    ------
    DocumentationError
        Naming tool and parameter: a list or an entry of the wrong kind, an entry without a name.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    reader = PropertyReader(owner, {}, habit=None)
    parameters: dict[str, ParameterSpec] = {}
    for word, listed, entry in _entries(data, owner):
        if not isinstance(entry, Mapping) or "name" not in entry:
            raise DocumentationError(f"{owner}: expected {word!r} to hold objects with a 'name', found {shown(entry)}")
        schema = entry.get("schema")
        spec = {**(schema if isinstance(schema, Mapping) else {}), **entry}
        del spec["name"]
        if spec.get("default") == "" and word in _RAPID_LISTS:
            del spec["default"]
        parameter = reader.parameter(entry["name"], spec, listed)
        if parameter.name in parameters:
            reader.notes.append(
                f"{owner}, parameter {quoted(parameter.name)}: documented twice; the first one is taken"
            )
        parameters.setdefault(parameter.name, parameter)
    collection = data.get("tool_name")
    return ToolSpec(
        name,
        read_description(data, owner),
        tuple(parameters.values()),
        collection=collection if isinstance(collection, str) else "",
        notes=tuple(reader.notes),
    )


def _entries(data: Mapping[str, Any], owner: str) -> Iterator[tuple[str, bool | None, Any]]:
    """Each entry with the name of its list, and whether that list makes it required."""
    keys = data.get("parameters")
    lists: list[tuple[str, bool | None, Any]]
    if any(word in data for word in _RAPID_LISTS):
        lists = [(word, listed, data.get(word)) for word, listed in _RAPID_LISTS.items()]
    elif isinstance(keys, Mapping):
        lists = [(word, listed, keys.get(word)) for word, listed in _NESTED_LISTS.items()]
    else:
        required = data.get("required")
        if isinstance(required, list | tuple):
            for entry in keys or ():
                yield "parameters", isinstance(entry, Mapping) and entry.get("name") in required, entry
            return
        lists = [("parameters", None, keys)]
    for word, listed, entries in lists:
        if entries is not None and not isinstance(entries, list | tuple):
            raise DocumentationError(f"{owner}: expected {word!r} to be a list of parameters, found {shown(entries)}")
        for entry in entries or ():
            yield word, listed, entry


FORM: Final = ObjectForm(
    'lists of keys {"api_name", "required_parameters": [{"name"}], "optional_parameters"} (RapidAPI, Gorilla)',
    claims,
    one_tool(read_tool),
)
