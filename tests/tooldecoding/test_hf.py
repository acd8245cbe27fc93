"""As a decoding method of transformers."""

import copy
import gc
import json
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel, TextIteratorStreamer
from transformers.generation.streamers import BaseStreamer

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder, tool_decoding
from tooldecoding.errors import ConfigError
from tooldecoding.generate.method import ToolDecodingMethod, ToolDecodingOutput

TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("qwen2", len(TOKENIZER))
DOCS = json.dumps(
    {
        "name": "GetWeather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    }
)


def test_generate_gives_the_decoders_call() -> None:
    prompt = "User: the weather\n"
    inputs = TOKENIZER([prompt], return_tensors="pt", return_token_type_ids=False)
    method = tool_decoding(TOKENIZER, DOCS, max_value_tokens=6)
    sequences = MODEL.generate(**inputs, custom_generate=method, max_new_tokens=64)
    wanted = ToolDecoder(MODEL, TOKENIZER).decode(prompt, tools=DOCS, max_value_tokens=6)
    assert TOKENIZER.decode(sequences[0]) == prompt + wanted.text  # type: ignore[union-attr]


def test_padded_prompts_and_a_dictionary() -> None:
    prompts = ["x", "User: the weather in New York\n"]
    inputs = TOKENIZER(prompts, return_tensors="pt", padding=True, padding_side="left", return_token_type_ids=False)
    method = tool_decoding(TOKENIZER, DOCS, max_value_tokens=6, order_limit=1)
    output = MODEL.generate(**inputs, custom_generate=method, return_dict_in_generate=True, max_new_tokens=64)
    assert isinstance(output, ToolDecodingOutput) and output.results and output.sequences is not None
    alone = [ToolDecoder(MODEL, TOKENIZER).decode(p, tools=DOCS, max_value_tokens=6, order_limit=1) for p in prompts]
    assert [r.text for r in output.results] == [r.text for r in alone]  # type: ignore[union-attr]
    assert output.sequences.dtype == torch.long and output.sequences.shape[0] == 2


PROMPT = "User: the weather in Rome for three days, please, and in New York\n"


def inputs(*prompts: str) -> Any:
    return TOKENIZER(
        list(prompts) or [PROMPT],
        return_tensors="pt",
        padding=True,
        padding_side="left",
        return_token_type_ids=False,
    )


def new_model(seed: int = 0) -> PreTrainedModel:
    return tiny_model("qwen2", len(TOKENIZER), seed)


def method(**fields: Any) -> ToolDecodingMethod:
    return tool_decoding(TOKENIZER, DOCS, **{"max_value_tokens": 6, "order_limit": 1} | fields)


def own_call(model: PreTrainedModel) -> str:
    """What a decoder that never saw another state of the model writes."""
    result: Any = ToolDecoder(model, TOKENIZER).decode(PROMPT, tools=DOCS, max_value_tokens=6, order_limit=1)
    return PROMPT + str(result.text)


def train(model: PreTrainedModel) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))


def replace_head(model: PreTrainedModel) -> None:
    weight = model.get_output_embeddings().weight
    model.get_output_embeddings().weight = torch.nn.Parameter(torch.randn_like(weight))


def load(model: PreTrainedModel) -> None:
    model.load_state_dict(new_model(seed=7).state_dict())


@pytest.mark.parametrize("change", [train, replace_head, load])
@pytest.mark.parametrize("megabytes", [0, 64])
def test_changed_weights_change_the_call(change: Callable[[PreTrainedModel], None], megabytes: int) -> None:
    model, decode = new_model(), method(prompt_cache_mb=megabytes)
    torch.manual_seed(1)
    for _ in range(2):
        assert TOKENIZER.decode(model.generate(**inputs(), custom_generate=decode)[0]) == own_call(model)
        change(model)
    assert TOKENIZER.decode(model.generate(**inputs(), custom_generate=decode)[0]) == own_call(model)


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
        assert TOKENIZER.decode(model.generate(**inputs(), custom_generate=decode)[0]) == own_call(model)
    twin = copy.deepcopy(first)
    load(twin)
    assert TOKENIZER.decode(twin.generate(**inputs(), custom_generate=decode)[0]) == own_call(twin)
    replica = first._replicate_for_data_parallel()  # has all attributes of the model
    replica.lm_head = new_model(seed=5).lm_head
    for model in (replica, first):
        assert TOKENIZER.decode(model.generate(**inputs(), custom_generate=decode)[0]) == own_call(model)
    gone, idle = weakref.ref(first), copy.deepcopy(first)
    del first, model, replica
    gc.collect()
    assert gone() is None
    for copied in (idle, pickle.loads(pickle.dumps(second))):
        assert not copied._tool_decoders  # a copy takes none along


def test_each_module_keeps_its_mode() -> None:
    model = new_model().train()
    frozen = model.model.layers[0].eval()
    model.generate(**inputs(), custom_generate=method())
    assert model.training and model.model.layers[1].mlp.training and not frozen.training and not frozen.mlp.training
    with pytest.raises(ConfigError):
        model.generate(**inputs(), custom_generate=method(), max_new_tokens=2)
    assert model.training


class Heard(BaseStreamer):
    """Keeps what a streamer is told."""

    def __init__(self) -> None:
        self.put_in: list[list[int]] = []
        self.ends = 0

    def put(self, value: torch.Tensor) -> None:
        self.put_in.append(value.flatten().tolist())

    def end(self) -> None:
        self.ends += 1


@pytest.mark.parametrize("bound", [False, True])
def test_a_streamer_hears_the_prompt_the_tokens_and_the_end(bound: bool) -> None:
    heard = Heard()
    given = {} if bound else {"streamer": heard}
    decode = method(streamer=heard) if bound else method()
    [sequence] = MODEL.generate(**inputs(), custom_generate=decode, **given)
    [prompt] = inputs().input_ids.tolist()
    assert heard.put_in == [prompt, *([token] for token in sequence.tolist()[len(prompt) :])] and heard.ends == 1
    with pytest.raises(ConfigError):
        MODEL.generate(**inputs(), custom_generate=decode, num_return_sequences=1, max_new_tokens=2, **given)
    assert heard.ends == 2
    with pytest.raises(ConfigError, match="a streamer takes one prompt, got 2"):
        MODEL.generate(**inputs("a", "b"), custom_generate=decode, **given)


def test_an_iterator_streamer_comes_to_its_end() -> None:
    streamer = TextIteratorStreamer(TOKENIZER, skip_prompt=True, timeout=20)
    MODEL.generate(**inputs(), custom_generate=method(), streamer=streamer)
    assert PROMPT + "".join(streamer) == own_call(MODEL)
