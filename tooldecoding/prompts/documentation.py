"""Tool documentation as it was given, and as each template prints it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from lookup import LookupDictionary, ParameterSpec, ToolSpec, ValueType, extract
from lookup.dictionary import MISSING
from lookup.duplicates import OnDuplicate
from tooldecoding.files.manifest import digest

JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
}
"""Normalised type -> JSON Schema type."""

_SCHEMAS: Final = ("parameters", "inputSchema", "input_schema")
"""Where tools as data have their JSON Schema: OpenAI's, MCP's, Anthropic's."""


@dataclass(frozen=True)
class Documentation:
    """Documentation of tools: the source, and the lookup dictionary read from it.

    Attributes
    ----------
    source : str, mapping or sequence
        The text, or the parsed tool or list of tools.
    lookup : LookupDictionary
    """

    source: str | Mapping[str, Any] | Sequence[Any]
    lookup: LookupDictionary

    @classmethod
    def read(
        cls, source: str | Mapping[str, Any] | Sequence[Any], origin: str, on_duplicate: OnDuplicate = "error"
    ) -> "Documentation":
        """Read documentation from a text or parsed tools; DocumentationError as ``lookup.extract``."""
        return cls(source, extract(source, origin=origin, on_duplicate=on_duplicate))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the source."""
        return digest(self.source)

    @property
    def _renamed(self) -> bool:
        """Whether a call must name a tool differently from the source."""
        return any(tool.documented_name for tool in self.lookup.tools)

    @cached_property
    def objects(self) -> list[Any]:
        """The documented objects as given; if the source is prose, made from the lookup dictionary."""
        source = self.source
        parsed = _parsed(source) if isinstance(source, str) else source
        if parsed is None or self._renamed:
            return [json_schema(tool) for tool in self.lookup.tools]
        return [parsed] if isinstance(parsed, Mapping) else list(parsed)

    def as_api_bank(self) -> str:
        """Return a text verbatim, parsed tools as one JSON object a line in API-Bank's form."""
        if isinstance(self.source, str) and not self._renamed:
            return self.source
        if all(isinstance(entry, Mapping) and "input_parameters" in entry for entry in self.objects):
            entries = self.objects
        else:
            entries = [_api_bank_object(tool) for tool in self.lookup.tools]
        return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)

    def as_bfcl(self) -> str:
        """Return all tools as one indented JSON list."""
        return json.dumps(self.objects, indent=4, ensure_ascii=False)

    def as_chat_tools(self) -> list[dict[str, Any]]:
        """Return the tools in OpenAI's form, which chat templates take as ``tools``."""
        given = {} if self._renamed else {tool_name(entry): entry for entry in self.objects}
        return [_chat_tool(tool, given.get(tool.name)) for tool in self.lookup.tools]


def tool_name(entry: Any) -> str:
    """Return the name of a tool that is given as data, by itself or under ``function``; empty if it has none."""
    function = entry.get("function", entry) if isinstance(entry, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def _chat_tool(tool: ToolSpec, given: Any) -> dict[str, Any]:
    """Return a tool in OpenAI's form: as given, with the schema as given, or made from the lookup dictionary."""
    if isinstance(given, dict) and given.get("type") == "function" and isinstance(given.get("function"), dict):
        return given
    schemas = [given.get(key) for key in _SCHEMAS] if isinstance(given, Mapping) else []
    schema = next((each for each in schemas if isinstance(each, dict) and each.get("type") == "object"), None)
    function = json_schema(tool) if schema is None else {
        "name": tool.name, "description": tool.description, "parameters": schema
    }  # fmt: skip
    return {"type": "function", "function": function}


def json_schema(tool: ToolSpec) -> dict[str, Any]:
    """Return ``{"name", "description", "parameters"}`` with a JSON Schema made from the lookup dictionary."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": {"type": "object"} | _object(tool.parameters),
    }


def _property(spec: ParameterSpec) -> dict[str, Any]:
    row = _json_type(spec.type) | {"description": spec.description}
    if spec.enum is not None:
        row["enum"] = list(spec.enum)
    if spec.default is not MISSING:
        row["default"] = spec.default
    return row


def _json_type(value_type: ValueType) -> dict[str, Any]:
    if value_type.any_of:
        branches = [_json_type(branch) for branch in value_type.any_of]
        return {"anyOf": [*branches, {"type": "null"}] if value_type.nullable else branches}
    if value_type.kind == "any":
        return {} if value_type.enum is None else {"enum": list(value_type.enum)}
    name = JSON_TYPES[value_type.kind]
    row: dict[str, Any] = {"type": [name, "null"] if value_type.nullable else name}
    if value_type.enum is not None:
        row["enum"] = list(value_type.enum)
    if value_type.items:
        row["additionalProperties" if value_type.kind == "dict" else "items"] = _json_type(value_type.items)
    if value_type.properties is not None:
        row |= _object(value_type.properties)
    return row


def _object(parameters: Sequence[ParameterSpec]) -> dict[str, Any]:
    return {
        "properties": {p.name: _property(p) for p in parameters},
        "required": [p.name for p in parameters if p.required],
    }


def _api_bank_object(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_parameters": {
            p.name: {"type": p.raw_type, "description": _api_bank_description(p)} for p in tool.parameters
        },
    }


def _api_bank_description(spec: ParameterSpec) -> str:
    """API-Bank has no fields for optional keys and enums: its descriptions say both."""
    marker = "" if spec.required is not False or "[optional]" in spec.description.lower() else "[Optional] "
    members = f" One of: {', '.join(map(str, spec.enum))}" if spec.enum else ""
    return f"{marker}{spec.description}{members}"


def _parsed(text: str) -> Any:
    """Return the JSON value, or the list of JSON lines, in a text; None for any other text."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None
