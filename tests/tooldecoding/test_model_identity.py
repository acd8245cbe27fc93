"""A model's identity: the same for a copy, another one for every change that its predictions can show."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.models.identity import identify
from tooldecoding.models.loading import load_model


def one_weight(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    with torch.no_grad():
        list(model.parameters())[-1].reshape(-1)[-1] += 1


def rope(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    model.config.rope_parameters = {"rope_type": "default", "rope_theta": 5.0}


def chat_template(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    tokenizer.chat_template = "{{ messages }}"


def new_token(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    tokenizer.add_tokens(["<call>"])


def in_bf16(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    model.to(torch.bfloat16)


@pytest.mark.parametrize("shape", ["llama", "gpt2", "bloom"])
def test_a_copy_is_the_same_model(tmp_path: Path, shape: str) -> None:
    tokenizer = byte_level_tokenizer()
    model = tiny_model(shape, len(tokenizer))
    identities = []
    for name in ("one", "other"):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
        identities.append(identify(*load_model(str(tmp_path / name), "cpu")))
        model, tokenizer = load_model(str(tmp_path / name), "cpu")
    assert identities[0] == identities[1]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (one_weight, {"weights"}),
        (rope, {"config"}),
        (chat_template, {"tokenizer"}),
        (new_token, {"tokenizer"}),
        (in_bf16, {"dtype", "weights"}),
    ],
)
def test_a_change_shows(change: Callable[..., None], parts: set[str]) -> None:
    tokenizer = byte_level_tokenizer()
    model = tiny_model("llama", len(tokenizer))
    before = identify(model, tokenizer)
    assert before == identify(tiny_model("llama", len(tokenizer)), byte_level_tokenizer())
    change(model, tokenizer)
    after = identify(model, tokenizer)
    assert {part for part in before if before[part] != after[part]} == parts


def test_another_tokenizer_shows() -> None:
    model = tiny_model("llama", 500)
    plain, with_bytes = (identify(model, sentencepiece_tokenizer(b))["tokenizer"] for b in (False, True))
    assert plain != with_bytes
