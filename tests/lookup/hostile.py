"""Texts that make careless readers slow. Reading them must take time linear in their length."""

from collections.abc import Callable
from typing import Final

HOSTILE: Final[dict[str, Callable[[int], str]]] = {
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
    "nested elements": lambda n: '<function name="a"><params>' + '<param name="x" type="s"><params>' * (n // 33),
    "docstring headings": lambda n: '# Function: a\n    """\n' * (n // 22),
    "prose keys": lambda n: 'a: b\nParameters: {"a": "One of: [' * (n // 33),
    "YAML starts": lambda n: "openapi: 3\n- name: a\n" * (n // 21),
    "YAML brackets": lambda n: "openapi: 3.0.0\npaths: " + "[" * n,
    "roles": lambda n: "<|im_start|>user" * (n // 16),
    "spaces": lambda n: ("x {" + " " * 50) * (n // 53),
}
"""Name -> function that makes the text of about so many characters."""
