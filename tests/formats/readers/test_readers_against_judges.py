"""On texts with faults, no reader accepts what the strict judge of its format refuses, but for the cases named here."""

import ast
import json
import random
from typing import Any

import pytest
from mutations import mutate
from reader_cases import JUDGES, PYTHON, RAW, READERS, JsonWords, judge, needs_judges, padded, rendered
from samples import samples

from tooldecoding.formats.reading import ReadCall, UnreadableCallError

TRIES = 600


def judged(name: str, text: str) -> list[tuple[str, dict[str, Any]]] | str:
    """The calls, or why there are none."""
    try:
        # without documentation every raw value is a text, for the judge too
        return judge().read_calls(name, text, [])  # type: ignore[no-any-return]
    except judge().FormatError as error:
        return str(error)


def read(name: str, text: str) -> list[ReadCall] | None:
    try:
        return READERS[name](text)
    except UnreadableCallError:
        return None


def repeats_a_key(calls: list[ReadCall], reason: str) -> bool:
    """A reader returns a repeated key twice, and the caller sees it; the judge refuses it."""
    return "written twice" in reason and any(len(dict(pairs)) != len(pairs) for _, pairs in calls)


def python_reads_it(name: str, text: str, calls: list[ReadCall]) -> bool:
    """Python takes more than the judge: tuples, other numbers and strings, spaces, comments, and it normalises names.

    Python's own reading decides.
    """
    if name not in PYTHON:
        return False
    for mark in ("<|python_start|>", "<|python_end|>", "<|tool_call_start|>", "<|tool_call_end|>"):
        text = text.removeprefix(mark).removesuffix(mark)
    if name == "olmo3":
        text = f"[{', '.join(text.split(chr(10))[1:-1])}]"
    tree: Any = ast.parse(text, mode="eval").body
    return calls == [
        (ast.unparse(node.func), [(k.arg, ast.literal_eval(JsonWords().visit(k.value))) for k in node.keywords])
        for node in tree.elts
    ]


@needs_judges
@pytest.mark.parametrize("name", READERS)
def test_samples_are_read_as_the_judge_reads_them(name: str) -> None:
    for text in samples(name):
        found = [(n, dict(pairs)) for n, pairs in READERS[name](text)]
        assert json.dumps(found) == json.dumps(judged(name, text)), text


@needs_judges
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
@pytest.mark.parametrize("name", READERS)
def test_no_reader_accepts_what_the_judge_refuses(name: str) -> None:
    draw, both, neither = random.Random(name), 0, 0
    for _ in range(TRIES):
        text = mutate(draw.choice(samples(name)), draw)
        calls, expected = read(name, text), judged(name, text)
        if calls is None:
            neither += isinstance(expected, str)
        elif not isinstance(expected, str):
            both += 1
            same = [(n, dict(pairs)) for n, pairs in calls] == expected
            assert same or python_reads_it(name, text, calls), text
        else:
            assert repeats_a_key(calls, expected) or python_reads_it(name, text, calls), text
    assert both > TRIES / 20 and neither > TRIES / 20


@needs_judges
@pytest.mark.parametrize("name", [n for n in rendered() if n in RAW] if JUDGES.is_dir() else [])
def test_white_space_around_raw_values_is_refused(name: str) -> None:
    """A parser strips it, so that a tool would get another value."""
    texts = [text for text, calls in rendered()[name] if padded(calls)]
    assert texts and all(read(name, text) is None for text in texts)
