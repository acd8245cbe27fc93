"""Adversarial texts are read in linear time: a text of twice the length takes about twice as long."""

import contextlib
import json

import pytest

from growth import assert_linear
from lookup import DocumentationError, extract


def tool(properties, definitions):
    schema = {"type": "object", "properties": properties, "$defs": definitions}
    return json.dumps({"name": "f", "parameters": schema})


def references_to_one_object(n):
    keys = {f"k{i}": {"type": "string"} for i in range(n // 40)}
    references = {f"a{i}": {"$ref": "#/$defs/X"} for i in range(n // 40)}
    return tool(references, {"X": {"type": "object", "properties": keys, "required": list(keys)}})


def references_to_references(n):
    links = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(n // 80)}
    return tool({"a": {"$ref": "#/$defs/d0"}}, links)


def references_to_all(n):
    names = range(int((n / 30) ** 0.5))
    links = {f"d{i}": {"properties": {f"k{j}": {"$ref": f"#/$defs/d{j}"} for j in names}} for i in names}
    return tool({"a": {"$ref": "#/$defs/d0"}}, links)


def operations_of_one_body(n):
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/X"}}}}
    keys = {f"k{i}": {"type": "string"} for i in range(n // 80)}
    paths = {f"/a{i}": {"post": {"requestBody": body}} for i in range(n // 200)}
    return json.dumps({"openapi": "3.0.0", "paths": paths, "components": {"schemas": {"X": {"properties": keys}}}})


DOC = 'def f(x: int):\n  """\n'
YAML = "name: a\nparameters:\n"
SPACE = "namespace a {\ntype f = (_: {"
GEMMA = "<|tool>declaration:f{"
REPEATED = [
    ("x ", "[", ""), ("x ", '{"a":', ""), ("x ", '{"', ""), ("x ", '[{"a":1},', ""), ("x ", "{\"a'{'b\"", ""),
    ("x ", '{"""a', ""), ('x {"a": "', "\\", ""), ('x ["', '\\"', ""), ('x [{"a":[' * 450, '{"b":[1,2]},', ""),
    ("", '{"a":', ""), ("x ", '{"name": ', ""), ("input_parameters\n", "description = ((((\n", ""),
    ("input_parameters\n", "1.", "\n"), ("input_parameters\n", "#", ""), ("x ", "{\"a\":{'b':'\",", ""),
    ('x [{"a":[', '{"b":1},', ""), ("", 'x {"name":"f","parameters":{}}\n', ""),
    ('{"name": "f", "description": "', '", "parameters": {', ""),
    ("", '{"name": "f", "description": "a "b", "parameters": {"a": ', ""),
    # functions and signatures
    ("", "def f(a: int\n", ""), ("", "def f(a: int = (\n", ""), ("", "def f(", ""), ("def f(a=", "[", "("),
    ("", "def f(a: int):\n '''a\\\n", ""), ("", 'def f(a: int):\n """\ndef g(b: int):\n \'\'\'\n', ""),
    ("", 'def f(x: int):\n x = """a\n', ""), (DOC, '\\"', ""), (DOC, "\\", ""), ('def f(a="', "\\", ""),
    ("def f(a: int)", " ", "x"), ("def f(a: int)", " " * 50 + "de\n", ""), ("", "@a(\n", ""), ("", "@a\n\n# a\n", ""),
    ("", "def f()\n\n \n#\n", "\n"), ("", "def f(x) -> ['a\n", ""), ("def f(x) -> ", "[", ""),
    ("def f(", "a # a\n", ""), ("def f(a: Annotated[", "Optional[", ""), ("", "def f(x: int): ...\n", ""),
    (DOC + "  Args:\n", "    x (((('\n", ""), (DOC + "  Args:\n    x", " (", '"""'),
    (DOC + "  Args:\n    ", "x,", '\n"""'), (DOC + "  :param", " ", '"""'),
    (DOC, "  Args:\n  Parameters\n  ---\n  x : a\n", '"""'), (DOC, "- x: a\n", '"""'), (DOC, "- ", '"""'),
    (DOC, "\n", '"""'), (DOC, "\t", '"""'), (DOC, "(default", '"""'), ("", "f(a: int) -> int - x\n\n", ""),
    ("", "f(a: int\n", ""), ("", "f(a: 'x\n", ""), ("", "f(a: int ", ""), ("f(a: int) -> a<", "a|", " -"),
    ("f(a: int) -> a", " -", ""), ("f(a: int) -> [", "[", ""), ("f(a: int)\n", " f(a\n", ""),
    ("f(a: int)\n", "Args:\n", ""), ("", "f(a: int)\n\nArgs:\n f(a: int)\n", ""), ("", "a.", ""), ("`", "1. ", ""),
    ("", "`", ""), ("", "<|im_start|>user", ""), ("", "x {" + " " * 50, ""), ("", "a(b: \n", ""),
    # YAML
    ("", "openapi: 3\n- name: a\n", ""), ("openapi: 3.0.0\npaths: ", "[", ""), ("", "== Docs for GET /a ==\n", ""),
    ("", "== Docs for GET /a ==\ndescription: 'a\n", ""), ("== Docs for GET /", "= ", "x"),
    ("== Docs for GET /", "=", "x"), ("", "```yaml\ntools:\n", ""), ("", "```\ntools:\n- a\n```\n", ""),
    (YAML + " - ", "[", ""), (YAML + " - ", "{a: ", ""), (YAML + " &a [", "*a, ", "]"),
    (YAML + " - &a {x: 1}\n", " - *a\n", ""), (YAML, " - 'a\n", ""), (YAML + " - ", ": ", ""),
    (YAML + "  ", "? ", ""), (YAML + "a", " ", "\na :"), (YAML + "a\na", " :", ""),
    # TypeScript, Gemma and elements
    ("namespace functions {\ntype f = (_: {\n", "// a\nb: {\n", ""), (SPACE + "\n// a\n", "b: c d\n", ""),
    ("namespace functions {\n", "// a\nb\nc: d e\n", "type f = (_: {\n"), ("", SPACE + "a: (string | (", ""),
    (SPACE, "\ntype g = (_: {\n", ""), (SPACE + "a: ", '"b" | ', "string}) => any;"), (SPACE + "a: ", "(b) | ", ""),
    ("", "namespace a {\n}\n", ""), (SPACE + "a: string", " ", "z"), ("", GEMMA + 'description:<|"|>', ""),
    (GEMMA, "a:{", ""), (GEMMA, "a", ""),
    ("", '<function name="a"><params><param name="', ""),
    ("<function><name>f</name><parameters>", "<parameter><name>a</name>", ""),
    ("<tool><name>f</name>", "<a>b</a> c", "<parameters></parameters></tool>"),
]  # fmt: skip
"""What stands before a piece, the piece that is repeated, and what stands behind."""
WORST = {
    "references to one object": references_to_one_object,
    "references to references": references_to_references,
    "references to all": references_to_all,
    "operations of one body": operations_of_one_body,
    "functions of one declared type": lambda n: (
        f"namespace a {{\ninterface X {{\n{''.join(f'k{i}: string,' for i in range(n // 24))}\n}};\n"
        + "type f = (_: { a: X }) => any;\n" * (n // 60)
    ),
    "long names": lambda n: json.dumps(
        {"name": "f" * n, "parameters": {"properties": {f"a{i}": {} for i in range(n // 9)}}}
    ),
    "headings of operations": lambda n: "".join(f"  == Docs for GET /a{i} ==\nx-{i}: a\n" for i in range(n // 40)),
    "keys below a heading": lambda n: "== Docs for GET /a ==\n" + "".join(f"a{i}:\n\n" for i in range(n // 7)),
    "longer fences": lambda n: "".join("`" * (3 + i % 50) + "yaml\n" for i in range(n // 30)),
    "merges": lambda n: (
        YAML + f" - &a {{{', '.join(f'k{i}: 1' for i in range(n // 80))}}}\n" + " - <<: *a\n" * (n // 20)
    ),
    "staircase": lambda n: "".join(f"{' ' * i}def f(x: int)\n{' ' * i}f(x: int)\n" for i in range(int(n**0.5))),
    "keys of one description": lambda n: (
        f'def f(a: int):\n    """D.\n\n    Args:\n        {", ".join(f"k{i}" for i in range(n // 16))}: x\n'
        + "            words of text\n" * (n // 52)
        + '    """\n'
    ),
    "union of many types": lambda n: tool(
        {"a": {"anyOf": [*({"enum": [f"m{i}"]} for i in range(n // 22)), {"type": "integer"}]}}, {}
    ),
    "tools": lambda n: "\n".join(f'{{"name":"f{i}","parameters":{{}}}}' for i in range(n // 30)),
    **{
        f"{head[:9]}{piece}": lambda n, h=head, p=piece, t=tail: h + p * (n // len(p)) + t
        for head, piece, tail in REPEATED
    },
}


def read(text):
    with contextlib.suppress(DocumentationError):
        extract(text)


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    assert_linear(read, WORST[worst], 15_000)


def test_elements_that_nothing_closes_are_not_searched_to_the_end_of_the_text():
    assert_linear(read, lambda n: "<tool><name>f</name>" * (n // 20), 150_000)


def test_a_pattern_that_many_references_lead_to_is_read_once():
    def text(n):
        references = {f"a{i}": {"$ref": "#/$defs/X"} for i in range(n // 80)}
        return tool(references, {"X": {"pattern": "/" + "a" * (n // 2)}})

    assert_linear(read, text, 150_000)
