"""What is known of a model's weights: its identity, changes of them, and where a ``device_map`` has put them."""

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.models.identity import files_state, identify, weights_state
from tooldecoding.models.loading import load_quietly
from tooldecoding.models.places import input_device
from tooldecoding.models.sources import Source
from tools import PROMPTS, WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
new_model = partial(tiny_model, "llama", len(TOKENIZER))


def test_a_change_shows_in_the_identity() -> None:
    model, tokenizer = new_model(), byte_level_tokenizer()
    before = identify(model, tokenizer)
    assert before == identify(new_model(), byte_level_tokenizer())

    def changed() -> set[str]:
        after = identify(model, tokenizer)
        return {part for part in before if before[part] != after[part]}

    tokenizer.chat_template = "{{ messages }}"
    assert changed() == {"tokenizer"}
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens(["<call>"])
    assert changed() == {"tokenizer"}
    tokenizer = byte_level_tokenizer()
    model.config.rope_parameters = {"rope_type": "default", "rope_theta": 5.0}
    assert changed() == {"config"}


def weights(folder: Path) -> str:
    return identify(*load_quietly(str(folder)))["weights"]


def test_a_change_of_the_files_shows_in_the_identity(tiny_model_path: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_model_path, tmp_path / "copy"))
    before = weights(folder)
    assert before == weights(Path(tiny_model_path)) == weights(folder)  # a copy keeps the times
    file = folder / "model.safetensors"
    os.utime(file, (0, 0))
    later = weights(folder)
    file.write_bytes(file.read_bytes() + b" ")
    os.utime(file, (0, 0))
    longer = files_state(Source(str(folder)), None)
    file.rename(folder / "other.safetensors")
    assert len({before, later, longer, files_state(Source(str(folder)), None)}) == 4


def test_the_hub_knows_weights_by_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    found = {}
    for commit in ("a" * 40, "b" * 40):
        for name in ("config.json", "sub/x.gguf", "sub/y.gguf"):
            file = tmp_path / "models--owner--name" / "snapshots" / commit / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        for gguf in (None, "sub/x.gguf", "sub/y.gguf"):
            found[commit, gguf] = files_state(Source("owner/name", gguf), commit)
    assert len(set(found.values())) == len(found)


def change(model: PreTrainedModel, how: str) -> None:
    """A training step, other weights in the same tensors, or another tensor."""
    if how == "step":
        optimizer, ids = torch.optim.SGD(model.parameters(), lr=1.0), torch.tensor([[5, 6, 7]])
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    elif how == "load":
        model.load_state_dict(new_model(5).state_dict())
    else:
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))


@pytest.mark.parametrize("how", ["step", "load", "replace"])
def test_a_change_is_noticed_and_the_call_is_the_new_models(how: str) -> None:
    model, tools = new_model(), lookup(WEATHER)
    decoder = ToolDecoder(model, TOKENIZER, max_value_tokens=5)
    decoder.decode(PROMPTS[1], tools)
    before = weights_state(model)
    assert decoder.decode(PROMPTS[1], tools).counters.reused_positions > 0  # type: ignore[union-attr]
    assert weights_state(model) == before
    torch.manual_seed(2)
    change(model, how)
    assert weights_state(model) != before
    changed: Any = decoder.decode(PROMPTS[1], tools)
    own: Any = ToolDecoder(model, TOKENIZER, max_value_tokens=5).decode(PROMPTS[1], tools)
    assert changed.counters.reused_positions == 0 and changed.text == own.text
    assert [c.candidates for c in changed.calls] == [c.candidates for c in own.calls]


def test_a_switched_adapter_is_noticed() -> None:
    model = new_model()
    layer = model.model.layers[0].mlp
    layer._active_adapter, layer._disable_adapters, layer.merged_adapters = "one", False, []  # as peft's layers have it
    for name, value in (("_active_adapter", "other"), ("_disable_adapters", True), ("merged_adapters", ["one"])):
        before = weights_state(model)
        setattr(layer, name, value)
        assert weights_state(model) != before


REST = {"model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
MAPS: list[dict[str, Any]] = [
    REST | {"model.embed_tokens": "cpu", "model.layers.0": "disk", "model.layers.1": "cpu"},
    REST | {"model.embed_tokens": "disk", "model.layers.0": "cpu", "model.layers.1": "disk", "lm_head": "disk"},
]


@pytest.mark.parametrize(("places", "strategy"), [(MAPS[0], "packed"), (MAPS[1], "batched")], ids=["packed", "batched"])
def test_a_spread_model_decodes_the_same_tokens(
    tiny_model_path: str, tmp_path: Path, places: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options: dict[str, Any] = {"strategy": strategy, "max_value_tokens": 8, "order_limit": 4}
    whole = ToolDecoder.from_pretrained(tiny_model_path, device="cpu", **options)
    spread = ToolDecoder.from_pretrained(tiny_model_path, device_map=places, **options)
    assert any(tensor.device.type == "meta" for tensor in spread.model.parameters())
    assert input_device(spread.model) == torch.device("cpu")
    for _ in range(2):  # the second time with the prompts' cache
        one, other = (decoder.decode(PROMPTS, lookup(WEATHER)) for decoder in (whole, spread))
        assert [result.token_ids for result in one] == [result.token_ids for result in other]
        assert [result.counters.positions for result in one] == [result.counters.positions for result in other]
    assert identify(whole.model, TOKENIZER) == identify(spread.model, TOKENIZER)
    assert identify(whole.model, TOKENIZER)["weights"]


@pytest.mark.parametrize("part", ["all", "one layer"])
def test_a_model_that_lies_nowhere_is_refused(part: str, tiny_model_path: str) -> None:
    model = new_model()
    (model if part == "all" else model.base_model.layers[1]).to("meta")
    devices = "nowhere" if part == "all" else "cpu, nowhere"
    with pytest.raises(ModelError, match=f"memory: {devices}; load the model with device_map"):
        ToolDecoder(model, TOKENIZER)
    with pytest.raises(ModelError, match="give one of them"):
        ToolDecoder.from_pretrained(tiny_model_path, device="cpu", device_map="auto")
