"""Every malformed input raises one DocumentationError: where, what was expected, what was found."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import DocumentationError, extract, extract_file

GOOD = '{"name": "ok", "parameters": {}}'


def message(source, **options):
    with pytest.raises(DocumentationError) as caught:
        extract(source, **options)
    return str(caught.value)


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_empty(text):
    assert message(text, origin="docs.txt") == "docs.txt: expected tool documentation, found an empty text"


@pytest.mark.parametrize("source", ["Hello there.", "[]", '{"a": 1}', "[1, 2]", [], {}, ["text"], {"name": "x"}])
def test_no_tool_names_the_forms(source):
    found = message(source)
    assert all(said in found for said in ("no tool documentation found", "input_parameters", "inputSchema"))


def test_sources_of_other_types_and_data_in_itself():
    assert "found bytes" in message(b"{}") and "found int" in message(3)
    for loop in ([], [json.loads(GOOD)]):
        loop.append(loop)
        assert "at most 64 levels" in message(loop)


def test_two_tools_of_one_name_show_both_places():
    text = f"Tools:\n  {GOOD}\nand\n[1, {GOOD}]"
    expected = "d.txt:4:5: two tools of one name: 'ok' is documented at d.txt:2:3 already;"
    assert message(text, origin="d.txt").startswith(expected)
    assert "<text>['tools'][1]: two tools of one name" in message({"tools": [json.loads(GOOD)] * 2})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "name": "f",\n  "parameters" {}\n}', "d.json:3:16: expected ':', found '{}'"),
        ('[{"name": "f", "parameters": {}}', "<text>:1:33: expected ',' or ']', found the end of the text"),
        (f'{GOOD}\n{{"name": "g" "x": 1}}', "d.jsonl:2:14: expected ',' or '}', found '\"x\": 1}'"),
        (f"{GOOD}}}", "<text>:1:33: expected the end of the text or another JSON document, found '}'"),
        (f"{GOOD}\nhello", "d.json:2:1: expected a value, found 'hello'"),
        ("Tools:\nf(x)", "d.json:1:1: expected a value, found 'Tools:'"),
        ('{"a": 1, "a": 2}', "<text>:1:10: expected a key that is not there yet, found '\"a\": 2}'"),
    ],
)
def test_malformed_json(text, expected):
    assert message(text, origin=expected.partition(":")[0]) == expected


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ('{"name": "f" "description": "d", "parameters": {}}', 3),
        ('{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}', 4),
        ("[{'name': 'f', 'input_parameters': {'a': {'type': 'str', 'description': 'it's'}}}]", 3),
        ('{"description": "d", "name": "f", "inputSchema": {"type": object}}', 3),
        ('{"name" "f", "description": "d", "parameters": {}}', 3),
        ('{name": "f", "description": "d", "parameters": {}}', 3),
        ('[ "name": "f", "description": "d", "parameters": {}}]', 3),
    ],
)
def test_a_broken_tool_in_prose_is_an_error(broken, line):
    found = message(f"Use this:\n{GOOD}\n{broken}\nUser: hello")
    assert found.startswith(f"<text>:{line}:") and ": expected " in found


def test_a_tool_in_an_unknown_form_beside_others_is_not_dropped():
    other = {"name": "g", "description": "d", "arguments": {"a": "text"}}
    assert "<text>[1]: tool 'g' is documented in no form that is known" in message([json.loads(GOOD), other])


PROPERTIES = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ({"name": 5, "parameters": {}}, "expected a text under 'name', found int 5"),
        ({"name": " ", "parameters": {}}, "expected a text under 'name', found the text ' '"),
        ({"description": "d", "parameters": PROPERTIES}, "a tool needs a name"),
        *(({"name": "f", **fields}, f"tool 'f'{expected}") for fields, expected in [
            ({"description": 1, "parameters": {}}, ": expected 'description' to be a text"),
            ({"parameters": {"properties": []}}, ": expected 'properties' to be an object"),
            ({"parameters": [{"name": "a"}, {"type": "string"}]}, ": expected 'parameters' to hold objects"),
            ({"parameters": PROPERTIES | {"required": "a"}}, ": expected 'required' to be a list"),
            ({"parameters": PROPERTIES | {"required": [1]}}, ": expected 'required' to hold keys"),
            ({"parameters": PROPERTIES | {"required": ["b"]}}, ": 'required' names 'b'"),
            ({"input_parameters": [1]}, ": expected 'input_parameters' to be an object"),
            ({"input_parameters": {"a": 3}}, ", parameter 'a': expected an object"),
            ({"input_parameters": {"": {}}}, ": expected a parameter's key to be a text"),
        ]),
        *(({"name": "f", "parameters": {"properties": {"a": spec}}}, f"tool 'f', parameter 'a': expected {expected}")
          for spec, expected in [
            ("string", "an object with 'type', found the text 'string'"),
            ({"type": 3}, "'type' to be a text, found int 3"),
            ({"type": "string", "enum": []}, "'enum' to be a list with members, found a list of 0"),
            ({"type": "string", "enum": "a"}, "'enum' to be a list with members, found the text 'a'"),
            ({"required": "perhaps"}, "'required' to be true or false, found the text 'perhaps'"),
            ({"description": ["d"]}, "'description' to be a text, found a list of 1"),
        ]),
    ],
)  # fmt: skip
def test_malformed_tools(tool, expected):
    assert expected in message(tool)
    found = message(f"Tools:\n {json.dumps(tool)}")
    assert found.startswith("<text>:2:2: ") and expected in found


def test_files(tmp_path):
    def file_message(path):
        with pytest.raises(DocumentationError) as caught:
            extract_file(path)
        return str(caught.value)

    path = tmp_path / "tools.json"
    assert file_message(path) == f"{path}: no such file"
    assert "found a directory" in file_message(tmp_path)
    path.write_bytes(b'{"name": "\xff"}')
    assert "expected UTF-8, found the byte 0xff at offset 10" in file_message(path)
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    assert "expected at most 67108864 bytes, found 67108865" in file_message(path)
    path.write_text(f"\ufeff{GOOD}", encoding="utf-8")
    assert list(extract_file(str(path))) == ["ok"]


WORDS = st.sampled_from(
    [
        "name", "parameters", "properties", "required", "type", "function", "input_parameters", "enum",
        "$ref", "anyOf", "items", "description", "object", "tools", "optional", "#/a", "f",
    ]
)  # fmt: skip
LEAVES = WORDS | st.none() | st.booleans() | st.integers() | st.text()
DATA = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(WORDS | st.integers(), inner), max_leaves=30
)


@given(DATA, st.integers(min_value=0), st.text(max_size=2))
@settings(max_examples=60)
def test_nothing_but_documentation_errors(data, cut, inserted):
    beginnings = ("", "Tools:\n", "def f(a: int = ", "```yaml\nparameters:\n  a: ")
    texts = [f"{beginning}{data!r}" for beginning in beginnings]
    texts += [text[: cut % len(text)] + inserted + text[cut % len(text) + 1 :] for text in texts]
    for source in (data, *texts):
        with contextlib.suppress(DocumentationError):
            extract(source)
    with contextlib.suppress(DocumentationError):
        extract(texts[len(beginnings)], origin="t.json")


@pytest.mark.parametrize("where", ["enum", "items", "default"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a"}, 10**700, "\ud800"])
def test_values_that_no_call_can_carry(where, value):
    spec = {"enum": [value]} if where != "default" else {"default": value}
    spec = {"type": "array", "items": spec} if where == "items" else spec
    with pytest.raises(DocumentationError, match=r"parameter 'k': expected '(enum|default)' to hold values"):
        extract({"name": "f", "parameters": {"type": "object", "properties": {"k": spec}}})
