"""OpenAPI and Swagger documents: what counts as a key, errors, and drawn documents."""

from copy import deepcopy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import extract
from lookup.dictionary import MISSING
from lookup.errors import DocumentationError
from lookup.forms.openapi import FORM

STYLES = [{"sort_keys": False, "allow_unicode": wide, "width": width} for wide in (True, False) for width in (40, 9999)]


def tools(document):
    assert FORM.claims(document)
    return [tool for tool, _ in FORM.read(document)]


def tool(operation, path="/things", **document):
    (only,) = tools({"openapi": "3.0.0", "paths": {path: {"get": operation}}, **document})
    return only


def test_what_an_operation_is_called_and_says():
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {"summary": "no operation", "get": {"operationId": "read-a b", "description": "", "summary": "S"}},
            "/b/{x}": {"DELETE": {"description": "D", "summary": "S"}, "x-own": {}},
            "x-own": {"get": {}},
        },
    }
    assert [(t.name, t.description) for t in tools(document)] == [("read-a b", "S"), ("DELETE /b/{x}", "D")]


def test_requiredness_of_parameters():
    found = tool(
        {
            "parameters": [
                {"name": "a", "in": "query", "required": "true", "schema": {"type": "string"}},
                {"name": "b", "in": "query", "required": "false", "schema": {"type": "string"}},
                {"name": "c", "in": "query", "schema": {"type": "integer", "default": "20"}},
                {"name": "id", "in": "path", "required": "false", "schema": {"type": "string"}},
                {"name": "d", "in": "query"},
                {"name": "e", "in": "query", "required": True, "schema": {"type": "object", "required": ["x"]}},
            ]
        },
        path="/{other}/{id}",
    )
    assert [(p.name, p.required, p.rule) for p in found.parameters] == [
        ("other", True, "path variable"),
        ("a", True, "flag"),
        ("b", False, "flag"),
        ("c", False, "default"),
        ("id", True, "path variable"),
        ("d", False, "habit"),
        ("e", True, "flag"),
    ]
    assert found.parameter("c").default == "20"
    assert (found.parameter("other").raw_type, found.parameter("other").type.kind) == ("", "str")


def test_an_operation_overrides_the_parameters_of_its_path():
    shared = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("a", "b")]
    own = [{"name": "a", "in": "query", "schema": {"type": "integer"}}, {"name": "b", "in": "header"}]
    document = {"openapi": "3.0.0", "paths": {"/": {"parameters": shared, "get": {"parameters": own}}}}
    (found,) = tools(document)
    assert [(p.name, p.raw_type) for p in found.parameters] == [("b", "string"), ("a", "integer")]


def test_parameters_behind_references():
    parameters = {
        "first": {"$ref": "#/components/parameters/second"},
        "second": {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Q"}},
    }
    components = {"parameters": parameters, "schemas": {"Q": {"type": "string", "enum": ["x"], "description": "Q."}}}
    listed = [{"$ref": "#/components/parameters/first"}, {"$ref": "#/components/parameters/third"}]
    found = tool({"parameters": listed}, components=components)
    (q,) = found.parameters
    assert (q.name, q.raw_type, q.enum, q.description) == ("q", "string", ("x",), "Q.")
    assert any("third" in note for note in found.notes)


def body(schema, **request):
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, **request}}


def test_the_body_gives_keys():
    properties = {
        "ids": {"type": "array", "items": {"type": "string"}},
        "made": {"type": "string", "readOnly": True},
        "place": {"type": "object", "required": ["name"], "properties": {"name": {}, "type": {"type": "string"}}},
    }
    operation = body({"type": "object", "required": ["uris", "place"], "properties": properties})
    operation["parameters"] = [{"name": "ids", "in": "query", "required": "true", "schema": {"type": "string"}}]
    operation["responses"] = body({"type": "object", "properties": {"leak": {}}})["requestBody"]
    found = tool(operation)
    assert [(p.name, p.required, p.raw_type) for p in found.parameters] == [
        ("ids", True, "string"),
        ("place", True, "object"),
    ]
    assert [(p.name, p.required) for p in found.parameter("place").type.properties] == [("name", True), ("type", False)]
    for said in ("'uris'", "'ids': documented in the query and in the body", "'made'"):
        assert any(said in note for note in found.notes)


def test_a_later_place_can_make_a_key_required():
    operation = body({"type": "object", "required": ["ids"], "properties": {"ids": {"type": "array"}}})
    operation["parameters"] = [{"name": "ids", "in": "query", "schema": {"type": "string"}}]
    (ids,) = tool(operation).parameters
    assert (ids.required, ids.rule, ids.raw_type) == (True, "list", "string")


@pytest.mark.parametrize("union", ["allOf", "anyOf", "oneOf"])
def test_branches_of_a_body_are_merged(union):
    branches = [{"$ref": "#/components/schemas/A"}, {"properties": {"b": {}}, "required": ["b"]}]
    schemas = {"A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}
    found = tool(body({union: branches}), components={"schemas": schemas})
    assert [(p.name, p.required) for p in found.parameters] == [("a", union == "allOf"), ("b", union == "allOf")]


@pytest.mark.parametrize("required", [True, False, None])
def test_a_body_that_is_no_object_is_one_key(required):
    request = {"description": "Names."} if required is None else {"description": "Names.", "required": required}
    (key,) = tool(body({"type": "array", "items": {"type": "string"}}, **request)).parameters
    assert (key.name, str(key.type), key.required) == ("body", "list[str]", bool(required))
    assert key.description == "Names."


def test_json_is_the_content_that_counts():
    operation = body({"type": "object", "properties": {"a": {}}})
    form = {"schema": {"type": "object", "properties": {"b": {}}}}
    content = operation["requestBody"]["content"]
    operation["requestBody"]["content"] = {"text/xml": form, **content}
    found = tool(operation)
    assert [p.name for p in found.parameters] == ["a"]
    assert any("text/xml" in note for note in found.notes)
    operation["requestBody"]["content"] = {"multipart/form-data": form}
    assert [p.name for p in tool(operation).parameters] == ["b"]


def test_headers_of_the_protocol_are_no_keys():
    names = ("Accept", "content-type", "Authorization", "X-Trace")
    found = tool({"parameters": [{"name": n, "in": "header", "schema": {"type": "string"}} for n in names]})
    assert [p.name for p in found.parameters] == ["X-Trace"]
    assert len(found.notes) == 3


def test_swagger_2():
    document = {
        "swagger": "2.0",
        "definitions": {"Pet": {"type": "object", "required": ["tag"], "properties": {"tag": {"type": "string"}}}},
        "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "default": 5}},
        "paths": {
            "/pets": {
                "post": {
                    "parameters": [
                        {"$ref": "#/parameters/limit"},
                        {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                    ]
                },
                "put": {
                    "parameters": [
                        {"name": "kinds[]", "in": "formData", "type": "array", "items": {"type": "string"}},
                        {"name": "from", "in": "formData", "type": "string", "required": True, "enum": ["a"]},
                    ]
                },
            }
        },
    }
    post, put = tools(document)
    assert [(p.name, p.required, p.default) for p in post.parameters] == [("limit", False, 5), ("tag", True, MISSING)]
    assert [(p.name, str(p.type), p.required, p.enum) for p in put.parameters] == [
        ("kinds[]", "list[str]", False, None),
        ("from", "str", True, ("a",)),
    ]


def test_content_of_a_parameter_is_its_type():
    content = {"application/json": {"schema": {"type": "object", "properties": {"x": {"type": "integer"}}}}}
    (key,) = tool({"parameters": [{"name": "filter", "in": "query", "content": content}]}).parameters
    assert [p.name for p in key.type.properties] == ["x"]


MALFORMED = [
    {"openapi": "3.0.0", "paths": []},
    {"openapi": "3.0.0", "paths": {"/a": []}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": None}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": 3}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": {"q": {}}}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": ["q"]}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"in": "query"}]}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"name": "q", "in": ["query"]}]}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"name": "q", "schema": "string"}]}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"requestBody": []}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"requestBody": {"content": []}}}}},
    {"openapi": "3.0.0", "paths": {"/a": {"get": {"requestBody": {"content": {"x": {"schema": 1}}}}}}},
]


@pytest.mark.parametrize("document", MALFORMED)
def test_malformed_documents_are_errors_that_name_the_place(document):
    with pytest.raises(DocumentationError, match=r"/a|paths"):
        tools(document)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"paths": None},
        {"paths": {"/usr/bin": "x", "@/*": ["src"]}},
        {"paths": {1: {}, ("a",): 2}},
        {"openapi": {"paths": 1}, "paths": {}},
        {"name": "f", "parameters": {"properties": {"paths": {}}}},
    ],
)
def test_other_objects_are_not_claimed(data):
    assert not FORM.claims(data)


def test_paths_alone_are_claimed():
    assert [t.name for t in tools({"paths": {"/a": {"get": {}}}})] == ["GET /a"]


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=8)
# PyYAML does not read back some ends of lines that it writes; a fence would end the block.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029`"), max_size=40)
values = st.one_of(texts, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False))
kinds = st.sampled_from(["string", "integer", "number", "boolean"])
said = {"enum": st.lists(values, min_size=1, max_size=3), "default": values, "description": texts}
keys = st.fixed_dictionaries({"type": kinds}, optional=said)
flags = st.sampled_from([True, False, "true", "false", None])


@st.composite
def operations(draw):
    """An operation; each key has the schema and the flag that ``expected`` looks for."""
    names = draw(st.lists(words.filter(lambda name: name != "id"), unique=True, max_size=5))
    parameters, properties, required = [], {}, []
    for name in names:
        schema, flag, place = draw(keys), draw(flags), draw(st.sampled_from(["query", "cookie", "body"]))
        if place == "body":
            properties[name] = schema
            required += [name] if flag in (True, "true") else []
        else:
            flagged = {} if flag is None else {"required": flag}
            parameters.append({"name": name, "in": place, "schema": schema, **flagged})
    operation = {"description": draw(texts), "parameters": parameters}
    if properties:
        operation |= body({"type": "object", "properties": properties, "required": required})
    return operation


documents = st.lists(operations(), min_size=1, max_size=3).map(
    lambda drawn: {
        "openapi": "3.0.3",
        "info": {"title": "T"},
        "paths": {f"/p{i}/{{id}}": {"post": operation} for i, operation in enumerate(drawn)},
    }
)


def expected(operation):
    """Name, required, enum, default and description of each key."""
    yield "id", True, None, MISSING, ""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    listed = [(p["name"], p["schema"], p.get("required") in (True, "true")) for p in operation["parameters"]]
    listed += [(name, spec, name in schema["required"]) for name, spec in schema.get("properties", {}).items()]
    for name, spec, required in listed:
        enum = tuple(spec["enum"]) if "enum" in spec else None
        yield name, required, enum, spec.get("default", MISSING), spec.get("description", "")


@settings(max_examples=60, deadline=None)
@given(documents, st.sampled_from(STYLES))
def test_random_documents_extract_to_their_tools(document, style):
    before = deepcopy(document)
    fenced = f"Use this.\n\n```yaml\n{yaml.dump(document, **style)}```\n- Be kind: always\n"
    for source in (document, fenced):
        found = extract(source)
        for tool, item in zip(found.tools, document["paths"].values(), strict=True):
            assert tool.description == item["post"]["description"]
            read = [(p.name, p.required, p.enum, p.default, p.description) for p in tool.parameters]
            assert repr(read) == repr(list(expected(item["post"])))
    assert document == before
