"""Methods: a prompt gives what it gives alone, its cost is counted, and what each method is beside the others."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import geometric_mean
from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.choose import Method, make_method
from eval.methods.plain_decoding import PlainDecoder, turn_end
from eval.methods.prediction import Prediction, ScoredText
from eval.methods.self_consistency import GumbelNoise, SampledLogits
from eval.options import PEER_METHODS, EvalOptions
from lookup import extract
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tooldecoding.request import Request
from tools import documented

TEXT = {"type": "string"}
COLOUR = {"type": "string", "enum": ["red", "blue", "green"]}
TOOLS = extract(
    [
        documented("BookBoat", ["deck", "day"], deck=TEXT, day=TEXT, sails={"type": "boolean"}),
        documented("SetLamp", ["room"], room=TEXT, colour=COLOUR),
    ]
)
PROMPTS = ["User: A boat to Kiel.\nCalls: ", "User: Light!\nCalls: [", "User: Two boats, 3 days.\nCalls: "]
OPTIONS = EvalOptions(
    format="pythonic",
    template="bfcl",
    max_value_tokens=3,
    max_text_tokens=16,
    max_calls=2,
    samples=3,
    tool_choice="auto",
)
METHODS: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy"},
    "beam": {"method": "beam", "beams": 3},
    "tooldec": {"method": "tooldec", "tool_choice": "required"},
    "xgrammar": {"method": "xgrammar"},
    "llguidance": {"method": "llguidance", "tool_choice": "required", "max_text_tokens": 60},
    "self-consistency": {"method": "self-consistency"},
    "tool-decoding": {"method": "tool-decoding", "draft_tokens": 0},
}


@cache
def model() -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    tokenizer = byte_level_tokenizer()
    return tiny_model("llama", len(tokenizer), seed=6), tokenizer


@cache
def decoder() -> ToolDecoder:
    return ToolDecoder(*model(), prompt_cache_mb=0)


def requests(settings: EvalOptions, prompts: Sequence[str] = PROMPTS, stop: str | None = "\n") -> list[Request]:
    return [Request(prompt, TOOLS, settings, stop=stop) for prompt in prompts]


def method(settings: EvalOptions) -> Method:
    if settings.method in PEER_METHODS:
        pytest.importorskip(settings.method)
    return make_method(settings, *model(), settings.format)


@pytest.mark.parametrize("name", METHODS)
def test_together_as_alone_and_what_is_computed_is_counted(name: str) -> None:
    settings, counts, alone = replace(OPTIONS, **METHODS[name]), list[int](), list[Prediction]()
    decode, asked = method(settings), requests(settings)  # it tries an engine
    hook = model()[0].get_input_embeddings().register_forward_pre_hook(lambda _, args: counts.append(args[0].numel()))
    for request in asked:
        counts.clear()
        alone += decode([request])
        counters = alone[-1].counters
        assert (counters["forward_passes"], counters["positions"]) == (len(counts), sum(counts))
    hook.remove()
    assert len({prediction.text for prediction in alone}) > 1
    for one, other in zip(decode(asked), alone, strict=True):
        assert (one.text, one.written, one.candidates) == (other.text, other.written, other.candidates)
        assert one.counters["forward_passes"] == other.counters["forward_passes"]


@pytest.mark.parametrize("beams", [1, 3])
def test_beside_a_neighbour_that_leaves_the_answer_no_room(beams: int) -> None:
    (llama, tokenizer), options = model(), replace(OPTIONS, max_text_tokens=24)
    plain, context = PlainDecoder(llama, tokenizer, beams), llama.config.max_position_embeddings
    long = next(text for n in range(context, 0, -1) if len(tokenizer.encode(text := "x" * n)) <= context - 5)
    asked = requests(options, [PROMPTS[0], long], stop=None)
    assert [p.text for p in plain.run(asked)] == [plain.run([request])[0].text for request in asked]
    with pytest.raises(PromptError, match="the model's context is"):
        plain.run(requests(options, ["word " * 5000]))


@pytest.mark.parametrize("beams", [1, 3])
def test_an_answer_ends_before_its_stop(beams: int) -> None:
    plain = PlainDecoder(*model(), beams)
    [whole] = plain.run(requests(OPTIONS, PROMPTS[:1], stop=None))
    stop = whole.text[len(whole.text) // 2]
    [alone], [together, *_] = (plain.run(requests(OPTIONS, prompts, stop)) for prompts in (PROMPTS[:1], PROMPTS))
    for cut in (alone, together):
        assert stop not in cut.text and (beams > 1 or whole.text.startswith(cut.text))
        assert cut.counters["forward_passes"] == alone.counters["forward_passes"]
    assert beams > 1 or alone.counters["forward_passes"] < whole.counters["forward_passes"]


def test_greedy_takes_the_likeliest_token_each_time() -> None:
    (llama, tokenizer), options = model(), replace(OPTIONS, max_text_tokens=8)
    [prediction] = PlainDecoder(llama, tokenizer).run(requests(options, ["User: go"], stop=None))
    ids, written, chances = tokenizer.encode("User: go"), list[int](), list[float]()
    with torch.inference_mode():
        for _ in range(8):
            likeliest = llama(torch.tensor([ids + written])).logits[0, -1].softmax(-1).max(-1)
            written.append(int(likeliest.indices))
            chances.append(float(likeliest.values))
    assert prediction.text == tokenizer.decode(written, skip_special_tokens=True).strip()
    assert prediction.score == pytest.approx(geometric_mean(chances), rel=1e-4)


def test_where_a_turn_ends() -> None:
    assert [turn_end(text, "\n") for text in ("\n\n [f()]\nUser:", "\n \n", "")] == [8, -1, -1]


def sampled(prompts: Sequence[str] = PROMPTS, **changed: Any) -> list[Prediction]:
    given = {"method": "self-consistency", "sample_temperature": 1.0, "tool_choice": "required"} | changed
    settings = replace(OPTIONS, **given)
    return method(settings)(requests(settings, prompts, stop=None))


def texts(predictions: Sequence[Prediction]) -> list[list[str]]:
    return [[str(candidate["text"]) for candidate in p.candidates] for p in predictions]


@pytest.mark.parametrize(("form", "temperature"), [("api-bank", 0.0), ("api-bank", 1e-9), ("pythonic", 1e-9)])
def test_samples_without_temperature_are_one_order(form: str, temperature: float) -> None:
    direct = decoder().run(requests(replace(OPTIONS, format=form, template="api-bank", order_limit=1), stop=None))
    for samples in (1, 3):
        found = sampled(
            format=form, template="api-bank", samples=samples, sample_temperature=temperature, tool_choice="auto"
        )
        assert [p.written for p in found] == [r.text for r in direct]
        assert [p.score for p in found] == [1.0 if r.calls else None for r in direct]
        for prediction, result in zip(found, direct, strict=True):
            alone = [c.candidates[0].text for c in result.calls]
            assert [c["text"] for c in prediction.candidates] == [text for text in alone for _ in range(samples)]
            if samples == 1:
                assert prediction.counters["forward_passes"] == result.counters.forward_passes


def test_samples_depend_on_the_seed_alone() -> None:
    """Not on drafts, or the number of samples."""
    found, single = texts(sampled(samples=4)), texts(sampled(samples=4, max_calls=1))
    assert texts(sampled(samples=4, draft_tokens=0)) == found
    assert texts(sampled(samples=2, max_calls=1)) == [candidates[:2] for candidates in single]
    assert texts(sampled(samples=4, seed=1)) != found
    assert all(len(set(candidates)) > 1 for candidates in found)
    for prediction, candidates in zip(sampled(samples=4, max_calls=1), single, strict=True):
        assert prediction.score == max(map(candidates.count, candidates)) / 4


def test_samples_share_the_prompt() -> None:
    [one], [four] = (sampled(PROMPTS[:1], samples=samples) for samples in (1, 4))
    prompt = len(decoder().prompt_ids(requests(OPTIONS)[0]))
    behind = one.counters["positions"] - prompt
    assert four.counters["positions"] < prompt + 8 * behind < 4 * one.counters["positions"] + 4 * behind


def test_draws_follow_the_softmax() -> None:
    """5,000 draws among three of four tokens at temperature 0.7, and their log-probability without it."""
    logits = NextTokenLogits(torch.tensor([0.0, 1.0, 2.0, 1.5]))
    tokens = np.array([0, 1, 3])
    counts = np.zeros(4)
    own = torch.log_softmax(torch.tensor([0.0, 1.0, 1.5]), 0)
    for place in range(5_000):
        token, logprob = SampledLogits(logits, GumbelNoise(5, 0.7), place).best_among(tokens)
        counts[token] += 1
        assert logprob == pytest.approx(float(own[[0, 1, 3].index(token)]))
    expected = torch.softmax(torch.tensor([0.0, 1.0, 1.5]) / 0.7, 0).numpy()
    # four standard errors of the most variable share
    assert counts[tokens] / 5_000 == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(5_000))
    assert SampledLogits(logits, GumbelNoise(5, 0.7), 0).logprob(2) == logits.logprob(2)
    assert SampledLogits(logits, GumbelNoise(5, 0.7), 0).likeliest_among(tokens[:0], 3) == []


PYTHONIC = CALL_FORMATS["pythonic"]
TWO = [Call("BookBoat", {"day": "New York", "sails": True}), Call("BookBoat", {"day": "3"})]


@pytest.mark.parametrize("call_format", NATIVE_FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("before", ["", "Let me [see]. ", "<think>\n{no}\n</think>\n"])
def test_calls_of_any_format_are_scored_in_the_benchmarks(call_format: CallFormat, before: str) -> None:
    calls = TWO if call_format.parallel else TWO[:1]
    text = before + call_format.lead + call_format.render(calls)
    scored = ScoredText(call_format, PYTHONIC, as_it_stands=False)
    assert scored.of_text(text + "\n", TOOLS) == PYTHONIC.render(calls) == scored.of_calls(text, calls)
    assert scored.of_text(text[:-3], TOOLS) in (text[:-3], PYTHONIC.render(calls))  # some readers take a missing end
    one = call_format.render(calls[:1])
    half = before + one[: len(one) * 2 // 3]
    assert scored.of_text(half, TOOLS) == half
    assert scored.of_text("Nothing.", TOOLS) == "Nothing."
    unknown = call_format.render([Call("g", {"x": [1]})])
    # the documentation need not know a call; some formats do not tell its values from texts
    assert scored.of_text(unknown, TOOLS) in ("[g(x=[1])]", "[g(x='[1]')]")


@pytest.mark.parametrize(("template", "before"), [("bfcl", "Well: "), ("chat", "")])
def test_a_text_is_scored_as_it_stands_but_for_chat(template: str, before: str) -> None:
    scored = ScoredText.of(EvalOptions(template=template, format="pythonic"), "pythonic")
    assert scored.of_text("Well: [SetLamp(room='a')]", TOOLS) == before + "[SetLamp(room='a')]"
