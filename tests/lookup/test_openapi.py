"""OpenAPI and Swagger documents: what counts as a key, errors, and drawn documents."""

from copy import deepcopy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from seams import key_text, tool_text

from lookup import MISSING, DocumentationError, extract

STYLES = [{"sort_keys": False, "allow_unicode": wide, "width": width} for wide in (True, False) for width in (40, 9999)]
TEXT = {"type": "string"}


def only(operation, path="/things", **document):
    """The only tool of a document with one operation."""
    (tool,) = extract({"openapi": "3.0.0", "paths": {path: {"get": operation}}, **document}).tools
    return tool


def query(name, **fields):
    return {"name": name, "in": "query", **fields}


def body(schema, **request):
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, **request}}


def test_what_an_operation_is_called_and_says():
    paths = {
        "/a": {"summary": "no operation", "get": {"operationId": "read-a b", "description": "", "summary": "S"}},
        "/b/{x}": {"DELETE": {"description": "D", "summary": "S"}, "x-own": {}},
        "x-own": {"get": {}},
    }
    found = extract({"openapi": "3.1.0", "paths": paths}).tools
    assert list(map(tool_text, found)) == ["read-a b() -> S", "DELETE /b/{x}(x!: str) -> D"]
    assert list(extract({"paths": {"/a": {"get": {}}}})) == ["GET /a"]


def test_requiredness_of_parameters():
    parameters = [
        query("a", required="true", schema=TEXT),
        query("b", required="false", schema=TEXT),
        query("c", schema={"type": "integer", "default": "20"}),
        {"name": "id", "in": "path", "required": "false", "schema": TEXT},
        query("d"),
        query("e", required=True, schema={"type": "object", "required": ["x"]}),
    ]
    found = only({"parameters": parameters}, path="/{other}/{id}")
    assert [(p.name, p.required, p.rule) for p in found.parameters] == [
        ("other", True, "path variable"), ("a", True, "flag"), ("b", False, "flag"), ("c", False, "default"),
        ("id", True, "path variable"), ("d", False, "habit"), ("e", True, "flag"),
    ]  # fmt: skip
    assert found.parameter("c").default == "20"
    assert (found.parameter("other").raw_type, found.parameter("other").type.kind) == ("", "str")


REFERENCES = {
    "parameters": {
        "first": {"$ref": "#/components/parameters/second"},
        "second": query("q", schema={"$ref": "#/components/schemas/Q"}),
    },
    "schemas": {
        "Q": {**TEXT, "enum": ["x"], "description": "Q."},
        "A": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    },
}
PLACE = {"type": "object", "required": ["name"], "properties": {"name": {}, "type": TEXT}}
UNION = [{"$ref": "#/components/schemas/A"}, {"properties": {"b": {}}, "required": ["b"]}]
FORM = {"schema": {"type": "object", "properties": {"b": {}}}}
JSON = {"application/json": {"schema": {"type": "object", "properties": {"a": {}}}}}
PROTOCOL = ["Accept", "content-type", "Authorization"]
NAMES = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("operation", "keys", "noted"),
    [
        ({"parameters": [{"$ref": f"#/components/parameters/{n}"} for n in ("first", "third")]},
         ['q: str in ["x"] # Q.'], ["third", "leads nowhere"]),
        ({"parameters": [query("ids", required="true", schema=TEXT)],
          **body({"required": ["uris", "place"],
                  "properties": {"ids": NAMES, "made": {"readOnly": True}, "place": PLACE}}),
          "responses": body({"properties": {"leak": {}}})["requestBody"]},
         ["ids!: str", "place!: {name!: any, type: str}"],
         ["'uris'", "'ids': documented in the query and in the body", "'made'"]),
        ({"parameters": [query("ids", schema=TEXT)], **body({"required": ["ids"], "properties": {"ids": NAMES}})},
         ["ids!: str"], ["'ids'"]),  # a later place can make it required
        (body({"allOf": UNION}), ["a!: str", "b!: any"], []),
        (body({"anyOf": UNION}), ["a: str", "b: any"], ["not checked: anyOf"]),
        (body({"oneOf": UNION}), ["a: str", "b: any"], ["not checked: oneOf"]),
        (body(NAMES, required=True), ["body!: list[str]"], []),
        (body(NAMES, required=False), ["body: list[str]"], []),
        (body(NAMES, description="Names."), ["body: list[str] # Names."], []),
        ({"requestBody": {"content": {"text/xml": FORM, **JSON}}}, ["a: any"], ["text/xml"]),
        ({"requestBody": {"content": {"multipart/form-data": FORM}}}, ["b: any"], []),
        ({"requestBody": {"content": {"a/b": FORM, "text/json": JSON["application/json"]}}}, ["a: any"], ["a/b"]),
        ({"parameters": [{"name": name, "in": "header", "schema": TEXT} for name in (*PROTOCOL, "X-Trace")]},
         ["X-Trace: str"], PROTOCOL),
        ({"parameters": [query("filter", content=JSON)]}, ["filter: {a: any}"], []),
    ],
)  # fmt: skip
def test_what_is_a_key(operation, keys, noted):
    found = only(operation, components=REFERENCES)
    assert list(map(key_text, found.parameters)) == keys
    assert all(any(said in note for note in found.notes) for said in noted) and len(found.notes) == len(noted)


def test_an_operation_overrides_the_parameters_of_its_path():
    shared = [query("a", schema=TEXT), query("b", schema=TEXT), query("c", required=True, schema=TEXT)]
    own = [query("a", schema={"type": "integer"}), {"name": "b", "in": "header"}, query("c", required=False)]
    (found,) = extract({"paths": {"/": {"parameters": shared, "get": {"parameters": own}}}}).tools
    assert tool_text(found) == "GET /(b: str, a: int, c: any)"
    assert len(found.notes) == 1 and "'b'" in found.notes[0]


def test_swagger_2():
    limit, pet = {"$ref": "#/parameters/limit"}, {"name": "pet", "in": "body", "required": True}
    source = {"name": "from", "in": "formData", "type": "string", "required": True, "enum": ["a"]}
    document = {
        "swagger": "2.0",
        "definitions": {"Pet": {"type": "object", "required": ["tag"], "properties": {"tag": TEXT}}},
        "parameters": {"limit": query("limit", type="integer", default=5)},
        "paths": {
            "/pets": {
                "post": {"parameters": [limit, {**pet, "schema": {"$ref": "#/definitions/Pet"}}]},
                "put": {"parameters": [{"name": "kinds[]", "in": "formData", **NAMES}, source]},
            }
        },
    }
    assert list(map(tool_text, extract(document).tools)) == [
        "POST /pets(limit: int = 5, tag!: str)", 'PUT /pets(kinds[]: list[str], from!: str in ["a"])',
    ]  # fmt: skip


@pytest.mark.parametrize("operation", [
    None, {"operationId": 3}, {"parameters": {"q": {}}}, {"parameters": ["q"]}, {"parameters": [{"in": "query"}]},
    {"parameters": [{"name": "q", "in": ["query"]}]}, {"parameters": [query("q", schema="string")]},
    {"requestBody": []}, {"requestBody": {"content": []}}, {"requestBody": {"content": {"x": {"schema": 1}}}},
])  # fmt: skip
def test_malformed_operations_are_errors_that_name_the_place(operation):
    with pytest.raises(DocumentationError, match="/things"):
        only(operation)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"openapi": "3.0.0", "paths": []}, "paths"), ({"openapi": "3.0.0", "paths": {"/a": []}}, "/a"),
        ({"paths": None}, "no tool"), ({"paths": {"/usr/bin": "x", "@/*": ["src"]}}, "no tool"),
        ({"paths": {1: {}, ("a",): 2}}, "no tool"), ({"openapi": {"paths": 1}, "paths": {}}, "no tool"),
    ],
)  # fmt: skip
def test_other_objects_are_errors_or_no_documents(data, said):
    with pytest.raises(DocumentationError, match=said):
        extract(data)


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


@settings(max_examples=40)
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
