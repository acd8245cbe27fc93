"""Every malformed input raises one DocumentationError: where, what was expected, what was found."""

import contextlib
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import DocumentationError, extract, extract_file

GOOD = '{"name": "ok", "parameters": {}}'


def message(source, read=extract, **options):
    with pytest.raises(DocumentationError) as caught:
        read(source, **options)
    return str(caught.value)


OK = json.loads(GOOD)
LOOP = [OK]
LOOP.append(LOOP)
NO_FORMS = ("Hello there.", "[]", '{"a": 1}', "[1, 2]", [], {}, ["text"], {"name": "x"})
BROKEN = [
    ('{"name": "f" "description": "d", "parameters": {}}', "3:14: expected ',' or '}'"),
    ('{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}', "4:1: expected ',' or '}'"),
    ("[{'name': 'f', 'input_parameters': {'a': {'type': 'str', 'description': 'it's'}}}]", "3:77: expected ',' or '}'"),
    ('{"description": "d", "name": "f", "inputSchema": {"type": object}}', "3:59: expected a value"),
    ('{"name" "f", "description": "d", "parameters": {}}', "3:9: expected ':'"),
    ('{name": "f", "description": "d", "parameters": {}}', "3:2: expected a value"),
    ('[ "name": "f", "description": "d", "parameters": {}}]', "3:9: expected ',' or ']'"),
]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *((text, "d.txt: expected tool documentation, found an empty text") for text in ("", " \n\t", "\ufeff")),
        *((source, "<text>: no tool documentation found; looked for: API-Bank objects") for source in NO_FORMS),
        *((source, f"<text>: expected a text, an object, a function, a pydantic model or a list of these, found {kind}")
          for source, kind in ((b"{}", "bytes"), (3, "int"))),
        (LOOP, f"<text>{'[1]' * 64}[0]['name']: expected at most 64 levels of nesting"),
        (f"Tools:\n  {GOOD}\nand\n[1, {GOOD}]",
         "d.txt:4:5: two tools of one name: 'ok' is documented at d.txt:2:3 already;"),
        ({"tools": [OK] * 2}, "<text>['tools'][1]: two tools of one name"),
        ([OK, {"name": "g", "description": "d", "arguments": {"a": "text"}}],
         "<text>[1]: tool 'g' is documented in no form that is known; found the keys name, description, arguments"),
        ([OK, {"name": "g", "description": "d", "paramters": {}}],
         "<text>[1]: tool 'g' is documented in no form that is known; found the keys name, description, paramters"),
        ({"type": "function", "function": {"name": "g", "paramters": {}}},
         "<text>['function']: tool 'g' is documented in no form that is known; found the keys name, paramters"),
        *((f"Use this:\n{GOOD}\n{broken}\nUser: hello", f"<text>:{expected}") for broken, expected in BROKEN),
        ('{\n  "name": "f",\n  "parameters" {}\n}', "d.json:3:16: expected ':', found '{}'"),
        ('[{"name": "f", "parameters": {}}', "<text>:1:33: expected ',' or ']', found the end of the text"),
        (f'{GOOD}\n{{"name": "g" "x": 1}}', "d.jsonl:2:14: expected ',' or '}', found '\"x\": 1}'"),
        (f"{GOOD}}}", "<text>:1:33: expected the end of the text or another JSON document, found '}'"),
        (f"{GOOD}\nhello", "d.json:2:1: expected a value, found 'hello'"),
        ("Tools:\nf(x)", "d.json:1:1: expected a value, found 'Tools:'"),
        ('{"a": 1, "a": 2}', "<text>:1:10: expected a key that is not there yet, found '\"a\": 2}'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_at_its_place(source, expected):
    origin = re.match(r"[\w.<>]+", expected)[0]
    assert message(source, origin=origin).startswith(expected)


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
            ({"parameters": PROPERTIES, "required": ["b"]}, ": 'required' names 'b'"),
            ({"input_parameters": [1]}, ": expected 'input_parameters' to be an object"),
            ({"input_parameters": {"a": 3}}, ", parameter 'a': expected an object"),
            ({"input_parameters": {"": {}}}, ": expected a parameter to have a name, found the text ''"),
        ]),
        *(({"name": "f", "parameters": {"properties": {"a": spec}}}, f"tool 'f', parameter 'a': expected {expected}")
          for spec, expected in [
            ("a city", "an object with 'type', found the text 'a city'"),
            ({"type": 3}, "'type' to be a text, found int 3"),
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
    path = tmp_path / "tools.json"
    assert message(path, extract_file) == f"{path}: no such file"
    assert "found a directory" in message(tmp_path, extract_file)
    path.write_bytes(b'{"name": "\xff"}')
    assert "expected UTF-8, found the byte 0xff at offset 10" in message(path, extract_file)
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    assert "expected at most 67108864 bytes, found 67108865" in message(path, extract_file)
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


SCRAPS = [*"-:#'\"{}[]|>&*!%@ \t\r\n/=a", "\n", "\n", "name: a", "paths:\n  /", "tools:\n", "openapi: 3.0", "  ", "```"]


@given(DATA, st.integers(min_value=0), st.text(max_size=2), st.lists(st.sampled_from(SCRAPS)).map("".join))
@settings(max_examples=60)
def test_nothing_but_documentation_errors(data, cut, inserted, scraps):
    beginnings = ("", "Tools:\n", "def f(a: int = ", "```yaml\nparameters:\n  a: ")
    texts = [f"{beginning}{data!r}" for beginning in beginnings]
    texts += [text[: cut % len(text)] + inserted + text[cut % len(text) + 1 :] for text in texts]
    for source in (data, scraps, *texts):
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
