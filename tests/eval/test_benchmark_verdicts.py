"""Which predictions are right where no official verdicts are recorded, and of which class those are that are wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data
from eval.benchmarks.python_calls import decode_calls
from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Judgement, Sample, attempted_names, classify
from eval_data import REFERENCES, load
from tooldecoding.chat.documentation import Documentation
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError
from tools import documented

SGD = find_benchmark("sgd")


@pytest.mark.parametrize(
    ("number", "prediction", "error_type"),
    [
        (0, "[SetLamp(room='kitchen', state='on', colour='white')]", None),  # a documented default
        (0, "[SetLamp(room='kitchen', state='on', colour='blue')]", "wrong_value"),
        (1, REFERENCES["b/1"], None),
        (1, "[SetLamp(state='OFF', colour='Red', room='  hall')]", None),
        (1, "", "no_call"),
        (1, "[SetLamp(room='hall'", "no_call"),
        (1, "[SetLamp(room='hall', state='off', colour='red'), SetLamp(room='hall', state='off')]", "wrong_count"),
        (1, "[FindBoat(harbour='hall')]", "wrong_name"),
        (1, "[SetLamp(room='hall', state='off', colour='red', speed='1')]", "unexpected_key"),
        (1, "[SetLamp(room='hall', colour='red')]", "missing_key"),
        (1, "[SetLamp(room='hall', state='off')]", "wrong_value"),
        (1, "[SetLamp(room='hall', state='on', colour='red')]", "wrong_value"),
    ],
)
def test_sgd(tmp_path: Path, number: int, prediction: str, error_type: str | None) -> None:
    judgement = SGD.judge(load(tmp_path, "sgd")[number], prediction)
    assert (judgement.correct, judgement.error_type) == (error_type is None, error_type)


@needs_data
def test_every_reference_call_of_sgd_is_right() -> None:
    samples = SGD.load(str(DATA / "sgd"), SGD.categories)
    assert len(samples) > 6000 and all(map(SGD.satisfiable, samples))


WALL = documented("paint.wall", ["colour"], colour={"type": "string"}, coats={"type": "integer"})
TOOLS = [WALL, documented("stop")]
PAINT = Call("paint.wall", {"colour": "red"})


def sample(*calls: Call) -> Sample:
    return Sample("s", "c", "d", (), Documentation.read(TOOLS, "tools"), calls, None)


def judged(text: str) -> Judgement:
    try:
        calls = tuple(decode_calls(text))
    except UnreadableCallError:
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
    judgement = judged(prediction)
    assert classify(sample(PAINT), prediction, judgement, satisfiable=True) == (expected, structural)
    assert classify(sample(PAINT), prediction, judgement, satisfiable=False) == ("unsatisfiable", False)
    # where no call is right, any is one too many
    assert classify(sample(), prediction, judgement, satisfiable=True) == ("awareness", False)


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_any_text_is_read(text: str, names: list[str]) -> None:
    for name in attempted_names(text, names):
        assert name in text
