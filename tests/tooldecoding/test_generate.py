"""As a decoding method of transformers: ``generate(custom_generate=…)``; what is asked beside is held or refused."""

import copy
import gc
import json
import pickle
import weakref
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    MaxTimeCriteria,
    PreTrainedModel,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
)
from transformers.generation.streamers import BaseStreamer

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder, tool_decoding
from tooldecoding.errors import ConfigError
from tooldecoding.generate.method import ToolDecodingMethod, ToolDecodingOutput
from tools import documented

TOKENIZER = byte_level_tokenizer()
DOCS = json.dumps(documented("GetWeather", None, "The weather.", city={"type": "string"}, days={"type": "integer"}))
PROMPT = "User: the weather in Rome for three days, please, and in New York\n"
OPTIONS: dict[str, Any] = {"max_value_tokens": 6, "order_limit": 1}
FOLDER = str(Path(__file__).parents[2] / "tooldecoding" / "generate" / "hub")
new_model = partial(tiny_model, "qwen2", len(TOKENIZER))
MODEL = new_model()


def inputs(*prompts: str) -> Any:
    given = {"return_tensors": "pt", "padding": True, "padding_side": "left", "return_token_type_ids": False}
    return TOKENIZER(list(prompts) or [PROMPT], **given)


WIDTH = inputs().input_ids.shape[1]


def method(**fields: Any) -> ToolDecodingMethod:
    return tool_decoding(TOKENIZER, DOCS, **OPTIONS | fields)


def generate(model: PreTrainedModel = MODEL, **arguments: Any) -> list[int]:
    return list(model.generate(**{**inputs(), "custom_generate": method(), **arguments})[0].tolist())


def own_call(model: PreTrainedModel) -> str:
    """What a decoder that never saw another state of the model writes."""
    result: Any = ToolDecoder(model, TOKENIZER).decode(PROMPT, tools=DOCS, **OPTIONS)
    return PROMPT + str(result.text)


CALL = generate()
LENGTH = len(CALL) - WIDTH


def test_generate_gives_the_decoders_call() -> None:
    assert TOKENIZER.decode(CALL) == own_call(MODEL)
    prompts = ["x", PROMPT]
    output = MODEL.generate(**inputs(*prompts), custom_generate=method(), pad_token_id=5, return_dict_in_generate=True)
    assert isinstance(output, ToolDecodingOutput) and output.results and output.sequences is not None
    alone: list[Any] = [ToolDecoder(MODEL, TOKENIZER).decode(p, tools=DOCS, **OPTIONS) for p in prompts]
    assert [r.text for r in output.results] == [r.text for r in alone]
    lengths = [len(result.token_ids) for result in output.results]
    for sequence, result, length in zip(output.sequences, output.results, lengths, strict=True):
        assert sequence[WIDTH:].tolist() == [*result.token_ids, *[5] * (max(lengths) - length)]


REFUSED: dict[str, Any] = {
    **{"num_beams": 4, "do_sample": True, "temperature": 0.7, "top_k": 5, "top_p": 0.9, "repetition_penalty": 1.2},
    **{"no_repeat_ngram_size": 1, "max_time": 1, "min_new_tokens": 3, "bad_words_ids": [[5]], "forced_eos_token_id": 1},
    **{"output_scores": True, "use_cache": False, "cache_implementation": "static", "assistant_model": MODEL},
    "logits_processor": LogitsProcessorList([TemperatureLogitsWarper(0.5)]),
    "stopping_criteria": StoppingCriteriaList([MaxTimeCriteria(1.0)]),
    "prefix_allowed_tokens_fn": lambda *_: [5],
    "eos_token_id": TOKENIZER.encode("'")[0],
    "position_ids": torch.arange(WIDTH)[None],
    "inputs_embeds": torch.zeros(1, WIDTH, 64),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_held_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}=.*leave it out|{name}=.*pass 1"):
        generate(**{name: REFUSED[name]})
    if name in vars(GenerationConfig()):
        with pytest.raises(ConfigError, match=f"{name}="):
            generate(generation_config=GenerationConfig(**{name: REFUSED[name]}))


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_beams": 1, "num_return_sequences": 1, "temperature": 1.0, "top_k": 50, "repetition_penalty": 1},
        {"eos_token_id": [TOKENIZER.eos_token_id, 0], "pad_token_id": 2, "use_cache": True, "do_sample": False},
        {"logits_processor": LogitsProcessorList(), "stopping_criteria": None, "assistant_model": None},
        {"generation_config": GenerationConfig()},
        {"max_new_tokens": LENGTH},
        {"max_length": WIDTH + LENGTH},
    ],
)
def test_what_changes_nothing_is_accepted(arguments: dict[str, Any]) -> None:
    assert generate(**arguments) == CALL


def test_what_the_folder_of_the_model_sets_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    config = GenerationConfig(do_sample=True, temperature=0.6, top_p=0.8, top_k=20, repetition_penalty=1.05)
    monkeypatch.setattr(MODEL, "generation_config", config)
    assert generate() == generate(max_new_tokens=LENGTH) == generate(generation_config=config) == CALL
    with pytest.raises(ConfigError, match=r"temperature=0\.6"):
        generate(temperature=0.6)
    config.num_beams = 3  # they multiply the rows
    with pytest.raises(ConfigError, match="num_beams=3"):
        generate()
    assert generate(num_beams=1) == CALL
    config.num_beams, config.max_length = 1, WIDTH + LENGTH - 1
    with pytest.raises(ConfigError, match="max_length="):
        generate()


@pytest.mark.parametrize("given", [{"max_new_tokens": LENGTH - 1}, {"max_length": WIDTH + LENGTH - 1}])
def test_a_call_beyond_the_limit_is_an_error(given: dict[str, Any]) -> None:
    for limit in (given, {"generation_config": GenerationConfig(**given)}):
        with pytest.raises(ConfigError, match=rf"{LENGTH} tokens, but max_.* leaves {LENGTH - 1}, and a call that is"):
            generate(**limit)


def test_free_text_ends_at_the_limit() -> None:
    free = generate(custom_generate=(text := method(tool_choice="none", max_text_tokens=30)))[WIDTH:]
    for most in (1, 7):
        assert generate(custom_generate=text, max_new_tokens=most)[WIDTH:] == free[:most] and len(free) > most
    output = MODEL.generate(**inputs(), custom_generate=text, max_new_tokens=7, return_dict_in_generate=True)
    assert output.results[0].counters.free_tokens == 7  # no more were decoded


def test_prompts_are_kept_where_asked_for_and_can_be_cleared() -> None:
    def reused(decode: ToolDecodingMethod) -> int:
        output = MODEL.generate(**inputs(), custom_generate=decode, return_dict_in_generate=True)
        return int(output.results[0].counters.reused_positions)

    keeping = method(prompt_cache_mb=64)
    assert (reused(keeping), reused(keeping) > 0) == (0, True)
    keeping.clear()
    assert reused(keeping) == 0
    assert [reused(default) for default in [method()] for _ in range(2)] == [0, 0]


def test_models_can_go_and_no_other_gets_their_decoder() -> None:
    decode, first, second = method(), new_model(), new_model(seed=3)
    for model in (first, second, first):
        assert TOKENIZER.decode(generate(model, custom_generate=decode)) == own_call(model)
    twin = copy.deepcopy(first)
    twin.load_state_dict(new_model(seed=7).state_dict())
    replica = first._replicate_for_data_parallel()  # has all attributes of the model
    replica.lm_head = new_model(seed=5).lm_head
    for model in (twin, replica, first):
        assert TOKENIZER.decode(generate(model, custom_generate=decode)) == own_call(model)
    gone, idle = weakref.ref(first), copy.deepcopy(first)
    del first, model, replica
    gc.collect()
    assert gone() is None
    for copied in (idle, pickle.loads(pickle.dumps(second))):
        assert not copied._tool_decoders  # a copy takes none along


def test_each_module_keeps_its_mode() -> None:
    model = new_model().train()
    frozen = model.model.layers[0].eval()
    generate(model)
    assert model.training and model.model.layers[1].mlp.training and not frozen.training and not frozen.mlp.training
    with pytest.raises(ConfigError):
        generate(model, max_new_tokens=2)
    assert model.training


@pytest.mark.parametrize("bound", [False, True])
def test_a_streamer_hears_the_prompt_the_tokens_and_the_end(bound: bool) -> None:
    heard = Mock(spec=BaseStreamer)
    given: dict[str, Any] = {"custom_generate": method(streamer=heard)} if bound else {"streamer": heard}
    sequence = generate(**given)
    told = [put.args[0].flatten().tolist() for put in heard.put.call_args_list]
    assert told == [sequence[:WIDTH], *([token] for token in sequence[WIDTH:])] and heard.mock_calls[-1] == call.end()
    with pytest.raises(ConfigError):
        generate(**given, max_new_tokens=2)
    assert heard.end.call_count == 2
    with pytest.raises(ConfigError, match="a streamer takes one prompt, got 2"):
        MODEL.generate(**inputs("a", "b"), **{"custom_generate": method()} | given)


def test_the_folder_in_the_hubs_layout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path))
    given = {"custom_generate": FOLDER, "trust_remote_code": True, "tokenizer": TOKENIZER, "tools": DOCS}
    assert generate(**given, decoding=OPTIONS) == CALL
    for wrong, said in (
        ({"tokenizer": None}, "tokenizer"),
        ({"tools": None}, "tools"),
        ({"num_beams": 4}, "num_beams"),
        ({"decoding": {"ordres": 3}}, "orders"),
    ):
        arguments = {name: value for name, value in (given | wrong).items() if value is not None}
        with pytest.raises(ConfigError, match=said):
            generate(**arguments)
