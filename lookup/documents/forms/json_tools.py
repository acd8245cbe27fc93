"""Tools that are objects, in four forms, which differ in where the keys are and what is meant if nothing says required.

JSON Schema, as in BFCL, OpenAI, Anthropic, MCP and UltraTool:
``{"name", "description", "parameters": {"type", "properties", "required"}}``, bare or inside
``{"type": "function", "function": {...}}``. Other names of ``parameters`` are ``inputSchema``, ``input_schema``,
``input_parameters``, ``arguments`` and Gemini's ``parametersJsonSchema``. A key is then optional, as in JSON Schema;
under ``arguments`` it is unknown, because UltraTool never lists required keys.

API-Bank: ``{"name", "description", "input_parameters": {key: {"type", "description"}}}``; a key is then required.

Objects of keys: Seal-Tools' ``{"api_name", "api_description", "parameters": {key: {"type", "description"}},
"required": [...]}``, Cohere's ``parameter_definitions``, ``inputs``, ``args``; it is then unknown.

Lists of keys, one object with a ``name`` for each; it is then unknown, too. RapidAPI and ToolBench: ``{"tool_name",
"api_name", "required_parameters": [{"name", "type", "description", "default"}], "optional_parameters": [...]}``, with
examples as defaults, of which an empty one is ignored. Gorilla: ``parameters`` as a list, or as
``{"required": [...], "optional": [...]}``.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.documents.forms.form import ObjectForm, has_name, read_name
from lookup.documents.parameters.plain_values import demand_object, read_description
from lookup.documents.parameters.property_reader import PropertyReader
from lookup.errors import DocumentationError, quoted, shown
from lookup.schema.document import Document
from lookup.type_names import value_type

Data = Mapping[str, Any]

_SCHEMA_WORDS: Final = frozenset(
    {
        "type", "properties", "required", "optional", "description", "title", "default", "additionalProperties",
        "strict", "example", "examples", "$schema", "$id", "$ref", "$defs", "definitions", "$comment",
        "allOf", "anyOf", "oneOf",
        "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties",
        "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "nullable",
    }
)  # fmt: skip
_SCHEMA_KEYS: Final = (
    *("parameters", "inputSchema", "input_schema", "args_schema", "arguments", "input_parameters"),
    *("parametersJsonSchema", "parameters_json_schema"),
)
_FLAT_KEYS: Final = ("parameters", "parameter_definitions", "inputs", "args", "arguments")
_FLAT_WORDS: Final = frozenset({"type", "param_type", "description"})
_RESULT_KEYS: Final = ("outputSchema", "output_schema", "output_parameters", "response", "returns")
# A call also has a name and arguments; documentation has one of these keys.
_DOCUMENTS: Final = ("description", "api_description", "required")
_RAPID_LISTS: Final = {"required_parameters": True, "optional_parameters": False}
_NESTED_LISTS: Final = {"required": True, "optional": False}


# JSON Schema


def _is_schema_tool(data: Data) -> bool:
    """Whether the object documents a tool, rather than being a call or something else."""
    key, schema = _schema(data)
    if key is None:
        return False
    if isinstance(schema, Mapping):
        if key == "arguments" and not (_is_object(schema) and ("properties" in schema or "description" in data)):
            return False
        if not _is_object(schema) and not _SCHEMA_WORDS.issuperset(schema):
            return False  # the arguments of a call, with one named "properties"
        if "properties" in schema or _is_object(schema) or "$ref" in schema or _has_branches(schema):
            return has_name(data) or "description" in data
        return not schema and key != "arguments" and has_name(data)
    return key != "arguments" and schema is None and has_name(data) and "description" in data


def read_schema_tool(data: Data, document: Document | None = None) -> ToolSpec:
    """Read a tool whose parameters are a JSON Schema. Without one, it has no parameters.

    ``document``: what references point into; by default the schema.

    DocumentationError, naming tool and parameter: the name is not a text, ``properties`` or a property is not an
    object, ``required`` or ``enum`` is not a list, or a list of required keys beside the schema contains an unknown
    key.
    """
    owner = _owner(data)
    read_description(data, owner)
    key, schema = _schema(data)
    if schema is None:
        return _tool(data, (), PropertyReader(owner, {}))
    schema = demand_object(schema, owner, f"{key!r} to be an object with 'properties'")
    reader = PropertyReader(owner, document or schema, convention=None if key == "arguments" else False)
    return _tool(data, reader.parameters(schema, beside=data), reader)


def printed_tool(name: str, description: str, schema: Any, document: Document | None = None) -> ToolSpec | None:
    """The tool that a chat template prints with these words; ``None`` if they document none."""
    try:
        return read_schema_tool({"name": name, "description": description, "parameters": schema}, document)
    except DocumentationError:
        return None


def _schema(data: Data) -> tuple[str | None, Any]:
    """The key of the schema, and the schema. Amazon wraps it as ``{"json": schema}``."""
    given = [key for key in _SCHEMA_KEYS if key in data]
    key = next((key for key in given if data[key]), given[0] if given else None)
    schema = data[key] if key else None
    if isinstance(schema, Mapping) and set(schema) == {"json"}:
        schema = schema["json"]
    return key, schema


def _is_object(schema: Data) -> bool:
    written = schema.get("type")
    return isinstance(written, str) and value_type(written).kind == "dict"


def _has_branches(schema: Data) -> bool:
    return any(isinstance(schema.get(word), list) and schema[word] for word in ("allOf", "anyOf", "oneOf"))


# API-Bank


def _is_api_bank_tool(data: Data) -> bool:
    keys = data.get("input_parameters")
    if isinstance(keys, Mapping) and (
        _is_object(keys) or (_SCHEMA_WORDS.issuperset(keys) and not all(map(_is_key, keys.values())))
    ):
        return False  # a JSON Schema
    return "input_parameters" in data and ("name" in data or "description" in data)


def _is_key(spec: object) -> bool:
    """Whether an object may be what API-Bank says of one key."""
    return isinstance(spec, Mapping) and any(isinstance(spec.get(word), str) for word in ("type", "description"))


def _read_api_bank_tool(data: Data) -> ToolSpec:
    """Read one tool. ``input_parameters`` may be null or ``{None}`` for a tool without parameters."""
    owner = _owner(data)
    parameters = data["input_parameters"]
    if parameters is None or parameters == {None}:
        parameters = {}
    parameters = demand_object(parameters, owner, "'input_parameters' to be an object of parameters")
    reader = PropertyReader(owner, {}, convention=True)
    return _tool(data, reader.parameters({"properties": parameters}), reader)


# Objects of keys


def _is_flat_tool(data: Data) -> bool:
    keys = _flat_keys(data)
    if not has_name(data) or not isinstance(keys, Mapping) or isinstance(keys.get("type"), str):
        return False
    if not all(isinstance(spec, Mapping) and not _FLAT_WORDS.isdisjoint(spec) for spec in keys.values()):
        return False
    described = any(key in data for key in _DOCUMENTS)
    if not keys:
        # Under other names, an empty object is a JSON Schema.
        return described and "api_name" in data
    return described or all("description" in spec and len(spec) > 1 for spec in keys.values())


def _flat_keys(data: Data) -> Any:
    """The first object of keys that is not empty, or the first one."""
    given = [data[key] for key in _FLAT_KEYS if key in data]
    return next(filter(None, given), given[0] if given else None)


def _read_flat_tool(data: Data) -> ToolSpec:
    reader = PropertyReader(_owner(data), {}, convention=None)
    return _tool(data, reader.parameters({"properties": _flat_keys(data)}, beside=data), reader)


# Lists of keys


def _is_listed_tool(data: Data) -> bool:
    if not has_name(data) or data.get("inputSchema") or data.get("input_schema"):
        return False
    if any(isinstance(data.get(key), list | tuple) for key in _RAPID_LISTS):
        return True
    keys = data.get("parameters")
    lists = [keys]
    if isinstance(keys, Mapping):
        lists = [keys[key] for key in _NESTED_LISTS if key in keys]
        if not keys or len(lists) < len(keys):
            return False
    # The list of values in a call contains no names.
    documented = "description" in data or "api_description" in data
    empty = all(isinstance(entries, list | tuple) and not entries for entries in lists)
    return any(map(_names_keys, lists)) or (documented and empty)


def _names_keys(entries: object) -> bool:
    return isinstance(entries, list | tuple) and any(isinstance(e, Mapping) and "name" in e for e in entries)


def _read_listed_tool(data: Data) -> ToolSpec:
    """Read one tool. DocumentationError if a list or an entry is of the wrong kind, or an entry has no name."""
    owner = _owner(data)
    reader = PropertyReader(owner, {}, convention=None)
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
    return _tool(data, tuple(parameters.values()), reader, collection if isinstance(collection, str) else "")


def _entries(data: Data, owner: str) -> Iterator[tuple[str, bool | None, Any]]:
    """Each entry with the name of its list, and whether that list makes it required."""
    keys = data.get("parameters")
    required = data.get("required")
    lists: list[tuple[str, bool | None, Any]] = [("parameters", None, keys)]
    if any(word in data for word in _RAPID_LISTS):
        lists = [(word, listed, data.get(word)) for word, listed in _RAPID_LISTS.items()]
    elif isinstance(keys, Mapping):
        lists = [(word, listed, keys.get(word)) for word, listed in _NESTED_LISTS.items()]
    elif isinstance(required, list | tuple):
        for entry in keys or ():
            yield "parameters", isinstance(entry, Mapping) and entry.get("name") in required, entry
        return
    for word, listed, entries in lists:
        if entries is not None and not isinstance(entries, list | tuple):
            raise DocumentationError(f"{owner}: expected {word!r} to be a list of parameters, found {shown(entries)}")
        for entry in entries or ():
            yield word, listed, entry


# All four


def _owner(data: Data) -> str:
    """The tool for messages. DocumentationError if it has no name."""
    return f"tool {quoted(read_name(data))}"


def _tool(data: Data, parameters: tuple[ParameterSpec, ...], reader: PropertyReader, collection: str = "") -> ToolSpec:
    description = read_description(data, _owner(data))
    notes = tuple(reader.notes)
    hints: Data = data["annotations"] if isinstance(data.get("annotations"), Mapping) else {}
    return ToolSpec(
        read_name(data),
        description,
        parameters,
        collection,
        notes=notes,
        conditions=reader.conditions,
        returns=_returned_keys(data),
        reads=hints.get("readOnlyHint") if isinstance(hints.get("readOnlyHint"), bool) else None,
        destroys=hints.get("destructiveHint") is True or data.get("destructive") is True,
    )


def _returned_keys(data: Data) -> tuple[str, ...]:
    """The keys of the result: the properties of a schema (MCP, Google), or an object of keys (API-Bank)."""
    result: Data = next((data[key] for key in _RESULT_KEYS if isinstance(data.get(key), Mapping)), {})
    keys = result.get("properties", {} if isinstance(result.get("type"), str) else result)
    if not isinstance(keys, Mapping):
        return ()
    return tuple(str(key) for key, spec in keys.items() if isinstance(spec, Mapping))


def _form(title: str, claims: Callable[[Data], bool], read: Callable[[Data], ToolSpec]) -> ObjectForm:
    return ObjectForm(title, claims, lambda data: [(read(data), data)])


API_BANK: Final = _form(
    'API-Bank objects {"name", "description", "input_parameters"}', _is_api_bank_tool, _read_api_bank_tool
)
KEY_LISTS: Final = _form(
    'lists of keys {"api_name", "required_parameters": [{"name"}], "optional_parameters"} (RapidAPI, Gorilla)',
    _is_listed_tool,
    _read_listed_tool,
)
FLAT_KEYS: Final = _form(
    'objects of keys {"api_name", "parameters": {key: {"type"}}, "required"} (Seal-Tools)',
    _is_flat_tool,
    _read_flat_tool,
)
JSON_SCHEMA: Final = _form(
    'JSON Schema objects {"name", "parameters" or "inputSchema" or "input_schema": {"properties"}}',
    _is_schema_tool,
    read_schema_tool,
)
