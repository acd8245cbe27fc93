"""One forward pass: the model's own logits, computed for no more positions and tokens than needed."""

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch.nn.functional import linear as torch_linear
from transformers import AutoConfig, AutoModelForCausalLM

from tiny_models import SHAPES, byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines import language_model
from tooldecoding.engines.language_model import LanguageModel, Wanted
from tools import PROMPTS, WEATHER, lookup, tool

TOKENIZER = byte_level_tokenizer()
IDS = torch.tensor([[5, 6, 7, 8, 9], [9, 8, 7, 6, 5]])


def other_model(model_type: str, **changes: Any) -> Any:
    torch.manual_seed(0)
    common = {"vocab_size": len(TOKENIZER), "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3}
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **common | heads | changes)).eval()


MODELS = {name: lambda name=name: tiny_model(name, len(TOKENIZER)) for name in (*SHAPES, "gemma2", "gpt2", "bloom")} | {
    # scaled and capped logits: more than a linear layer
    "granite": lambda: other_model("granite", logits_scaling=8.0),
    "cohere": lambda: other_model("cohere", logit_scale=0.1),
}


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_the_models(name: str) -> None:
    model = MODELS[name]()  # type: ignore[no-untyped-call]
    with torch.inference_mode():
        expected = model(IDS).logits.float()
    few, every = np.array([3, 7, 41, 250]), np.arange(len(TOKENIZER))
    first, second = [Wanted(1, 4, None), Wanted(0, 2, few)], [Wanted(0, 4, None), Wanted(1, 0, every)]
    grouped, _ = LanguageModel(model).forward({"input_ids": IDS}, [first, [], second])
    assert [len(group) for group in grouped] == [2, 0, 2]
    computed = [logits for group in grouped for logits in group]
    for found, place in zip(computed, first + second, strict=True):
        logits = expected[place.row, place.column]
        for tokens in (few, np.array([3, 250])):  # the second was not asked for and is computed now
            best, logprob = found.best_among(tokens)
            assert best == max(tokens, key=lambda t: float(logits[t]))
            expected_logprob = torch.log_softmax(logits[tokens], 0)[tokens.tolist().index(best)]
            assert logprob == pytest.approx(float(expected_logprob), abs=1e-4)
        assert found.best == int(logits.argmax())
        assert found.logprob(41) == pytest.approx(float(torch.log_softmax(logits, 0)[41]), abs=1e-4)
    torch.testing.assert_close(computed[0].logits, expected[1, 4], atol=1e-4, rtol=1e-4)
    assert computed[0].best == int(expected[1, 4].argmax())


def test_models_that_do_more_to_their_logits_keep_their_own_output_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, linear in (("llama", True), ("gpt2", True), ("gemma2", False), ("granite", False), ("cohere", False)):
        model = LanguageModel(MODELS[name]())  # type: ignore[no-untyped-call]
        ours = Mock(side_effect=torch_linear)
        monkeypatch.setattr(language_model, "linear", ours)
        model.forward({"input_ids": IDS}, [[Wanted(0, 1, np.array([3, 4]))]])
        assert ours.called is linear, name
        monkeypatch.undo()


def test_choices_compute_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, int]] = []
    plain = language_model.linear

    def watched(states: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Tensor:
        sizes.append((len(states), len(weight)))
        return plain(states, weight, bias)

    model = tiny_model("llama", len(TOKENIZER))
    decoder = ToolDecoder(model, TOKENIZER, prompt_cache_mb=0)
    monkeypatch.setattr(language_model, "linear", watched)
    tools = lookup(*(tool(f"{a}{b}Tool") for a in ("Get", "Set", "Add") for b in ("Book", "Room", "Day")))
    result: Any = decoder.decode(PROMPTS[1], tools=tools, draft_tokens=0)
    assert result.counters.constrained_tokens == result.counters.forward_passes >= 1
    assert sizes and all(states == 1 and weight < len(TOKENIZER) / 8 for states, weight in sizes)
    full: list[int] = []
    rows = LanguageModel._rows
    monkeypatch.setattr(LanguageModel, "_rows", lambda self, hidden: full.append(len(hidden)) or rows(self, hidden))
    result = decoder.decode(PROMPTS[1], tools=lookup(WEATHER), draft_tokens=0, order_limit=1)
    # one position per pass, more if pending text is tried
    assert 0 < len(full) <= result.counters.forward_passes and max(full) <= len("', days='")
