"""Function-calling mode: tools as the official handler for OpenAI's chat completions sends them.

Package bfcl-eval 2026.3.23 (Apache-2.0): ``convert_to_tool``, ``_func_doc_language_specific_pre_processing``.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from eval.benchmarks.bfcl.checker import Functions
from eval.benchmarks.bfcl.languages import JAVASCRIPT, PYTHON, Language, language_of

_JSON_TYPES: Final = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""Documented type -> JSON Schema type; any other is ``string``."""

_SYNTAX: Final = {"Python": "Python 3", "Java": "Java 8 SDK", "JavaScript": "JavaScript"}


def offered_tools(functions: Functions, category: str) -> list[dict[str, Any]]:
    """Return the tools of an entry as the handler sends them, in OpenAI's form.

    Names have underscores for dots, and types are those of JSON Schema. Each description names the language. In Java
    and JavaScript, every parameter is a text in the language's notation, which its description says.
    """
    language = language_of(category)
    return [{"type": "function", "function": _offered(function, language)} for function in functions]


def _offered(function: Mapping[str, Any], language: Language) -> dict[str, Any]:
    properties = function["parameters"]["properties"]
    if language is not PYTHON:
        properties = {key: _as_text(row, language) for key, row in properties.items()}
    hint = f" Note that the provided function is in {_SYNTAX[language.name]} syntax."
    parameters = function["parameters"] | {"type": "object", "properties": _with_json_types(properties)}
    return {
        **function,
        "name": function["name"].replace(".", "_"),
        "description": _words(function) + hint,
        "parameters": parameters,
    }


def _as_text(row: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """Return a parameter in Java or JavaScript as a text, with its type in its description."""
    kind, row = row["type"], dict(row)
    notes = f"This is {language.name} {kind} type parameter in string representation."
    if kind == "any":
        notes = f"This parameter can be of any type of {language.name} object in string representation."
    if kind in language.lists:
        element = row.pop("items")["type"]
        notes += f" The list elements are of type {element}; they are not in string representation."
    if language is JAVASCRIPT and kind == "dict" and "properties" in row:
        schema = json.dumps(row.pop("properties"))
        notes += f" The dictionary entries have the following schema; they are not in string representation. {schema}"
    return row | {"description": f"{_words(row)} {notes}", "type": "string"}


def _with_json_types(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _with_json_type(row) for key, row in properties.items()}


def _with_json_type(given: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(given)
    if row.get("type") == "float":
        row |= {"format": "float", "description": _words(row) + " This is a float type value."}
    row["type"] = _json_type(row.get("type"))
    if row["type"] in ("array", "object"):
        if "properties" in row:
            row["properties"] = _with_json_types(row["properties"])
        elif "items" in row:
            row["items"] = _items(row["items"])
    return row


def _items(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of elements: two levels of types, and objects whose keys are documented."""
    row = {**given, "type": _json_type(given.get("type"))}
    if row["type"] == "array" and "items" in row:
        row["items"] = {**row["items"], "type": _json_type(row["items"].get("type"))}
    elif row["type"] == "object" and "properties" in row:
        row["properties"] = _with_json_types(row["properties"])
    return row


def _json_type(documented: Any) -> str:
    return _JSON_TYPES.get(documented, "string") if isinstance(documented, str) else "string"


def _words(documented: Mapping[str, Any]) -> str:
    return str(documented.get("description", ""))
