"""YAML in any text: what is read as data, where documentation is found, and what is ignored."""

from textwrap import indent

import pytest
import yaml
from seams import tool_text

from lookup import DocumentationError, extract

DOCUMENT = """\
openapi: "3.0.0"
info: {title: Albums}
paths:
  /albums/{id}:
    get:
      description: |
        Get an album.
      parameters:
      - {name: market, in: query, schema: {type: string, enum: [yes, no, 2020-01-01]}}
components:
  schemas: {}
"""
TOOLS = """\
- name: get_weather
  description: 'The weather of a city: now.'
  parameters: {type: object, required: [city], properties: {city: {type: string}}}
- {name: get_time, description: The time., parameters: {type: object, properties: {}}}
"""
OPERATION = """\
cache: {}
description: "Get an album.

  Long."
operationId: get-an-album
parameters:
- description: The market.
  in: query
  name: market
  required: 'true'
  schema: {type: string}
responses:
  content:
    text: a
"""
HEADING = "== Docs for GET /albums/{id} == \n"


def plain(text):
    """The value of a text of YAML, documented as a default."""
    tool = "name: f\nparameters:\n properties:\n  a:\n   default:\n" + indent(text, "    ")
    return extract(tool, origin="t.yaml")["f"].parameters[0].default


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12", 12), ("-3", -3), ("0", 0), ("0x1F", 31), ("1.5", 1.5), ("-0.5e+3", -500.0), (".5", 0.5),
        ("true", True), ("FALSE", False), ("null", None), ("~", None), ("", None),
        ("yes", "yes"), ("on", "on"), ("N", "N"), ("2020-01-01", "2020-01-01"), ("12:30", "12:30"), ("010", "010"),
        ("1_000", "1_000"), ("1e3", "1e3"), (".inf", ".inf"), (".NaN", ".NaN"), ("0b11", "0b11"), ("3.0.0", "3.0.0"),
        ("'12'", "12"), ('"a\\u00e9\\n"', "aé\n"), ("!!str 12", "12"), ("!!int '12'", 12), ("!!int a", "a"),
        ("!!bool x", "x"), ("!local 12", "12"), ("!!python/object/apply:os.system [ls]", ["ls"]),
        ("9" * 640, 10**640 - 1), ("!!binary aGk=", "aGk="), ("!!float [1]", [1]), ("!!set {a}", {"a": None}),
    ],
)  # fmt: skip
def test_scalars(written, value):
    read = plain(f"- {written}")[0]
    assert (read, type(read)) == (value, type(value))


def test_keys_are_texts_and_anchors_share_and_merge():
    text = "200: a\ntrue: b\n~: c\nyes: d\n? e\n: f\n"
    assert plain(text) == {"200": "a", "true": "b", "~": "c", "yes": "d", "e": "f"}
    value = plain(
        "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: &d\n  <<: [*a, {z: 4}]\n  x: 5\ne: {<<: *d}\nf: *d\n"
    )
    assert value["b"] == value["a"] and value["f"] == value["d"] == value["e"] == {"x": 5, "y": 2, "z": 4}
    assert value["c"] == {"x": 1, "y": 3}


LAUGHS = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
MERGES = [f"m{i}: {{<<: *m, k{i}: 1}}" for i in range(1, 5000)]


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "c: 2}", "a key that is not there yet"),
        ("a: 1\n1: 2\n'1': 3", "'1': 3", "a key that is not there yet"),
        ("a: &a [1, *a]", "*a]", "an anchor further up"),
        ("a: &a 1\nb: &a [*a]", "*a]", "an anchor further up"),
        ("a: *b", "*b", "an anchor further up"),
        ("a: &x 1\n---\nb: *x\n", "*x", "an anchor further up"),
        ("? [a]\n: b", "[a]", "a text as key"),
        ("a: 'b\nc: d\n", "'b", "YAML"),
        ("a: [b\n", "[b", "YAML"),
        ("a: b: c", ": c", "YAML"),
        ("a: " + "9" * 641, "9" * 641, "640 characters"),
        ("a: 1.0e+999", "1.0e+999", "a finite number"),
        ("a: \x01", "\x01", "a character that YAML allows"),
        ("a: \ud800", "\ud800", "a character that YAML allows"),
        ("<<: [1]", "]", "YAML"),
        ("[" * 100_000, "[", "64 levels"),
        ("a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 80)), None, "64 levels"),
        ("\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *LAUGHS]), None, "aliases"),
        ("m: &m {" + ", ".join(f"k{i}: 1" for i in range(100)) + "}\n" + "\n".join(MERGES), None, "aliases"),
    ],
)
def test_refused(text, found, expected):
    with pytest.raises(DocumentationError, match=f"expected .*{expected}.*, found") as caught:
        extract(text, origin="t.yaml")
    line, column = map(int, str(caught.value).split(":")[1:3])
    assert found is None or text.split("\n")[line - 1][column - 1 :].startswith(found)


BLOCKS = [
    (DOCUMENT, ["GET /albums/{id}"]),
    (yaml.dump(yaml.safe_load(DOCUMENT)), ["GET /albums/{id}"]),
    (TOOLS, ["get_weather", "get_time"]),
    ("tools:\n" + TOOLS, ["get_weather", "get_time"]),
    ("- type: function\n  function:\n    name: f\n    parameters:\n      type: object\n", ["f"]),
    ("name: f\ndescription: F.\nparameters:\n  type: object\n  properties:\n    a: {type: string}\n", ["f"]),
    ("name: f\ndescription: F.\nparameters: {type: object, properties: {a: {type: string}}}\n", ["f"]),
    ("name: f\ndescription: |\n    Runs:\n        ```\n        a\n        ```\nparameters:\n  type: object\n", ["f"]),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("block", "expected"), BLOCKS)
def test_whole_texts_files_and_fences_are_read(block, expected, newline):
    fenced = f"The tools:\n\n```yaml\n{block}```\n- Be kind: always\n\n~~~ \n{block.replace('name: ', 'name: x_')}~~~\n"
    indented = "".join(f"\t{line}" for line in f"```yml\n{block}```\n".splitlines(keepends=True))
    for text in (block, f"---\n{block}", f"# Tools\nUse these.\n{indented}\nGo: on.\n"):
        assert list(extract(text.replace("\n", newline))) == expected
    again = list(extract(fenced.replace("\n", newline), on_duplicate="rename"))
    assert again[: len(expected)] == expected and len(again) == 2 * len(expected)
    file = extract(block, origin="tools.yaml")
    assert file == extract(block)
    assert all(tool.source.span.line == 1 for tool in file.tools)  # places inside YAML are not kept
    assert extract(f"{block}---\na: 1\n", origin="t.yml", on_duplicate="rename") == file


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("doubled", [False, True])
def test_operations_under_headings(newline, indent, doubled):
    text = f"""Endpoints:
{HEADING}{OPERATION}
== Docs for DELETE /me ==
{{}}

== Docs for POST /x/{{y}} ==
requestBody:
  content:
    a/b:
      schema:
        properties:
          k: {{}}


If the API path contains: x
== Docs for GET /nothing ==

Thought: go
"""
    text = "".join(f"{indent}{line}" if line.strip() else line for line in text.splitlines(keepends=True))
    text = text.replace("{", "{{").replace("}", "}}") if doubled else text
    tools = extract(text.replace("\n", newline))
    assert list(map(tool_text, tools.tools)) == [
        "GET /albums/{id}(id!: str, market!: str # The market.) -> Get an album.\nLong.",
        "DELETE /me()",
        "POST /x/{y}(y!: str, k: any)",
    ]
    first = tools.tools[0].source.span
    assert (first.line, first.end_line) == (2, 2 + OPERATION.count("\n"))


def test_documentation_that_breaks_off():
    [tool] = extract(f"{HEADING}{OPERATION}  headers:\n    'X-\n\n\nIf the API path").tools
    assert [p.name for p in tool.parameters] == ["id", "market"]
    assert "breaks off in 'responses'" in tool.notes[0]
    for cut in ('description: "Get an', "parameters:\n- in: query\n  name: 'a", "parameters:\n- {in: query"):
        with pytest.raises(DocumentationError, match=r"<text>:[2-4]:.*YAML"):
            extract(f"{HEADING}{cut}\n\n\nIf the API path")


@pytest.mark.parametrize(
    "text", [DOCUMENT.replace("{title: Albums}", "{title: Albums"), DOCUMENT.replace("market,", "market, name: b,")]
)
def test_broken_documentation_is_an_error(text):
    for written, line in ((text, 0), (f"Tools\n\n```yaml\n{text}\n```\nUser: hi\n", 3)):
        with pytest.raises(DocumentationError) as caught:
            extract(written)
        assert int(str(caught.value).split(":")[1]) > line + 1
