"""API-Bank's tools: ``{"name", "description", "input_parameters": {key: {"type", "description"}}}``.

Every documented key is required, unless the property says otherwise or its description contains ``[Optional]``.
"""

from collections.abc import Mapping
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError
from lookup.forms.form import ObjectForm, one_tool, read_name
from lookup.messages import quoted, shown
from lookup.parameters.plain_values import read_description
from lookup.parameters.property_reader import PropertyReader


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool in API-Bank's form."""
    return "input_parameters" in data and ("name" in data or "description" in data)


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool. ``input_parameters`` may be null or ``{None}`` for a tool without parameters.

    Raises
    ------
    DocumentationError
        Naming tool and parameter: the name is not a text, or ``input_parameters`` or a key is not an object.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    parameters = data["input_parameters"]
    if parameters is None or parameters == {None}:
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise DocumentationError(
            f"{owner}: expected 'input_parameters' to be an object of parameters, found {shown(parameters)}"
        )
    reader = PropertyReader(owner, {}, habit=True)
    keys = reader.parameters({"properties": parameters})
    return ToolSpec(name, read_description(data, owner), keys, notes=tuple(reader.notes))


FORM: Final = ObjectForm('API-Bank objects {"name", "description", "input_parameters"}', claims, one_tool(read_tool))
