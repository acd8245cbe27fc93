"""Adversarial texts are read in linear time: twice the text takes about twice as long."""

import contextlib
import time

import pytest

from lookup import DocumentationError, LiteralError, extract, read_literal

WORST = {
    "unclosed objects": lambda n: "x " + '{"' * n,
    "unclosed lists": lambda n: "x " + "[" * n,
    "unclosed nested objects": lambda n: "x " + '{"a":' * n,
    "unclosed nested lists": lambda n: "x " + '[{"a":1},' * n,
    "backslashes": lambda n: 'x {"a": "' + "\\" * n,
    "escaped quotes": lambda n: 'x ["' + '\\"' * n,
    "closed inside unclosed": lambda n: 'x [{"a":[' + '{"b":1},' * n,
    "quotes in quotes": lambda n: "x " + "{\"a'{'b\"" * n,
    "quotes out of phase": lambda n: "x " + "{\"a\":{'b':'\"," * n,
    "deep then wide": lambda n: "x " + '[{"a":[' * 450 + '{"b":[1,2]},' * n,
    "broken names": lambda n: "x " + '{"name": ' * n,
    "triple quotes": lambda n: "x " + '{"""a' * n,
    "spaces": lambda n: ("x {" + " " * 50) * (n // 20),
    "assignments": lambda n: "input_parameters\n" + "description = ((((\n" * n,
    "signatures": lambda n: "input_parameters\na(" + ") -> " * n,
    "headings": lambda n: "input_parameters\n" + "1." * n + "\n" + "#" * n,
    "table": lambda n: 'name,x\na,"description = ""x""\n' + 'input_parameters = ""\n' * n,
    "tools": lambda n: "\n".join(f'{{"name":"f{i}","parameters":{{}}}}' for i in range(n // 10)),
    "twins": lambda n: "\n".join(['x {"name":"f","parameters":{}}'] * (n // 10)),
}


def seconds(text):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(DocumentationError):
            extract(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    size = 4000
    once = seconds(WORST[worst](size))
    # Below some milliseconds the clock decides, above the text does.
    assert seconds(WORST[worst](2 * size)) < 3 * once + 0.01


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**5, '"' + "\\" * 10**6, "9" * 10**6, "(" * 10**5])
def test_one_literal_is_given_up(text):
    with pytest.raises(LiteralError):
        read_literal(text)
