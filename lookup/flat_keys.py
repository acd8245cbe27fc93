"""Tools whose parameters are an object of keys, without a JSON Schema around it.

Seal-Tools' ``{"api_name", "api_description", "parameters": {key: {"type", "description"}}, "required": [...]}``, and
what other frameworks print in the same way: Cohere's ``parameter_definitions``, the ``inputs`` of smolagents, the
``args`` of LangChain. Required is what the list beside the keys or the key itself says; without either it is unknown.
"""

from collections.abc import Mapping
from typing import Any, Final

from lookup.forms import ObjectForm, one_tool, quoted, read_description, read_name
from lookup.property_reader import PropertyReader
from lookup.schema import ToolSpec

_KEYS: Final = ("parameters", "parameter_definitions", "inputs", "args", "arguments")
# A call has a name and arguments, too; what documents has one of these.
_DOCUMENTS: Final = ("description", "api_description", "required", "responses")


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool as an object of keys."""
    if not ("name" in data or "api_name" in data) or not any(key in data for key in _DOCUMENTS):
        return False
    keys = next((data[key] for key in _KEYS if key in data), None)
    if not isinstance(keys, Mapping) or isinstance(keys.get("type"), str):
        return False
    return all(isinstance(spec, Mapping) and ("type" in spec or "description" in spec) for spec in keys.values())


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool.

    Raises
    ------
    DocumentationError
        Naming tool and parameter, as ``PropertyReader.parameters``.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    reader = PropertyReader(owner, {}, habit=None)
    keys = next(data[key] for key in _KEYS if key in data)
    parameters = reader.parameters({"properties": keys}, beside=data)
    return ToolSpec(name, read_description(data, owner), parameters, notes=tuple(reader.notes))


FORM: Final = ObjectForm(
    'objects of keys {"api_name", "parameters": {key: {"type"}}, "required"} (Seal-Tools)', claims, one_tool(read_tool)
)
