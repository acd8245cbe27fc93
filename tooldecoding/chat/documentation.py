"""Tool documentation as it was given, and as each template prints it: in full, as signatures, summaries or names.

A signature has names, keys, types, enums, and which keys are required; nothing in words, and no defaults. A summary is
the name with the first sentence of the description.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

from lookup import LookupDictionary, ParameterSpec, ToolSpec, ValueType, extract
from lookup.dictionary import MISSING
from lookup.extract import OnDuplicate
from lookup.schema.json_types import TYPE_NAMES
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.decode_options import Detail
from tooldecoding.tokens.guarded_text import PromptText

PromptFor = Callable[[str], PromptText]
"""Name of a tool -> a prompt that has its documentation alone."""

_SCHEMAS: Final = ("parameters", "inputSchema", "input_schema")
"""Where tools as data have their JSON Schema: OpenAI's, MCP's, Anthropic's."""

_JSON_TYPES: Final = TYPE_NAMES | {"tuple": "array"}
"""Normalised type -> JSON Schema type."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s(?=[^a-z])|(?<=[。！？])")
_READ, _LONGEST = 1000, 120
"""Characters of a description that are looked at for its first sentence, and those that are printed of it."""

_EMPTY: Final[Mapping[str, Any]] = {"description": "", "parameters": {"type": "object", "properties": {}}}
"""What a tool has that says no more than its name."""

_NESTED: Final = ("items", "properties", "required", "additionalProperties", "anyOf")


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

    @cached_property
    def _given(self) -> dict[str, Any]:
        """Name -> documented object as given."""
        return {} if self._renamed else {tool_name(entry): entry for entry in self.objects}

    def of(self, name: str) -> "Documentation":
        """Return the documentation of one tool."""
        tool = self.lookup[name]
        return Documentation([self._given.get(name, json_schema(tool))], LookupDictionary((tool,)))

    def prompts_of_one(
        self, detail: Detail, render: Callable[["Documentation", Detail], PromptText]
    ) -> PromptFor | None:
        """Return ``prompt_for`` of a request: what ``render`` makes of one tool in full; None if it has all in full."""
        return None if detail == "full" else lambda name: render(self.of(name), "full")

    def as_api_bank(self, detail: Detail = "full") -> str:
        """Return the tools as API-Bank's prompt prints them.

        In full: a text verbatim, parsed tools as one JSON object a line. Signatures and summaries are such lines, names
        bare ones.
        """
        if detail == "names":
            return "\n".join(self.lookup)
        if detail != "full":
            shown = _summary if detail == "summaries" else partial(api_bank_object, prose=False)
            return "\n".join(json_line(shown(tool)) for tool in self.lookup.tools)
        if isinstance(self.source, str) and not self._renamed:
            return self.source
        if all(isinstance(entry, Mapping) and "input_parameters" in entry for entry in self.objects):
            entries = self.objects
        else:
            entries = [api_bank_object(tool) for tool in self.lookup.tools]
        return "\n".join(map(json_line, entries))

    def as_bfcl(self, detail: Detail = "full") -> str:
        """Return all tools as one JSON list: indented in full, a line for each signature or summary, or the names."""
        if detail == "names":
            return json_line(list(self.lookup))
        if detail != "full":
            shown = _summary if detail == "summaries" else partial(json_schema, prose=False)
            return "[" + ",\n".join(json_line(shown(tool)) for tool in self.lookup.tools) + "]"
        return json.dumps(self.objects, indent=4, ensure_ascii=False)

    def as_signatures(self, detail: Detail = "full") -> str:
        """Return the tools as lines of signatures, in full with descriptions in lines behind, as summaries or names."""
        if detail == "names":
            return "\n".join(self.lookup)
        if detail == "summaries":
            return "\n".join(
                f"{tool.name}\n    {first_sentence(tool.description)}".rstrip() for tool in self.lookup.tools
            )
        return "\n".join(signature_text(tool, prose=detail == "full") for tool in self.lookup.tools)

    def as_chat_tools(self, detail: Detail = "full", bare: bool = True) -> list[dict[str, Any]]:
        """Return the tools in OpenAI's form, which chat templates take as ``tools``.

        Parameters
        ----------
        bare : bool
            Whether tools go without the fields that are empty, which some templates demand.
        """
        if detail != "full":
            return [_compact_chat_tool(tool, detail, bare) for tool in self.lookup.tools]
        tools = [_chat_tool(tool, self._given.get(tool.name)) for tool in self.lookup.tools]
        return tools if bare else [{**tool, "function": _EMPTY | tool["function"]} for tool in tools]


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
    """Return a tool in OpenAI's form with its signature, its summary, or its name alone."""
    function: dict[str, Any] = {"name": tool.name}
    if detail != "names":
        function = _summary(tool) if detail == "summaries" else json_schema(tool, prose=False)
    if not bare:
        parameters = function.get("parameters", {"type": "object", "properties": {}})
        properties = {key: row | {"description": ""} for key, row in parameters["properties"].items()}
        full = {"required": []} | parameters | {"properties": properties}
        function = {"name": tool.name, "description": function.get("description", ""), "parameters": full}
    return {"type": "function", "function": function}


def _summary(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": first_sentence(tool.description)}


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, or its first 120 characters.

    >>> first_sentence("Finds a restaurant, e.g. by its city.  The city is a name.")
    'Finds a restaurant, e.g. by its city.'
    """
    first = _SENTENCE_END.split(" ".join(text[:_READ].split()), maxsplit=1)[0]
    return first if len(first) <= _LONGEST else first[:_LONGEST].rstrip() + "…"


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


def json_schema(tool: ToolSpec, prose: bool = True) -> dict[str, Any]:
    """Return ``{"name", "description", "parameters"}`` with a JSON Schema made from the lookup dictionary.

    Parameters
    ----------
    prose : bool
        Whether there are descriptions and defaults.
    """
    row = {"name": tool.name} | ({"description": tool.description} if prose else {})
    return row | {"parameters": {"type": "object"} | _object(tool.parameters, prose)}


def api_bank_object(tool: ToolSpec, prose: bool = True) -> dict[str, Any]:
    """Return the object that API-Bank prints for a tool, with or without words.

    What it has no field for stands in descriptions in any case.
    """
    row = {"name": tool.name} | ({"description": tool.description} if prose else {})
    return row | {"input_parameters": {p.name: _api_bank_key(p, prose) for p in tool.parameters}}


def _api_bank_key(spec: ParameterSpec, prose: bool) -> dict[str, Any]:
    if prose:
        return {"type": spec.raw_type, "description": _marked(spec)}
    row = {"type": spec.raw_type} | {k: v for k, v in _json_type(spec.type, prose).items() if k in _NESTED}
    marks = _marked(replace(spec, description="")).strip()
    return row | ({"description": marks} if marks else {})


def _marked(spec: ParameterSpec) -> str:
    """API-Bank has no fields for optional keys and enums: its descriptions say both."""
    marker = "" if spec.required is not False or "[optional]" in spec.description.lower() else "[Optional] "
    members = f" One of: {', '.join(map(str, spec.enum))}" if spec.enum else ""
    return f"{marker}{spec.description}{members}"


def _property(spec: ParameterSpec, prose: bool) -> dict[str, Any]:
    nullable = _has_null_beside(spec.type, spec.enum)
    row = _json_type(replace(spec.type, enum=spec.enum) if nullable else spec.type, prose)
    row |= {"description": spec.description} if prose else {}
    if spec.enum is not None and not nullable:
        row["enum"] = list(spec.enum)
    if prose and spec.default is not MISSING:
        row["default"] = spec.default
    return row


def _has_null_beside(value_type: ValueType, enum: tuple[Any, ...] | None) -> bool:
    """Whether null is allowed beside an enum that lacks it, which takes a branch of its own."""
    return value_type.nullable and enum is not None and None not in enum


def _json_type(value_type: ValueType, prose: bool) -> dict[str, Any]:
    if value_type.enum is not None and _has_null_beside(value_type, value_type.enum):
        named = _json_type(replace(value_type, nullable=False, enum=None), prose)
        return {"anyOf": [{**named, "enum": list(value_type.enum)}, {"type": "null"}]}
    if value_type.any_of:
        branches = [_json_type(branch, prose) for branch in value_type.any_of]
        return {"anyOf": [*branches, {"type": "null"}] if value_type.nullable else branches}
    if value_type.kind == "any":
        return {} if value_type.enum is None else {"enum": list(value_type.enum)}
    name = _JSON_TYPES[value_type.kind]
    row: dict[str, Any] = {"type": [name, "null"] if value_type.nullable else name}
    if value_type.enum is not None:
        row["enum"] = list(value_type.enum)
    if value_type.items:
        row["additionalProperties" if value_type.kind == "dict" else "items"] = _json_type(value_type.items, prose)
    if value_type.properties is not None:
        row |= _object(value_type.properties, prose)
    return row


def _object(parameters: Sequence[ParameterSpec], prose: bool) -> dict[str, Any]:
    properties = {p.name: _property(p, prose) for p in parameters}
    required = [p.name for p in parameters if p.required]
    return {"properties": properties} | ({"required": required} if required or prose else {})


def signature_text(tool: ToolSpec, prose: bool) -> str:
    """Return a tool as a signature line, ``name(key: type, other: type = default)``.

    Parameters
    ----------
    prose : bool
        Whether what the documentation says in words follows, in an indented line for the tool and each key.
    """
    keys = [f"{p.name}: {_type_text(p.value_type)}{'' if p.required else _default(p)}" for p in tool.parameters]
    lines = [tool.description, *dict.fromkeys(_described_keys(tool.parameters))] if prose else []
    return "\n    ".join([f"{tool.name}({', '.join(keys)})", *(" ".join(line.split()) for line in lines if line)])


def _default(spec: ParameterSpec) -> str:
    return f" = {None if spec.default is MISSING else spec.default!r}"


def _type_text(value_type: ValueType) -> str:
    if value_type.enum is not None:
        shown = " | ".join(map(repr, value_type.enum))
    elif value_type.any_of:
        shown = " | ".join(map(_type_text, value_type.any_of))
    elif value_type.properties:
        keys = (f"{p.name}{'' if p.required else '?'}: {_type_text(p.value_type)}" for p in value_type.properties)
        shown = f"{{{', '.join(keys)}}}"
    else:
        shown = value_type.kind + (f"[{_type_text(value_type.items)}]" if value_type.items else "")
    return f"{shown} | None" if value_type.nullable else shown


def _described_keys(parameters: Sequence[ParameterSpec], outer: str = "") -> Iterator[str]:
    """Yield a line for each key with a description, those of inner objects behind their own."""
    for spec in parameters:
        name = outer + spec.name
        if spec.description:
            yield f"{name}: {spec.description}"
        inner = spec.type.items or spec.type
        for branch in inner.any_of or (inner,):
            yield from _described_keys(branch.properties or (), f"{name}.")
