"""OpenAPI and Swagger documents: what counts as a key, errors, and drawn documents."""

import pytest
from seams import key_text, only, tool_text

from lookup import DocumentationError, extract
from tools import called

TEXT = {"type": "string"}


def tool_of(operation, **document):
    """The tool of a document with one operation."""
    return only({"openapi": "3.0.0", "paths": {"/things": {"get": operation}}, **document})


def query(name, **fields):
    return {"name": name, "in": "query", **fields}


def body(schema, **request):
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, **request}}


def test_what_an_operation_is_called_and_says():
    y = {"name": "y", "in": "path", "required": "false"}
    paths = {
        "/a": {"summary": "no operation", "get": {"operationId": "read-a b", "description": "", "summary": "S"}},
        "/b/{x}/{y}": {"DELETE": {"description": "D", "summary": "S", "parameters": [y]}, "x-own": {}},
        "x-own": {"get": {}},
    }
    found = extract({"openapi": "3.1.0", "paths": paths}).tools
    assert list(map(tool_text, found)) == ["read-a b() -> S", "DELETE /b/{x}/{y}(x!: str, y!: any) -> D"]
    assert list(extract({"paths": {"/a": {"get": {}}}})) == ["GET /a"]
    assert {p.rule for p in found[1].parameters} == {"path variable"}


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
DEFAULT = {"type": "integer", "default": "20"}


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
        (body({"anyOf": UNION}), ["a: str", "b: any"], []),
        (body({"oneOf": [UNION[0]] * 2}), ["a!: str"], ["not checked: oneOf"]),
        (body(NAMES, required=True), ["body!: list[str]"], []),
        (body(NAMES, required=False), ["body: list[str]"], []),
        (body(NAMES, description="Names."), ["body: list[str] # Names."], []),
        ({"requestBody": {"content": {"text/xml": FORM, **JSON}}}, ["a: any"], ["text/xml"]),
        ({"requestBody": {"content": {"multipart/form-data": FORM}}}, ["b: any"], []),
        ({"requestBody": {"content": {"a/b": FORM, "text/json": JSON["application/json"]}}}, ["a: any"], ["a/b"]),
        ({"parameters": [{"name": name, "in": "header", "schema": TEXT} for name in (*PROTOCOL, "X-Trace")]},
         ["X-Trace: str"], PROTOCOL),
        ({"parameters": [query("filter", content=JSON)]}, ["filter: {a: any}"], []),
        ({"parameters": [query("a", required="true"), query("b", required="false"), query("d", schema=DEFAULT)]},
         ["a!: any", "b: any", 'd: int = "20"'], []),
        ({"parameters": [query("e", required=True, schema={"type": "object", "required": ["x"]})]}, ["e!: dict"], []),
    ],
)  # fmt: skip
def test_what_is_a_key(operation, keys, noted):
    found = tool_of(operation, components=REFERENCES)
    assert list(map(key_text, found.parameters)) == keys
    assert all(any(said in note for note in found.notes) for said in noted) and len(found.notes) == len(noted)


CARD = {"properties": {"kind": {"const": "card"}, "number": TEXT}, "required": ["kind", "number"]}
TRANSFER = {"properties": {"id": {"readOnly": True}, "kind": {"const": "transfer"}, "iban": TEXT}}
EITHER = {"enum": ["card", "transfer"]}
KINDS = [CARD, TRANSFER | {"required": ["id", "kind", "iban"]}]


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"oneOf": KINDS}, "oneOf"),
        ({"anyOf": [each | {"additionalProperties": False} for each in KINDS]}, "anyOf"),
        ({"allOf": [{"properties": {"kind": EITHER}, "required": ["kind"]}, {"oneOf": KINDS}]}, "oneOf"),
        ({"$ref": "#/components/schemas/Payment"}, "oneOf"),
        ({"properties": {"kind": EITHER, "number": TEXT, "iban": TEXT}, "required": ["kind"], "if": CARD,
          "else": {"required": ["iban"]}}, "if"),
    ],
    ids=range(5),
)  # fmt: skip
@pytest.mark.parametrize("swagger", [False, True])
def test_conditions_of_a_body_are_told_and_checked(schema, word, swagger):
    dry, place = query("dry", schema=TEXT), {"name": "payment", "in": "body", "schema": schema}
    operation = {"parameters": [dry, place]} if swagger else {"parameters": [dry], **body(schema)}
    found = tool_of(operation, components={"schemas": {"Payment": {"oneOf": KINDS}}})
    assert found.unenforced == (f"several parameters together: {word}",) and found.parameter("kind").required
    right = [{"kind": "transfer", "iban": "x"}, {"kind": "card", "number": "1", "dry": "yes"}]
    wrong = [{"kind": "transfer"}, {"kind": "card", "dry": "yes"}, {"kind": "transfer", "number": "1"}]
    for arguments in right + wrong:
        assert called(found, arguments).valid == (arguments in right)


def test_operations_of_one_body_share_what_was_read_of_it():
    paths = {f"/{n}": {"post": body({"$ref": "#/components/schemas/B"})} for n in "ab"}
    shared = {"properties": {"k": TEXT}, "required": ["k", "gone"]}
    one, other = extract({"openapi": "3.0.0", "paths": paths, "components": {"schemas": {"B": shared}}}).tools
    assert one.parameter("k") is other.parameter("k")
    assert [note.split(":")[0] for note in one.notes + other.notes] == ["tool 'POST /a'", "tool 'POST /b'"]


def test_a_body_whose_keys_are_too_many_to_read_again_is_one_value():
    schema = {"properties": {f"k{n}": {} for n in range(1000)}, "anyOf": [TEXT, {"type": "integer"}]}
    paths = {f"/{n}": {"put": body({"$ref": "#/components/schemas/B"})} for n in range(60)}
    tools = extract({"openapi": "3.0.0", "paths": paths, "components": {"schemas": {"B": schema}}}).tools
    assert len(tools[0].parameters) == 1000 and not tools[-1].parameter("body").schema.unsatisfiable


def test_an_operation_overrides_the_parameters_of_its_path():
    shared = [query("a", schema=TEXT), query("b", schema=TEXT), query("c", required=True, schema=TEXT)]
    own = [query("a", schema={"type": "integer"}), {"name": "b", "in": "header"}, query("c", required=False)]
    found = only({"paths": {"/": {"parameters": shared, "get": {"parameters": own}}}})
    assert tool_text(found) == "GET /(b: str, a: int, c: any)"
    assert len(found.notes) == 1 and "'b'" in found.notes[0]
    assert [p.rule for p in found.parameters] == ["habit", "habit", "flag"]


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


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *(({"openapi": "3.0.0", "paths": {"/things": {"get": operation}}}, "/things") for operation in (
            None, {"operationId": 3}, {"requestBody": []}, body(1), {"requestBody": {"content": []}},
            *({"parameters": wrong} for wrong in ({"q": {}}, ["q"], [{"in": "query"}], [{"name": "q", "in": ["query"]}],
                                                  [query("q", schema="a text")])),
        )),
        ({"openapi": "3.0.0", "paths": []}, "paths"), ({"openapi": "3.0.0", "paths": {"/a": []}}, "/a"),
        ({"paths": None}, "no tool"), ({"paths": {"/usr/bin": "x", "@/*": ["src"]}}, "no tool"),
        ({"paths": {1: {}, ("a",): 2}}, "no tool"), ({"openapi": {"paths": 1}, "paths": {}}, "no tool"),
    ],
)  # fmt: skip
def test_malformed_documents_are_errors_that_name_the_place_or_no_documents(data, said):
    with pytest.raises(DocumentationError, match=said):
        extract(data)
