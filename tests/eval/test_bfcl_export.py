"""Official result files: where ``bfcl evaluate`` looks for them, and what it reads there."""

import json
import re

import pytest

from eval.benchmarks.bfcl.export import export
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from lookup.dictionary import LookupDictionary
from tooldecoding.prompts.documentation import Documentation

MODEL = "Qwen/Qwen3-8B"


def sample(key: str, category: str) -> Sample:
    return Sample(key, category, key, (), Documentation([], LookupDictionary(())), (), None)


SAMPLES = [
    *(sample(f"live_simple_{k}", "live_simple") for k in ("0-0-0", "2-1-0", "10-4-2")),
    sample("live_irrelevance_3-0-0", "live_irrelevance"),
    *(sample(f"simple_python_{k}", "simple_python") for k in (0, 1)),
]


def row(key: str, text: str = "[f()]", **more) -> dict:
    return {"id": key, "prediction": text, **more}


def test_files_and_rows(tmp_path):
    rows = [
        row("live_simple_10-4-2", "[f(a='é\u2028')]", seconds=0.5),
        row("live_simple_2-1-0", "a\nb"),
        row("simple_python_1"),
        row("live_simple_0-0-0", "", error="too long"),
    ]
    paths = export(rows, SAMPLES, tmp_path / "out", MODEL)
    assert [p.relative_to(tmp_path / "out").as_posix() for p in paths] == [
        "Qwen_Qwen3-8B/live/BFCL_v4_live_simple_result.json",
        "Qwen_Qwen3-8B/non_live/BFCL_v4_simple_python_result.json",
    ]
    for path in paths:  # the official tool's pattern, and the category that it reads from a name
        assert path in list((tmp_path / "out").rglob("BFCL_v4_*_result.json"))
        assert re.search(r"BFCL_v4_(\w+?)_result\.json", path.name)[1] in {s.category for s in SAMPLES}
    with paths[0].open(encoding="utf-8") as file:
        live = [json.loads(line) for line in file.readlines()]
    assert live == [
        {"id": "live_simple_0-0-0", "result": "Error during inference: too long"},
        {"id": "live_simple_2-1-0", "result": "a\nb"},
        {"id": "live_simple_10-4-2", "result": "[f(a='é\u2028')]", "latency": 0.5},
    ]
    before = paths[0].read_bytes()
    export(list(reversed(rows)), SAMPLES, tmp_path / "out", MODEL)
    assert paths[0].read_bytes() == before, "the sequence of the rows does not matter"
    assert not [p for p in (tmp_path / "out").rglob("*") if p.is_file() and p not in paths]


@pytest.mark.parametrize(
    "rows, message",
    [
        ([row("live_simple_9-9-9")], "none of the 6 samples"),
        ([{"prediction": ""}], "none of the 6 samples"),
        ([row("simple_python_1"), row("simple_python_1")], "two predictions for 'simple_python_1'"),
        ([{"id": "simple_python_1"}], "simple_python_1: expected a text 'prediction'"),
    ],
)
def test_wrong_rows(tmp_path, rows, message):
    with pytest.raises(EvalError, match=message):
        export(rows, SAMPLES, tmp_path, MODEL)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", ["", "my_model", "../up", "/abs", "."])
def test_model_names_that_the_official_tool_cannot_know(tmp_path, model):
    with pytest.raises(EvalError, match="without underscores"):
        export([row("simple_python_1")], SAMPLES, tmp_path, model)


def test_ids_of_an_older_version(tmp_path):
    with pytest.raises(EvalError, match="expected an id of BFCL v4 such as 'simple_python_0'"):
        export([row("simple_0")], [sample("simple_0", "simple_python")], tmp_path, MODEL)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(EvalError, match="cannot be written"):
        export([row("simple_python_1")], SAMPLES, tmp_path / "file", MODEL)
