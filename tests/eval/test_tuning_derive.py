"""What is derived from the candidates of the largest limit is what a direct decode gives, exactly."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval.methods.method_task import Draft, predict_all
from eval.methods.prediction import Prediction, candidate_rows
from eval.methods.scored_text import ScoredText
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions, read_decoded
from eval.tuning.evidence import Evidence, derive
from eval.tuning.tune import decoding_again
from lookup import extract
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult


def parameters(required: Sequence[str], *types: str, **optional: Mapping[str, Any]) -> dict[str, Any]:
    keys = {key: {"type": types[number % len(types)], "description": ""} for number, key in enumerate(required)}
    return {"type": "object", "properties": keys | optional, "required": list(required)}


TOOLS = extract(
    [
        {
            "name": "BookBoat",
            "parameters": parameters(["deck", "day", "crew", "food"], "boolean", sails={"type": "boolean"}),
        },
        {
            "name": "SetLamp",
            "parameters": parameters(["room", "level"], "string", "integer", colour={"enum": ["red", "blue"]}),
        },
        {"name": "Ask", "parameters": parameters([], what={"type": "string"})},
    ]
)
PROMPTS = [f"User: {text}\nAI: " for text in ("A boat to Kiel.", "Light!", "What time is it?", "Two boats, 3 days.")]
FULL = VoteOptions(6)
VARIANTS = [
    *(VoteOptions(limit) for limit in (1, 2, 3, 4, 6)),
    *(VoteOptions(6, share) for share in (0.1, 0.2, 0.8)),
]


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer), seed=6), tokenizer)


def requests(form: str) -> dict[str, Request]:
    options = DecodeOptions(format=form, max_value_tokens=3, max_calls=3)
    return {str(number): Request(prompt, TOOLS, options) for number, prompt in enumerate(PROMPTS)}


def prediction(result: DecodeResult) -> Prediction:
    return Prediction(result.text, candidate_rows([call.candidates for call in result.calls]))


def decoded(decoder: ToolDecoder, asked: Mapping[str, Request]) -> dict[str, list[DecodedPrompt]]:
    again = decoding_again(lambda some: [prediction(result) for result in decoder.run(some)], 3)
    return {name: [one] for name, one in again(asked, FULL).items()}


def evidence(decoder: ToolDecoder, asked: Mapping[str, Request], form: str) -> Evidence:
    scored = ScoredText(CALL_FORMATS[form], CALL_FORMATS[form], as_it_stands=True)
    again = decoding_again(lambda some: [prediction(result) for result in decoder.run(some)], 3)
    return Evidence(dict.fromkeys(asked), decoded(decoder, asked), again, SGD, scored)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["api-bank", "pythonic"])
def test_derived_is_direct(decoder: ToolDecoder, form: str) -> None:
    asked = requests(form)
    found, texts = evidence(decoder, asked, form), []
    for variant in VARIANTS:
        direct = [result.text for result in decoder.run([variant.applied(request) for request in asked.values()])]
        assert [outcome.text for outcome in found.outcomes(variant).values()] == direct, variant
        texts.append(direct)
    assert texts[0] != texts[4]  # else nothing was shown
    # a single call is always derived; what follows a call depends on its text
    assert (sum(found.again.values()) > 0) == (form == "pythonic")


def test_a_prompt_that_fails_fails_for_every_variant(decoder: ToolDecoder) -> None:
    asked = requests("api-bank")
    asked = {"0": asked["0"], "1": Request("word " * 6000, TOOLS, asked["1"].options)}
    found = evidence(decoder, asked, "api-bank")
    assert list(found.requests) == ["0"] and len(found.failures) == 1
    for variant in VARIANTS[:3]:
        fine, long = found.outcomes(variant).values()
        assert fine.text and not fine.error
        assert "context is" in long.error and not long.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prediction": "[Ask()]"}, "decoded by another version; choose another --out"),
        ({"candidates": [{"call": 0}]}, "no row of candidates for this prompt"),
        ({"candidates": [{"call": 0, "name": "Fly", "order": [], "text": "", "values": []}]}, "'Fly'"),
    ],
)
def test_rows_of_something_else(decoder: ToolDecoder, change: Mapping[str, Any], said: str) -> None:
    request = requests("api-bank")["0"]
    [found] = predict_all(lambda some: [prediction(r) for r in decoder.run(some)], [Draft("0", FULL.applied(request))])
    with pytest.raises(EvalError, match=said) as error:
        read_decoded(found.to_json() | change, "file:1", request, FULL)
    assert str(error.value).startswith("file:1: ")


def test_candidates_of_fewer_orders_tell_nothing() -> None:
    two = DecodedPrompt(requests("api-bank")["0"], VoteOptions(2), "", "", ())
    form = CALL_FORMATS["api-bank"]
    assert derive(two, VoteOptions(3), ScoredText(form, form, as_it_stands=True)) is None
