"""Tools whose parameters are an object of keys that is not a JSON Schema.

Seal-Tools' ``{"api_name", "api_description", "parameters": {key: {"type", "description"}}, "required": [...]}``, and
similar forms of other frameworks: Cohere's ``parameter_definitions``, the ``inputs`` of smolagents, the ``args`` of
LangChain. The list next to the keys or the key itself says whether a key is required; otherwise it is unknown.
"""

from collections.abc import Mapping
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.forms.form import ObjectForm, has_name, one_tool, read_name
from lookup.messages import quoted
from lookup.parameters.plain_values import read_description
from lookup.parameters.property_reader import PropertyReader

_KEYS: Final = ("parameters", "parameter_definitions", "inputs", "args", "arguments")
# A call also has a name and arguments; documentation has one of these keys.
_DOCUMENTS: Final = ("description", "api_description", "required")
_TYPES: Final = frozenset({"type", "param_type", "description"})


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool as an object of keys."""
    keys = _keys(data)
    if not has_name(data) or not isinstance(keys, Mapping) or isinstance(keys.get("type"), str):
        return False
    if not all(isinstance(spec, Mapping) and not _TYPES.isdisjoint(spec) for spec in keys.values()):
        return False
    described = any(key in data for key in _DOCUMENTS)
    if not keys:
        # Under other names, an empty object is a JSON Schema.
        return described and "api_name" in data
    return described or all("description" in spec and len(spec) > 1 for spec in keys.values())


def _keys(data: Mapping[str, Any]) -> Any:
    """The first object of keys that is not empty, or the first one."""
    given = [data[key] for key in _KEYS if key in data]
    return next(filter(None, given), given[0] if given else None)


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool.

    Raises
    ------
    DocumentationError
        Naming tool and parameter, as for ``PropertyReader.parameters``.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    reader = PropertyReader(owner, {}, habit=None)
    keys = _keys(data)
    parameters = reader.parameters({"properties": keys}, beside=data)
    return ToolSpec(name, read_description(data, owner), parameters, notes=tuple(reader.notes))


FORM: Final = ObjectForm(
    'objects of keys {"api_name", "parameters": {key: {"type"}}, "required"} (Seal-Tools)', claims, one_tool(read_tool)
)
