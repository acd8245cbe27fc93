"""ToolAlpaca's prose forms, compared with the OpenAPI documents that they were printed from."""

import json
import time

import pytest
from data import DATA, needs_data
from hypothesis import given
from hypothesis import strategies as st

from lookup.errors import DocumentationError
from lookup.forms import MisreadError
from lookup.prose_type import read_prose
from lookup.tool_alpaca import FORM, OBJECT_FORM

def tools(text):
    found = [entry.tool for entry in FORM.find(text)]
    assert not [tool for tool in found if isinstance(tool, MisreadError)]
    return found


def apis():
    return json.loads((DATA / "toolalpaca" / "eval_simulated.json").read_text(encoding="utf-8"))


def resolved(schema, document):
    if "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def operations(api):
    """Each operation's name and description, and its keys; of a key in query and body the body's is printed."""
    document = json.loads(api["Documentation"])
    for path in document["paths"].values():
        for operation in path.values():
            keys = {p["name"]: (p["required"], p["description"], p["schema"]) for p in operation.get("parameters", ())}
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = resolved(content.get("schema", {}), document)
            for key, schema in body.get("properties", {}).items():
                keys[key] = (key in body.get("required", ()), schema.get("description", ""), schema)
            yield operation["operationId"], operation.get("description") or operation.get("summary"), keys


def printed_type(schema):
    if schema["type"] != "array":
        return {"object": "Object"}.get(schema["type"], schema["type"])
    items = schema["items"]
    if "properties" not in items:
        return f"Array[{printed_type(items)}]"
    inner = (f"{key}: {printed_type(s)}. {s['description']}" for key, s in items["properties"].items())
    return f"Array[Object{{{', '.join(inner)}}}. ]"


def demand_same(found, api):
    expected = list(operations(api))
    assert [(tool.name, tool.description) for tool in found] == [(name, text) for name, text, _ in expected]
    for tool, (_, _, keys) in zip(found, expected, strict=True):
        assert [p.name for p in tool.parameters] == list(keys)
        for parameter, (required, text, schema) in zip(tool.parameters, keys.values(), strict=True):
            assert (parameter.required, parameter.rule) == (required, "prose" if required else "habit")
            assert parameter.description.rstrip(".") == text.rstrip(".")
            assert parameter.raw_type == printed_type(schema)
            assert parameter.enum == (tuple(schema["enum"]) if "enum" in schema else None)
            if nested := schema.get("items", {}).get("properties"):
                assert [p.name for p in parameter.type.items.properties] == list(nested)


@needs_data
def test_the_text_and_the_object_agree_with_the_openapi_document():
    for api in apis():
        demand_same(tools(f"You can use:\n\n{api['NLDocumentation']}\n\nUser: hello\n"), api)
        doubled = api["NLDocumentation"].replace("{", "{{").replace("}", "}}")
        demand_same(tools(f"{doubled}\n\nQuestion: {{input}}"), api)
        assert OBJECT_FORM.claims(api["Function_Description"])
        demand_same([tool for tool, _ in OBJECT_FORM.read(api["Function_Description"])], api)


@needs_data
def test_the_numbered_functions_have_every_key_marked():
    checked = 0
    for api in apis():
        found = tools(f"Functions:\n{api['Functions']}\n\nDo it.")
        assert [tool.name for tool in found] == [name for name, _, _ in operations(api)]
        for tool in found:
            assert tool.description
            for parameter in tool.parameters:
                assert (parameter.rule, parameter.type.kind != "any") == ("prose", True)
                checked += 1
    assert checked > 100
