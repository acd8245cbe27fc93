"""YAML in any text: what is read as data, what is found as documentation, and what is ignored."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import assert_linear
from lookup.errors import MisreadError
from lookup.forms.json_schema import FORM as JSON_SCHEMA
from lookup.forms.openapi import FORM as OPENAPI
from lookup.text.yaml_text import find_yaml
from lookup.yaml import reader as yaml_reader
from lookup.yaml.reader import read_documents, read_yaml

DOCUMENT = """\
openapi: "3.0.0"
info: {title: Albums}
paths:
  /albums/{id}:
    get:
      description: |
        Get an album.
        ```
        code: in the description
        ```
      parameters:
      - {name: market, in: query, schema: {type: string, enum: [yes, no, 2020-01-01]}}
components:
  schemas: {}
"""
SORTED = yaml.dump(yaml.safe_load(DOCUMENT))
TOOLS = """\
- name: get_weather
  description: 'The weather of a city: now.'
  parameters:
    type: object
    required: [city]
    properties:
      city:
        type: string
      name:
        type: string
- name: get_time
  description: The time.
  parameters: {type: object, properties: {}}
"""
OPERATION = """\
description: "Get an album.

  Long."
operationId: get-an-album
parameters:
- description: The market.
  in: query
  name: market
  required: 'true'
  schema:
    type: string
responses:
  content:
    text: a
"""


@pytest.fixture(params=["C parser", "Python parser"])
def parser(request, monkeypatch):
    if request.param == "Python parser":
        monkeypatch.setattr(yaml_reader, "_LOADER", yaml.SafeLoader)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without its C parser")


def plain(text):
    return read_yaml(text)[0]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12", 12), ("-3", -3), ("0", 0), ("0x1F", 31), ("1.5", 1.5), ("-0.5e+3", -500.0), (".5", 0.5),
        ("true", True), ("FALSE", False), ("null", None), ("~", None), ("", None),
        ("yes", "yes"), ("on", "on"), ("N", "N"), ("2020-01-01", "2020-01-01"), ("12:30", "12:30"), ("010", "010"),
        ("1_000", "1_000"), ("1e3", "1e3"), (".inf", ".inf"), (".NaN", ".NaN"), ("0b11", "0b11"), ("3.0.0", "3.0.0"),
        ("'12'", "12"), ('"a\\u00e9\\n"', "aé\n"), ("!!str 12", "12"), ("!!int '12'", 12), ("! 12", "12"),
        ("!local 12", "12"), ("!!python/object/apply:os.system [ls]", ["ls"]), ("!!binary aGk=", "aGk="),
    ],
)  # fmt: skip
def test_scalars(parser, written, value):
    read = plain(f"- {written}")[0]
    assert (read, type(read)) == (value, type(value))


def test_keys_are_texts(parser):
    assert plain("200: a\ntrue: b\n~: c\nyes: d\n? e\n: f\n") == {
        "200": "a",
        "true": "b",
        "~": "c",
        "yes": "d",
        "e": "f",
    }


def test_anchors_share_and_merge(parser):
    value = plain("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd:\n  <<: [*a, {z: 4}]\n")
    assert value["b"] is value["a"]
    assert value["c"] == {"x": 1, "y": 3}
    assert value["d"] == {"x": 1, "y": 2, "z": 4}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "c: 2}"),
        ("a: 1\n1: 2\n'1': 3", "'1': 3"),
        ("a: &a [1, *a]", "*a]"),
        ("a: &a 1\nb: &a [*a]", "*a]"),
        ("a: *b", "*b"),
        ("? [a]\n: b", "[a]"),
        ("a: 'b\nc: d\n", "'b"),
        ("a: [b\n", "[b"),
        ("a: b: c", ": c"),
        ("a: " + "9" * 641, "9" * 641),
        ("a: 1.0e+999", "1.0e+999"),
        ("a: \x01", "\x01"),
        ("a: \ud800", "\ud800"),
        ("a: 1\n---\nb: 2", "---\nb: 2"),
        ("# nothing", "# nothing"),
        ("<<: [1]", "[1]"),
        ("[" * 65, "["),
        ("a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 80)), None),
    ],
)
def test_refused(parser, text, found):
    with pytest.raises(MisreadError, match=r"expected .*, found") as caught:
        plain(text)
    if found:
        assert text.startswith(found, caught.value.position)


def test_billion_laughs_stays_small(parser):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(MisreadError, match="aliases"):
        plain("\n".join(lines))
    merges = [f"m{i}: &m{i} {{<<: *m{i - 1}, k{i}: 1}}" for i in range(1, 5000)]
    with pytest.raises(MisreadError, match="aliases"):
        plain("m0: &m0 {k0: 1}\n" + "\n".join(merges))


def test_spans_count_characters(parser):
    text = "\ufeffé: 日本\r\nb:\r\n  - c: '😀'\r\n\r\n  - {d: 1}\r\n\r\n# end\r\n"
    value, spans = read_yaml(text)
    stretch = {key: text[slice(*spans[id(node)])] for key, node in (("c", value["b"][0]), ("d", value["b"][1]))}
    assert stretch == {"c": "c: '😀'", "d": "{d: 1}"}
    assert text[slice(*spans[id(value)])].endswith("{d: 1}")


def test_documents_of_a_stream(parser):
    text = "%YAML 1.2\n---\na: &x 1\n...\n---\n- b\n"
    assert [(d.value, text[d.start : d.end]) for d in read_documents(text)] == [
        ({"a": 1}, "%YAML 1.2\n---\na: &x 1"),
        (["b"], "---\n- b"),
    ]
    with pytest.raises(MisreadError):
        read_documents("a: &x 1\n---\nb: *x\n")


characters = st.text(st.characters(codec="utf-8"))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), characters
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(characters, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(values, st.booleans(), st.sampled_from([None, True, False]), st.sampled_from([None, '"', "|"]))
def test_what_was_dumped_is_read_again(value, allow_unicode, flow, style):
    text = yaml.dump(value, allow_unicode=allow_unicode, default_flow_style=flow, default_style=style)
    assert plain(text) == value


# Texts around a block ``{}``.
AROUND = [
    "{}",
    "{}\nUser: hello: there\n",
    "The API of albums:\n\n{}\n\n- Note: be nice\n- Be brief\n",
    "Use\n```yaml\n{}```\nand answer: quickly.\n",
    "# API\n{}\n## Next: part\n",
    "note: this: is prose\n\n{}\nExample: {{'a': 1}}\n",
]
INDENTS = ["", "    ", "\t"]


def indented(block, indent):
    return "".join(indent + line if line.strip() else line for line in block.splitlines(keepends=True))


def names(pieces):
    found = []
    for piece in pieces:
        assert piece.error is None
        if isinstance(piece.value, dict) and OPENAPI.claims(piece.value):
            for tool, node in OPENAPI.read(piece.value):
                found.append(tool.name)
                assert id(node) in piece.spans
        else:
            items = piece.value.get("tools", piece.value) if isinstance(piece.value, dict) else piece.value
            for item in items if isinstance(items, list) else [items]:
                (entry,) = JSON_SCHEMA.read(item.get("function", item))
                found.append(entry[0].name)
                assert id(item) in piece.spans
    return found


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("indent", INDENTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (DOCUMENT, ["GET /albums/{id}"]),
        (SORTED, ["GET /albums/{id}"]),
        (SORTED.replace("openapi: 3.0.0\n", ""), ["GET /albums/{id}"]),
        (TOOLS, ["get_weather", "get_time"]),
        ("tools:\n" + TOOLS, ["get_weather", "get_time"]),
        ("functions:\n" + indented(TOOLS, "  "), ["get_weather", "get_time"]),
        ("tools:\n- name: f\n  description: Bare.\n", ["f"]),
        ("- type: function\n  function:\n    name: f\n    parameters:\n      type: object\n", ["f"]),
        ("name: f\ndescription: F.\nparameters:\n  type: object\n  properties:\n    a: {type: string}\n", ["f"]),
        ("description: F.\ninputSchema: {\n  type: object,\n  properties: {a: {}}\n}\nname: f\n", ["f"]),
        (f"== Docs for GET /albums/{{id}} == \n{OPERATION}", ["GET /albums/{id}"]),
    ],
)
def test_blocks_are_found_wherever_they_stand(around, indent, newline, block, expected):
    text = around.format(indented(block, indent)) if indent else around.format(block)
    text = text.replace("\n", newline)
    pieces = list(find_yaml(text))
    assert names(pieces) == expected
    (piece,) = pieces
    stretch = text[piece.start : piece.end].replace(newline, "\n").strip()
    assert stretch.splitlines()[-1].strip() == block.strip().splitlines()[-1].strip()


def test_several_blocks_in_a_row():
    single = "name: {}\nparameters: {{}}\n"
    text = f"{DOCUMENT}\n{TOOLS}\nThen\n" + "".join(single.format(name) for name in "ab") + f"\n\n{SORTED}"
    found = ["GET /albums/{id}", "get_weather", "get_time", "a", "b", "GET /albums/{id}"]
    assert names(find_yaml(text)) == found


def test_operations_under_headings():
    text = (
        "Base url: x\nEndpoints:\n== Docs for GET /albums/{id} == \n" + OPERATION + "\n"
        "== Docs for DELETE /me == \n{}\n\n== Docs for POST /x/{{y}} == \nrequestBody:\n  content:\n    a/b:\n"
        "      schema:\n        properties:\n          k: {{}}\n\n\nIf the API path contains: x\n"
        "== Docs for GET /nothing ==\n\nThought: go\n"
    )
    pieces = list(find_yaml(text))
    assert names(pieces) == ["GET /albums/{id}", "DELETE /me", "POST /x/{y}"]
    tools = [tool for piece in pieces for tool, _ in OPENAPI.read(piece.value)]
    keys = [[(p.name, p.required) for p in tool.parameters] for tool in tools]
    assert keys == [[("id", True), ("market", True)], [], [("y", True), ("k", False)]]


def test_documentation_that_breaks_off():
    heading = "== Docs for GET /albums/{id} == \n"
    (piece,) = find_yaml(f"{heading}{OPERATION}  headers:\n    'X-\n\n\nIf the API path")
    ((tool, _),) = OPENAPI.read(piece.value)
    assert [p.name for p in tool.parameters] == ["id", "market"]
    assert len(piece.notes) == 1
    for cut in ('description: "Get an', "parameters:\n- in: query\n  name: 'a", "parameters:\n- {in: query"):
        (piece,) = find_yaml(f"{heading}{cut}\n\n\nIf the API path")
        assert piece.error
    typed = "- in: query\n  name: a\n  schema:\n    type: string\n"
    (piece,) = find_yaml(f"{heading}parameters:\n{typed * 80}- in: query\n  name: b\n\n\nIf")
    assert piece.error


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENT.replace("{title: Albums}", "{title: Albums"),
        DOCUMENT.replace("market,", "market, name: b,"),
        TOOLS.replace("'The weather", "The weather"),
        "name: f\ndescription: a: b\nparameters:\n  x: 1\n",
    ],
)
def test_broken_documentation_has_an_error(text):
    (piece,) = find_yaml(f"Tools\n\n{text}\nUser: hi\n")
    assert piece.error
    assert piece.start <= piece.error.position <= piece.end


ORDINARY = {
    "prose": "The paths: many.\nopenapi: what is it\nname: Bob\ndescription: A man: tall.\nUser: hello\n",
    "front matter": "---\nname: review\ndescription: Reviews code.\ntools: ['a', 'b']\n---\n# Review\n\nDo: it.\n",
    "dialogue": "User: find the paths: /a\nAI: name: x\ntools: none\nparameters: none\n",
    "json": '{\n  "openapi": "3.0.0",\n  "paths": {\n    "/a": {}\n  },\n  "name": "f",\n  "parameters": {}\n}\n',
    "python": "class Tool:\n    name: str\n    description: str = ''\n    parameters: dict\n    tools: list = [\n",
    "typescript": "const f = {\n  name: 'f',\n  description: 'F.',\n  parameters: {\n    type: 'object',\n  },\n};\n",
    "bullets": "Each tool has:\n- name: the name\n- description: what: it does\n- parameters: the keys, e.g. {a\n",
    "people": "- name: Bob\n  description: a man\n  age: 3\n- name: Ann\n",
    "json below": 'name: f\ndescription: F.\nparameters:\n{"type": "object"}\n',
    "a mere heading": "GET /movie/{movie_id}/keywords\nGET /a to list: b\n\n== Docs for the API ==\nparameters:\n- a\n",
    "a version": "openapi: 3\nswagger: 2.0\n\nmore\n",
    "openapi without paths": "openapi: 3.0.0\ninfo:\n  title: 'broken\n",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_text_is_left_alone(text):
    assert list(find_yaml(text)) == []
    assert list(find_yaml(f"Hello\n\n{text}\nBye")) == []


scraps = [*"-:#'\"{}[]|>&*!%@ \t\r\n/=a", "\n", "\n", "name: a", "paths:\n  /", "tools:", "openapi: 3.0", "  "]


@given(st.lists(st.sampled_from(scraps)).map("".join))
def test_any_text_is_searched_without_an_exception(text):
    for piece in find_yaml(text):
        assert 0 <= piece.start <= piece.end <= len(text)


WORST = {
    "versions": lambda n: "openapi: 3\n" * n,
    "versions deeper": lambda n: "".join(" " * (i % 100) + "openapi: 3\n" for i in range(n)),
    "paths": lambda n: "paths:\n  /a:\n" * n,
    "known keys above": lambda n: "info: x\nservers:\n" * n + "openapi: 3\npaths:\n  /a: {}\n",
    "nested above": lambda n: "    a\n" * n + "openapi: 3\n" + "    a\n" * n + "openapi: 3\n" * n,
    "items": lambda n: "- name: a\n" * n,
    "tools": lambda n: "tools:\n- name: a\n" * n,
    "tools with a broken one": lambda n: "- name: a\n  parameters: {}\n" * n + "  'a\n",
    "names": lambda n: "name: a\nparameters: {}\n" * n,
    "broken names": lambda n: "name: 'a\nparameters: {}\n" * (n // 2),
    "headings": lambda n: "== Docs for GET /a ==\n" * n,
    "broken headings": lambda n: "== Docs for GET /a ==\ndescription: 'a\n" * (n // 4),
    "equal signs": lambda n: "== Docs for GET /" + "= " * n + "=" * n + "x",
    "blank lines": lambda n: "name: a\n" + "\n" * n + "parameters: {}\n" + "\n" * n,
    "white space": lambda n: "name: a\nparameters: {}\n" + " " * n + "\n" + "\t" * n + "tools:" + " " * n,
    "words before tools": lambda n: "paths name: tools\n" + "tools " * n,
    "deep brackets": lambda n: "name: a\nparameters: " + "[" * n,
    "deep braces": lambda n: "name: a\nparameters: " + "{a: " * n,
    "deep lines": lambda n: "name: a\nparameters:\n" + "\n".join(" " * i + "a:" for i in range(1, int(n**0.5))),
    "cycles": lambda n: "name: a\nparameters: &a [" + "*a, " * n + "]",
    "aliases": lambda n: "name: a\nparameters: &a {x: 1}\ninputs:\n" + "- *a\n" * n,
    "merges": lambda n: (
        "name: a\nparameters: &a {" + ", ".join(f"k{i}: 1" for i in range(n // 10)) + "}\ninputs:\n" + "- <<: *a\n" * n
    ),
    "long plain scalar": lambda n: "name: a\nparameters: {a: " + "x " * n + "}",
    "unclosed quotes": lambda n: "name: a\nparameters: {}\ninputs:\n" + "- 'a\n" * n,
    "tabs": lambda n: "\tname: a\n\tparameters:\n" + "\t\ta: b\n" * n,
    "colons": lambda n: "name: a\nparameters: {}\ninputs: " + ": " * n,
    "questions": lambda n: "name: a\nparameters: {}\ninputs:\n  " + "? " * n,
    "comments": lambda n: "name: a\n" + "# name: a\n" * n + "parameters: {}\n",
    "spaces and colons": lambda n: "name: a\n" + "a" + " " * n + "\n" + "a" * n + " :" * n,
}


def read(text):
    list(find_yaml(text))


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    assert_linear(read, WORST[worst], 4000)
