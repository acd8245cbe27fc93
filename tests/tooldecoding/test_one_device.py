"""A model that a ``device_map`` has spread is refused before anything is computed."""

import pytest
import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import ModelError

TOKENIZER = byte_level_tokenizer()


@pytest.mark.parametrize("part", ["all", "one layer"])
def test_a_spread_model_is_refused(part: str) -> None:
    model = tiny_model("llama", len(TOKENIZER))
    (model if part == "all" else model.base_model.layers[1]).to("meta")
    devices = "offloaded" if part == "all" else "cpu, offloaded"
    with pytest.raises(ModelError, match=f"memory: {devices}; a model must fit on one device"):
        ToolDecoder(model, TOKENIZER)


def test_a_model_on_one_device_is_taken() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    assert ToolDecoder(model, TOKENIZER).model.device == torch.device("cpu")
