"""Self-consistency: draws from the right distribution, seeded, and without temperature the call with one order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from eval.methods.prediction import Prediction
from eval.methods.sampling import Sample, SampledLogits
from eval.methods.scored_text import ScoredText
from eval.methods.self_consistency import SelfConsistency
from lookup import extract
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request


def tool(name: str, required: Sequence[str], **optional: object) -> dict[str, object]:
    properties = {key: {"type": "string"} for key in required} | optional
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "", "parameters": schema}


COLOUR = {"type": "string", "enum": ["red", "blue", "green"]}
TOOLS = extract(
    [tool("BookBoat", ["deck", "day"], sails={"type": "boolean"}), tool("SetLamp", ["room"], colour=COLOUR)]
)
PROMPTS = ["User: A boat to Kiel.\nAI: ", "User: Light!\nAI: ", "User: Two boats, 3 days.\nAI: "]


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer), seed=6), tokenizer, prompt_cache_mb=0)


def requests(form: str = "api-bank", **options: object) -> list[Request]:
    given = DecodeOptions(format=form, max_value_tokens=3, max_calls=2)
    return [Request(prompt, TOOLS, replace(given, **options)) for prompt in PROMPTS]  # type: ignore[arg-type]


def predict(
    decoder: ToolDecoder, asked: Sequence[Request], samples: int = 3, temperature: float = 1.0, seed: int = 0
) -> list[Prediction]:
    form = asked[0].options.call_format
    return SelfConsistency(decoder, ScoredText(form, form, True), samples, temperature, seed).run(asked)


def texts(predictions: Sequence[Prediction]) -> list[list[str]]:
    return [[str(candidate["text"]) for candidate in p.candidates] for p in predictions]


@pytest.mark.parametrize(("form", "temperature"), [("api-bank", 0.0), ("api-bank", 1e-9), ("pythonic", 1e-9)])
def test_without_temperature_it_is_one_order(decoder: ToolDecoder, form: str, temperature: float) -> None:
    asked = requests(form)
    direct = decoder.run([replace(r, options=replace(r.options, order_limit=1)) for r in asked])
    for samples in (1, 3):
        found = predict(decoder, asked, samples, temperature)
        assert [p.text for p in found] == [r.text for r in direct]
        for prediction, result in zip(found, direct, strict=True):
            alone = [c.candidates[0].text for c in result.calls]
            assert [c["text"] for c in prediction.candidates] == [text for text in alone for _ in range(samples)]
            if samples == 1:
                assert prediction.counters["forward_passes"] == result.counters.forward_passes


def test_samples_depend_on_the_seed_alone(decoder: ToolDecoder) -> None:
    """Not on company, drafts, or the number of samples."""
    found = texts(predict(decoder, requests(), samples=4))
    assert [texts(predict(decoder, [request], samples=4))[0] for request in requests()] == found
    assert texts(predict(decoder, requests(draft_tokens=0), samples=4)) == found
    assert texts(predict(decoder, requests(), samples=2)) == [candidates[:2] for candidates in found]
    assert texts(predict(decoder, requests(), samples=4, seed=1)) != found
    assert all(len(set(candidates)) > 1 for candidates in found)


def test_samples_share_the_prompt(decoder: ToolDecoder) -> None:
    [one], [four] = (predict(decoder, requests()[:1], samples) for samples in (1, 4))
    prompt = len(decoder.prompt_ids(requests()[0]))
    behind = one.counters["positions"] - prompt
    assert four.counters["positions"] < prompt + 8 * behind < 4 * one.counters["positions"] + 4 * behind


def test_draws_follow_the_softmax() -> None:
    """5,000 draws among three of four tokens at temperature 0.7, and their log-probability without it."""
    logits = NextTokenLogits(torch.tensor([0.0, 1.0, 2.0, 1.5]))
    tokens = np.array([0, 1, 3])
    counts = np.zeros(4)
    for place in range(5_000):
        token, logprob = SampledLogits(logits, Sample(5, 0.7), place).best_among(tokens)
        counts[token] += 1
        own = torch.log_softmax(torch.tensor([0.0, 1.0, 1.5]), 0)
        assert logprob == pytest.approx(float(own[[0, 1, 3].index(token)]))
    expected = torch.softmax(torch.tensor([0.0, 1.0, 1.5]) / 0.7, 0).numpy()
    # four standard errors of the most variable share
    assert counts[tokens] / 5_000 == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(5_000))
    assert SampledLogits(logits, Sample(5, 0.7), 0).logprob(2) == logits.logprob(2)
