"""What is asked of ``generate`` beside a ``custom_generate`` is held or refused, never ignored."""

import json
from typing import Any

import pytest
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    MaxTimeCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
)

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import tool_decoding
from tooldecoding.errors import ConfigError

TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("llama", len(TOKENIZER))
TOOL = {"name": "Add", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
METHOD = tool_decoding(TOKENIZER, json.dumps(TOOL), order_limit=1, max_value_tokens=4)
INPUTS = TOKENIZER("User: add something\n", return_tensors="pt", return_token_type_ids=False)
WIDTH = INPUTS.input_ids.shape[1]


def generate(**arguments: Any) -> list[int]:
    return list(MODEL.generate(**{**INPUTS, "custom_generate": METHOD, **arguments})[0].tolist())


CALL = generate()
LENGTH = len(CALL) - WIDTH

REFUSED = {
    "num_beams": 4,
    "do_sample": True,
    "temperature": 0.7,
    "top_k": 5,
    "top_p": 0.9,
    "repetition_penalty": 1.2,
    "no_repeat_ngram_size": 1,
    "logits_processor": LogitsProcessorList([TemperatureLogitsWarper(0.5)]),
    "stopping_criteria": StoppingCriteriaList([MaxTimeCriteria(1.0)]),
    "prefix_allowed_tokens_fn": lambda *_: [5],
    "max_time": 1,
    "min_new_tokens": 3,
    "bad_words_ids": [[5]],
    "suppress_tokens": [5],
    "forced_bos_token_id": 1,
    "forced_eos_token_id": 1,
    "eos_token_id": TOKENIZER.encode("'")[0],
    "assistant_model": MODEL,
    "prompt_lookup_num_tokens": 4,
    "output_scores": True,
    "use_cache": False,
    "cache_implementation": "static",
    "position_ids": torch.arange(WIDTH)[None],
    "inputs_embeds": torch.zeros(1, WIDTH, 64),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_held_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}=.*leave it out|{name}=.*pass 1"):
        generate(**{name: REFUSED[name]})


@pytest.mark.parametrize("name", [n for n in REFUSED if n in vars(GenerationConfig())])
def test_a_configuration_is_read_like_arguments(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}="):
        generate(generation_config=GenerationConfig(**{name: REFUSED[name]}))


@pytest.mark.parametrize(
    "arguments",
    [
        {"do_sample": False, "temperature": None, "top_p": None, "top_k": None},
        {"num_beams": 1, "num_return_sequences": 1, "temperature": 1.0, "top_k": 50, "repetition_penalty": 1},
        {"eos_token_id": TOKENIZER.eos_token_id, "pad_token_id": 2, "use_cache": True},
        {"eos_token_id": [TOKENIZER.eos_token_id, 0]},
        {"logits_processor": LogitsProcessorList(), "stopping_criteria": None, "assistant_model": None},
        {"generation_config": GenerationConfig()},
        {"max_new_tokens": LENGTH},
        {"max_length": WIDTH + LENGTH},
    ],
)
def test_what_changes_nothing_is_accepted(arguments: dict[str, Any]) -> None:
    assert generate(**arguments) == CALL


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> GenerationConfig:
    """The model's own generation_config.json, for one test."""
    config = GenerationConfig(do_sample=True, temperature=0.6, top_p=0.8, top_k=20, repetition_penalty=1.05)
    monkeypatch.setattr(MODEL, "generation_config", config)
    return config


def test_what_the_folder_sets_is_not_asked_for(folder: GenerationConfig) -> None:
    assert generate() == generate(max_new_tokens=LENGTH) == generate(generation_config=folder) == CALL
    with pytest.raises(ConfigError, match=r"temperature=0\.6"):
        generate(temperature=0.6)
    with pytest.raises(ConfigError, match="do_sample=True"):
        generate(do_sample=True)


def test_beams_of_the_folder_are_refused_since_they_multiply_the_rows(folder: GenerationConfig) -> None:
    folder.num_beams = 3
    with pytest.raises(ConfigError, match="num_beams=3"):
        generate()
    assert generate(num_beams=1) == CALL
    with pytest.raises(ConfigError, match="num_return_sequences=2"):
        generate(num_beams=1, num_return_sequences=2)


@pytest.mark.parametrize(
    "limit",
    [
        {"max_new_tokens": LENGTH - 1},
        {"max_length": WIDTH + LENGTH - 1},
        {"generation_config": GenerationConfig(max_new_tokens=LENGTH - 1)},
        {"generation_config": GenerationConfig(max_length=WIDTH + LENGTH - 1)},
    ],
)
def test_a_call_beyond_the_limit_is_an_error(limit: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"{LENGTH} tokens, but max_.* leaves {LENGTH - 1}, and a call that is cut"):
        generate(**limit)


def test_limits_of_the_folder_hold(folder: GenerationConfig) -> None:
    folder.max_length = WIDTH + LENGTH - 1
    with pytest.raises(ConfigError, match="max_length="):
        generate()
    assert generate(max_new_tokens=LENGTH) == CALL


def test_free_text_ends_at_the_limit() -> None:
    method = tool_decoding(TOKENIZER, json.dumps(TOOL), tool_choice="none", max_text_tokens=30)
    free = generate(custom_generate=method)[WIDTH:]
    for most in (1, 7):
        assert generate(custom_generate=method, max_new_tokens=most)[WIDTH:] == free[:most] and len(free) > most
    output = MODEL.generate(**INPUTS, custom_generate=method, max_new_tokens=7, return_dict_in_generate=True)
    assert output.results[0].counters.free_tokens == 7  # no more were decoded


def test_the_pad_token_that_is_asked_for_fills_up() -> None:
    texts = ["a", "User: add something\n", "b b", "17 and 4\n"]
    rows = TOKENIZER(texts, return_tensors="pt", padding=True, return_token_type_ids=False)
    output = MODEL.generate(**rows, custom_generate=METHOD, pad_token_id=5, return_dict_in_generate=True)
    lengths = [len(result.token_ids) for result in output.results]
    assert len(set(lengths)) > 1
    for sequence, result, length in zip(output.sequences, output.results, lengths, strict=True):
        behind = sequence[rows.input_ids.shape[1] :].tolist()
        assert behind == [*result.token_ids, *[5] * (max(lengths) - length)]
