"""A model that a ``device_map`` has spread decodes the same tokens; one that lies nowhere is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.models.identity import identify
from tooldecoding.models.places import input_device
from tools import PROMPTS, WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
MAPS: list[dict[str, Any]] = [
    {"model.embed_tokens": "cpu", "model.layers.0": "disk", "model.layers.1": "cpu"},
    {"model.embed_tokens": "disk", "model.layers.0": "cpu", "model.layers.1": "disk"},
]
REST = {"model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with a tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    tiny_model("llama", len(TOKENIZER)).save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("strategy", ["packed", "batched"])
@pytest.mark.parametrize("places", MAPS, ids=["a layer on the disk", "the embedding on the disk"])
@pytest.mark.parametrize("head", ["cpu", "disk"])
def test_a_spread_model_decodes_the_same_tokens(
    folder: Path, tmp_path: Path, places: dict[str, Any], head: str, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options: dict[str, Any] = {"strategy": strategy, "max_value_tokens": 8, "order_limit": 4}
    whole = ToolDecoder.from_pretrained(str(folder), device="cpu", **options)
    spread = ToolDecoder.from_pretrained(str(folder), device_map=places | REST | {"lm_head": head}, **options)
    assert any(tensor.device.type == "meta" for tensor in spread.model.parameters())
    assert input_device(spread.model) == torch.device("cpu")
    for _ in range(2):  # the second time with the prompts' cache
        one, other = (decoder.decode(PROMPTS, lookup(WEATHER)) for decoder in (whole, spread))
        assert [result.token_ids for result in one] == [result.token_ids for result in other]
        assert [result.counters.positions for result in one] == [result.counters.positions for result in other]
    assert identify(whole.model, TOKENIZER) == identify(spread.model, TOKENIZER)


@pytest.mark.parametrize("part", ["all", "one layer"])
def test_a_model_that_lies_nowhere_is_refused(part: str) -> None:
    model = tiny_model("llama", len(TOKENIZER))
    (model if part == "all" else model.base_model.layers[1]).to("meta")
    devices = "nowhere" if part == "all" else "cpu, nowhere"
    with pytest.raises(ModelError, match=f"memory: {devices}; load the model with device_map"):
        ToolDecoder(model, TOKENIZER)


def test_a_device_and_a_map_of_devices_contradict_each_other(folder: Path) -> None:
    with pytest.raises(ModelError, match="give one of them"):
        ToolDecoder.from_pretrained(str(folder), device="cpu", device_map="auto")


def test_a_model_on_one_device_is_taken() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    assert ToolDecoder(model, TOKENIZER).model.device == torch.device("cpu")
