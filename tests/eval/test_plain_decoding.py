"""Greedy and beam search: what a prompt gives does not depend on its company, and what it cost is counted exactly."""

from collections.abc import Callable

import pytest
import torch

from eval.methods.plain_decoding import PlainDecoder, turn_end
from lookup.dictionary import LookupDictionary
from tooldecoding.errors import PromptError
from tooldecoding.models.loading import load_model
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request

PROMPTS = ["User: go\nCalls: ", "AI: what is the weather like in San Francisco?\nAPI-Request: ", "x"]


def request(prompt: str, stop: str | None = "\n", most: int = 24) -> Request:
    return Request(prompt, LookupDictionary(()), DecodeOptions(max_text_tokens=most), stop=stop)


@pytest.mark.parametrize("beams", [1, 3])
def test_together_as_alone(make_tiny: Callable[[str], str], beams: int) -> None:
    """Also beside a neighbour that leaves the answer no room."""
    model, tokenizer = load_model(make_tiny("llama"))
    decoder, context = PlainDecoder(model, tokenizer, beams), model.config.max_position_embeddings
    long = next(text for n in range(context, 0, -1) if len(tokenizer.encode(text := "x" * n)) <= context - 5)
    for asked in ([request(p) for p in PROMPTS], [request(p, stop=None) for p in (PROMPTS[0], long)]):
        for one, other in zip([decoder.run([a])[0] for a in asked], decoder.run(asked), strict=True):
            assert one.text == other.text
            assert {**one.counters, "seconds": 0} == {**other.counters, "seconds": 0}


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_passes_and_positions(make_tiny: Callable[[str], str], prompt: str, beams: int) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    counted: list[int] = []

    def count(_: object, args: object, kwargs: dict[str, torch.Tensor]) -> None:
        counted.append(kwargs["input_ids"].numel())

    hook = model.register_forward_pre_hook(count, with_kwargs=True)
    [prediction] = PlainDecoder(model, tokenizer, beams).run([request(prompt, stop=None)])
    hook.remove()
    counters = prediction.counters
    assert (counters["forward_passes"], counters["positions"]) == (len(counted), sum(counted))


def test_greedy_takes_the_likeliest_token_each_time(make_tiny: Callable[[str], str]) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    [prediction] = PlainDecoder(model, tokenizer).run([request("User: go", stop=None, most=8)])
    ids = tokenizer.encode("User: go")
    written: list[int] = []
    with torch.inference_mode():
        for _ in range(8):
            written.append(int(model(torch.tensor([ids + written])).logits[0, -1].argmax()))
    assert prediction.text == tokenizer.decode(written, skip_special_tokens=True).strip()


def test_a_turn_ends_behind_something() -> None:
    assert [turn_end(text, "\n") for text in ("\n\n [f()]\nUser:", "\n \n", "")] == [8, -1, -1]


def test_a_prompt_without_room(make_tiny: Callable[[str], str]) -> None:
    with pytest.raises(PromptError, match="the model's context is"):
        PlainDecoder(*load_model(make_tiny("llama"))).run([request("word " * 5000)])
