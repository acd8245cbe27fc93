"""Greedy and beam search: what a prompt gives does not depend on its company, and what it cost is counted exactly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch

from eval.methods.plain_decoding import PlainDecoder, turn_end
from lookup.dictionary import LookupDictionary
from tooldecoding.decoder import Request
from tooldecoding.errors import PromptError
from tooldecoding.models.loading import load_model
from tooldecoding.options import DecodeOptions

PROMPTS = ["User: go\nCalls: ", "AI: what is the weather like in San Francisco?\nAPI-Request: ", "x"]


def request(prompt: str, stop: str | None = "\n", most: int = 24) -> Request:
    return Request(prompt, LookupDictionary(()), DecodeOptions(max_text_tokens=most), stop=stop)


@contextmanager
def counted(model: torch.nn.Module) -> Iterator[dict[str, int]]:
    """Forward passes, and positions with their padding, inside the block."""
    counts = {"passes": 0, "positions": 0}

    def count(_: object, args: object, kwargs: dict[str, torch.Tensor]) -> None:
        counts["passes"] += 1
        counts["positions"] += kwargs["input_ids"].numel()

    handle = model.register_forward_pre_hook(count, with_kwargs=True)
    yield counts
    handle.remove()


@pytest.mark.parametrize("beams", [1, 3])
def test_together_as_alone(make_tiny: Callable[[str], str], beams: int) -> None:
    decoder = PlainDecoder(*load_model(make_tiny("llama")), beams)
    alone = [decoder.run([request(p)])[0] for p in PROMPTS]
    together = decoder.run([request(p) for p in PROMPTS])
    assert [p.text for p in together] == [p.text for p in alone]
    for one, other in zip(alone, together, strict=True):
        assert {**one.counters, "seconds": 0} == {**other.counters, "seconds": 0}


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_passes_and_positions(make_tiny: Callable[[str], str], prompt: str, beams: int) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    decoder = PlainDecoder(model, tokenizer, beams)
    with counted(model) as counts:
        [prediction] = decoder.run([request(prompt, stop=None)])
    found = prediction.counters["forward_passes"], prediction.counters["positions"]
    assert found == (counts["passes"], counts["positions"])


def test_greedy_takes_the_likeliest_token_each_time(make_tiny: Callable[[str], str]) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    [prediction] = PlainDecoder(model, tokenizer).run([request("User: go", stop=None, most=8)])
    ids = tokenizer.encode("User: go")
    written = []
    with torch.inference_mode():
        for _ in range(8):
            written.append(int(model(torch.tensor([ids + written])).logits[0, -1].argmax()))
    assert prediction.text == tokenizer.decode(written, skip_special_tokens=True).strip()


def test_a_turn_ends_behind_something() -> None:
    assert turn_end("\n\n [f()]\nUser:", "\n") == 8
    assert turn_end("\n \n", "\n") == -1
    assert turn_end("", "\n") == -1


def test_a_neighbour_without_room_cuts_no_answer(make_tiny: Callable[[str], str]) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    decoder = PlainDecoder(model, tokenizer)
    context = model.config.max_position_embeddings
    long = next(text for n in range(context, 0, -1) if len(tokenizer.encode(text := "x" * n)) <= context - 5)
    alone = [decoder.run([request(p, stop=None)])[0] for p in (PROMPTS[0], long, PROMPTS[2])]
    together = decoder.run([request(p, stop=None) for p in (PROMPTS[0], long, PROMPTS[2])])
    assert [p.text for p in together] == [p.text for p in alone]
    assert [p.counters["forward_passes"] for p in together] == [p.counters["forward_passes"] for p in alone]


def test_a_prompt_without_room(make_tiny: Callable[[str], str]) -> None:
    decoder = PlainDecoder(*load_model(make_tiny("llama")))
    with pytest.raises(PromptError, match="the model's context is"):
        decoder.run([request("word " * 5000)])
