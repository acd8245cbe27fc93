"""Error classes: one a wrong prediction, the first that applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.error_class import attempted_names, classify
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Judgement, Sample
from tooldecoding.chat.documentation import Documentation
from tooldecoding.formats.call_format import Call
from tools import documented

WALL = documented("paint.wall", ["colour"], colour={"type": "string"}, coats={"type": "integer"})
TOOLS = [WALL, documented("stop")]
PAINT = Call("paint.wall", {"colour": "red"})


def sample(*calls: Call) -> Sample:
    return Sample("s", "c", "d", (), Documentation.read(TOOLS, "tools"), calls, None)


def judged(text: str) -> Judgement:
    try:
        calls = tuple(Call(n, a) for n, a in decode_calls(text))
    except CallDecodeError:
        return Judgement(False, "x", "", None)
    return Judgement(False, "x", "", calls)


@pytest.mark.parametrize(
    ("prediction", "expected", "structural"),
    [
        ("", "awareness", False),
        ("[]", "awareness", False),
        ("Red [it is] (nice)", "awareness", False),
        ("[stop()]", "selection", False),
        ("[paint.wall(colour='red'), paint.wall(colour='red')]", "selection", False),
        ("[paint_wall(colour='red')]", "selection", True),
        ("[paint_wall(colour='red'", "selection", True),
        ("```python\nrepaint(x", "selection", True),
        ('{"name": "repaint", "arguments": {}}', "selection", True),
        ("[paint.wall='red', coats=3)]", "format", True),
        ("[repaint', colour='red')]", "selection", True),
        ("[paint.wall]", "format", True),
        ("See [1] and [citation needed], as in [paint].", "awareness", False),
        ("[paint.wall(colour='red'", "format", True),
        ("I call paint.wall (colour='red) now", "format", True),
        ("Action: paint.wall\nAction Input: {colour", "format", True),
        ('{"name": "paint.wall", "arguments": {"colour": "red"}}', "format", True),
        ('[{"paint.wall": {"colour": "red"}}]', "format", True),
        ("[paint.wall(color='red')]", "key", True),
        ("[paint.wall()]", "key", True),
        ("[paint.wall(colour='blue')]", "value", False),
        ("[paint.wall(colour='red', coats=3)]", "value", False),
    ],
)
def test_classes(prediction: str, expected: str, structural: bool) -> None:
    found = classify(sample(PAINT), prediction, judged(prediction), satisfiable=True)
    assert found == (expected, structural)


@pytest.mark.parametrize("prediction", ["[stop()]", "[paint.wall(", "[unknown()]"])
def test_a_call_where_none_or_nothing_is_right(prediction: str) -> None:
    assert classify(sample(), prediction, judged(prediction), satisfiable=True) == ("awareness", False)
    assert classify(sample(PAINT), prediction, judged(prediction), satisfiable=False) == ("unsatisfiable", False)


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_any_text_is_read(text: str, names: list[str]) -> None:
    for name in attempted_names(text, names):
        assert name in text
