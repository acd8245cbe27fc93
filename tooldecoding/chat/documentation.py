"""Tool documentation as it was given, and as each template prints it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from lookup import LookupDictionary, ToolSpec, extract
from lookup.duplicates import OnDuplicate
from tooldecoding.chat.tool_objects import (
    api_bank_object,
    api_bank_signature,
    json_schema,
    json_signature,
    signature_text,
)
from tooldecoding.files.manifest import digest
from tooldecoding.options.decode_options import Detail

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

    def as_api_bank(self, detail: Detail = "full") -> str:
        """Return the tools as API-Bank's prompt prints them.

        In full: a text verbatim, parsed tools as one JSON object a line. Signatures are such lines, names bare ones.
        """
        if detail == "names":
            return "\n".join(self.lookup)
        if detail == "signatures":
            return "\n".join(_json(api_bank_signature(tool)) for tool in self.lookup.tools)
        if isinstance(self.source, str) and not self._renamed:
            return self.source
        if all(isinstance(entry, Mapping) and "input_parameters" in entry for entry in self.objects):
            entries = self.objects
        else:
            entries = [api_bank_object(tool) for tool in self.lookup.tools]
        return "\n".join(map(_json, entries))

    def as_bfcl(self, detail: Detail = "full") -> str:
        """Return all tools as one JSON list: indented in full, a line for each signature, or the names alone."""
        if detail == "names":
            return _json(list(self.lookup))
        if detail == "signatures":
            return "[" + ",\n".join(_json(json_signature(tool)) for tool in self.lookup.tools) + "]"
        return json.dumps(self.objects, indent=4, ensure_ascii=False)

    def as_signatures(self, detail: Detail = "full") -> str:
        """Return the tools as lines of signatures, in full with their descriptions in lines behind, or as names."""
        if detail == "names":
            return "\n".join(self.lookup)
        return "\n".join(signature_text(tool, prose=detail == "full") for tool in self.lookup.tools)

    def as_chat_tools(self, detail: Detail = "full", bare: bool = True) -> list[dict[str, Any]]:
        """Return the tools in OpenAI's form, which chat templates take as ``tools``.

        Parameters
        ----------
        bare : bool
            Whether signatures and names go without the fields that they leave empty, which some templates demand.
        """
        if detail != "full":
            return [_compact_chat_tool(tool, detail, bare) for tool in self.lookup.tools]
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


def _compact_chat_tool(tool: ToolSpec, detail: Detail, bare: bool) -> dict[str, Any]:
    """Return a tool in OpenAI's form with its signature, or its name alone."""
    function: dict[str, Any] = json_signature(tool) if detail == "signatures" else {"name": tool.name}
    if not bare:
        parameters = function.get("parameters", {"type": "object", "properties": {}})
        properties = {key: row | {"description": ""} for key, row in parameters["properties"].items()}
        full = {"required": []} | parameters | {"properties": properties}
        function = {"name": tool.name, "description": "", "parameters": full}
    return {"type": "function", "function": function}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
