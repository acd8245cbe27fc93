"""Changed weights are noticed, and unchanged ones are not taken for changed."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.models.weights_state import weights_state
from tools import WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
PROMPT = "User: the weather in Rome for three days, please, and in New York\nAPI-Request: "


def new_model(seed: int = 0) -> PreTrainedModel:
    return tiny_model("llama", len(TOKENIZER), seed)


def step(model: PreTrainedModel) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model(input_ids=torch.tensor([[5, 6, 7]]), labels=torch.tensor([[5, 6, 7]])).loss.backward()
    optimizer.step()


def swap(model: PreTrainedModel) -> None:
    weight = model.model.embed_tokens.weight
    weight.data = torch.randn_like(weight)


def replace(model: PreTrainedModel) -> None:
    model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))


def load(model: PreTrainedModel) -> None:
    model.load_state_dict(new_model(5).state_dict())


@pytest.mark.parametrize("change", [step, swap, replace, load])
def test_a_change_is_noticed_and_the_call_is_the_new_models(change: Callable[[PreTrainedModel], None]) -> None:
    model = new_model()
    decoder = ToolDecoder(model, TOKENIZER, max_value_tokens=5)
    tools = lookup(WEATHER)
    decoder.decode(PROMPT, tools)
    before = weights_state(model)
    assert decoder.decode(PROMPT, tools).counters.reused_positions > 0  # type: ignore[union-attr]
    assert weights_state(model) == before
    torch.manual_seed(2)
    change(model)
    assert weights_state(model) != before
    changed: Any = decoder.decode(PROMPT, tools)
    own: Any = ToolDecoder(model, TOKENIZER, max_value_tokens=5).decode(PROMPT, tools)
    assert changed.counters.reused_positions == 0 and changed.text == own.text
    assert [c.candidates for c in changed.calls] == [c.candidates for c in own.calls]


@pytest.mark.parametrize(
    ("name", "value"), [("_active_adapter", "other"), ("_disable_adapters", True), ("merged_adapters", ["one"])]
)
def test_a_switched_adapter_is_noticed(name: str, value: object) -> None:
    model = new_model()
    layer = model.model.layers[0].mlp
    layer._active_adapter, layer._disable_adapters, layer.merged_adapters = "one", False, []  # as peft's layers have it
    before = weights_state(model)
    setattr(layer, name, value)
    assert weights_state(model) != before
