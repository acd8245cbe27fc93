"""Adversarial texts are read in linear time: a text of twice the length takes about twice as long."""

import contextlib
import json

import pytest

from growth import assert_linear
from lookup import DocumentationError, LiteralError, extract, read_literal


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


WORST = {
    "unclosed brackets": lambda n: "x " + "[" * n,
    "unclosed objects": lambda n: "x " + '{"a":' * (n // 5),
    "unclosed quotes": lambda n: "x " + '{"' * (n // 2),
    "unclosed lists of objects": lambda n: "x " + '[{"a":1},' * (n // 9),
    "quotes inside quotes": lambda n: "x " + "{\"a'{'b\"" * (n // 8),
    "triple quotes": lambda n: "x " + '{"""a' * (n // 5),
    "backslashes": lambda n: 'x {"a": "' + "\\" * n,
    "escaped quotes": lambda n: 'x ["' + '\\"' * (n // 2),
    "deep nesting, then width": lambda n: "x " + '[{"a":[' * 450 + '{"b":[1,2]},' * (n // 12),
    "deep nesting in JSON": lambda n: '{"a":' * (n // 5),
    "broken names": lambda n: "x " + '{"name": ' * (n // 9),
    "assignments": lambda n: "input_parameters\n" + "description = ((((\n" * (n // 19),
    "headings": lambda n: "input_parameters\n" + "1." * (n // 4) + "\n" + "#" * (n // 2),
    "unclosed functions": lambda n: "def f(a: int = (\n" * (n // 17),
    "unclosed docstrings": lambda n: 'def f(a):\n    """x\n' * (n // 19),
    "unclosed signatures": lambda n: "a(b: \n" * (n // 6),
    "unclosed elements": lambda n: '<function name="a"><params><param name="' * (n // 40),
    "YAML starts": lambda n: "openapi: 3\n- name: a\n" * (n // 21),
    "YAML brackets": lambda n: "openapi: 3.0.0\npaths: " + "[" * n,
    "roles": lambda n: "<|im_start|>user" * (n // 16),
    "spaces": lambda n: ("x {" + " " * 50) * (n // 53),
    "references to one object": references_to_one_object,
    "references to references": references_to_references,
    "references to all": references_to_all,
    "operations of one body": operations_of_one_body,
    "long names": lambda n: json.dumps(
        {"name": "f" * n, "parameters": {"properties": {f"a{i}": {} for i in range(n // 9)}}}
    ),
    "headings of operations": lambda n: "".join(f"  == Docs for GET /a{i} ==\nx-{i}: a\n" for i in range(n // 40)),
    "keys of one description": lambda n: (
        f'def f(a: int):\n    """D.\n\n    Args:\n        {", ".join(f"k{i}" for i in range(n // 16))}: x\n'
        + "            words of text\n" * (n // 52)
        + '    """\n'
    ),
    "union of many types": lambda n: tool(
        {"a": {"anyOf": [*({"enum": [f"m{i}"]} for i in range(n // 22)), {"type": "integer"}]}}, {}
    ),
    "unclosed lists": lambda n: "x " + "[" * n,
    "quotes out of phase": lambda n: "x " + "{\"a\":{'b':'\"," * (n // 15),
    "closed inside unclosed": lambda n: 'x [{"a":[' + '{"b":1},' * (n // 8),
    "TypeScript keys": lambda n: "namespace functions {\ntype f = (_: {\n" + "// a\nb: {\n" * (n // 10),
    "TypeScript text": lambda n: "namespace functions {\n" + "// a\nb\nc: d e\n" * (n // 13) + "type f = (_: {\n",
    "TypeScript lines": lambda n: "namespace functions {\ntype f = (_: {\n// a\n" + "b: c d\n" * (n // 7),
    "TypeScript types": lambda n: (
        "namespace a {\ntype f = (_: {a: (string | (" * (n // 28) + "\ntype g = (_: {\n" * (n // 17)
    ),
    "TypeScript unions": lambda n: "namespace a {\ntype f = (_: {a: " + '"b" | ' * (n // 6) + "string}) => any;",
    "TypeScript groups": lambda n: "namespace a {\ntype f = (_: {a: " + "(b) | " * (n // 6),
    "namespaces": lambda n: "namespace a {\n}\n" * (n // 16),
    "Gemma's declarations": lambda n: '<|tool>declaration:f{description:<|"|>' * (n // 37),
    "Gemma's keys": lambda n: "<|tool>declaration:f{" + "a:{" * (n // 3),
    "Gemma's texts": lambda n: "<|tool>declaration:f{" + "a" * n,
    "printed tools": lambda n: '{"name": "f", "description": "a "b", "parameters": {"a": ' * (n // 54),
    "printed descriptions": lambda n: '{"name": "f", "description": "' + '", "parameters": {' * (n // 18),
    "tool elements": lambda n: "<function><name>f</name><parameters>" + "<parameter><name>a</name>" * (n // 25),
    "element words": lambda n: "<tool><name>f</name>" + "<a>b</a> c" * (n // 10) + "<parameters></parameters></tool>",
    "tools": lambda n: "\n".join(f'{{"name":"f{i}","parameters":{{}}}}' for i in range(n // 30)),
    "twins": lambda n: "\n".join(['x {"name":"f","parameters":{}}'] * (n // 30)),
}


def read(text):
    with contextlib.suppress(DocumentationError):
        extract(text)


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    assert_linear(read, WORST[worst], 15_000)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**5, '"' + "\\" * 10**6, "9" * 10**6, "(" * 10**5])
def test_one_literal_is_given_up(text):
    with pytest.raises(LiteralError):
        read_literal(text)
