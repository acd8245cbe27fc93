"""What is derived from the candidates of the largest limit is what a direct decode gives, exactly."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.errors import EvalError
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions, read_decoded
from eval.tuning.decodes import AGAIN, CANDIDATES, Decodes, TuningPrompt
from eval.tuning.evidence import Evidence, derive
from lookup import extract
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request


def parameters(required: Sequence[str], *types: str, **optional: Mapping[str, Any]) -> dict[str, Any]:
    keys = {key: {"type": types[number % len(types)], "description": ""} for number, key in enumerate(required)}
    return {"type": "object", "properties": keys | optional, "required": list(required)}


TOOLS = extract(
    [
        {
            "name": "BookBoat",
            "description": "Books a boat",
            "parameters": parameters(["deck", "day", "crew", "food"], "boolean", sails={"type": "boolean"}),
        },
        {
            "name": "SetLamp",
            "description": "Switches a lamp",
            "parameters": parameters(
                ["room", "level"], "string", "integer", colour={"type": "string", "enum": ["red", "blue"]}
            ),
        },
        {"name": "Ask", "description": "Asks", "parameters": parameters([], what={"type": "string"})},
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


def make_items(form: str) -> list[TuningPrompt]:
    options = DecodeOptions(format=form, max_value_tokens=3, max_calls=3)
    requests = [Request(prompt, TOOLS, options) for prompt in PROMPTS]
    return [TuningPrompt(str(n), r, "", None) for n, r in enumerate(requests)]


def make_decodes(decoder: ToolDecoder, folder: Path, batch_size: int = 3) -> Decodes:
    return Decodes(decoder, folder, batch_size, 0, lambda word, total: nullcontext(lambda done: None))


@pytest.mark.parametrize("form", ["api-bank", "pythonic"])
def test_derived_is_direct(decoder: ToolDecoder, tmp_path: Path, form: str) -> None:
    items = make_items(form)
    decodes = make_decodes(decoder, tmp_path)
    evidence = Evidence(items, decodes.candidates(items, FULL), decodes.again)
    texts = []
    for variant in VARIANTS:
        derived = evidence.outcomes(variant)
        direct = decoder.run([replace(i.request, options=variant.applied(i.request.options)) for i in items])
        assert [o.text for o in derived.values()] == [r.text for r in direct], variant
        texts.append([r.text for r in direct])
    assert texts[0] != texts[4]  # else nothing was shown
    # a single call is always derived; what follows a call depends on its text
    assert (sum(evidence.again.values()) > 0) == (form == "pythonic")
    assert (tmp_path / AGAIN).exists() == (form == "pythonic")


@pytest.mark.parametrize(("kept", "torn"), [(0, 30), (1, 0), (2, 30), (3, 30)])
def test_an_interrupted_collection_ends_in_the_same_candidates(
    decoder: ToolDecoder, tmp_path: Path, kept: int, torn: int
) -> None:
    items = make_items("api-bank")
    whole = make_decodes(decoder, tmp_path / "whole", 2)
    (tmp_path / "whole").mkdir()
    expected = whole.candidates(items, FULL)
    lines = (tmp_path / "whole" / CANDIDATES).read_bytes().splitlines(keepends=True)
    (tmp_path / CANDIDATES).write_bytes(b"".join(lines[:kept]) + lines[kept][:torn])
    found = make_decodes(decoder, tmp_path, 2).candidates(items, FULL)
    for [one], [other] in zip(found.values(), expected.values(), strict=True):  # log-probabilities may be rounded
        assert one.text == other.text
        assert [[c.text for c in call.candidates] for call in one.calls] == [
            [c.text for c in call.candidates] for call in other.calls
        ]
    assert len((tmp_path / CANDIDATES).read_text().splitlines()) == len(items)


def test_a_prompt_that_fails_fails_for_every_variant(decoder: ToolDecoder, tmp_path: Path) -> None:
    items = make_items("api-bank")
    long = replace(items[1], request=replace(items[1].request, prompt="word " * 6000))
    items = [items[0], long, TuningPrompt("x", None, "no tools", None)]
    decodes = make_decodes(decoder, tmp_path)
    evidence = Evidence(items, decodes.candidates(items, FULL), decodes.again)
    for variant in VARIANTS[:3]:
        outcomes = list(evidence.outcomes(variant).values())
        assert outcomes[0].text and not outcomes[0].error
        assert "context is" in outcomes[1].error
        assert outcomes[2].error == "no tools"
        assert outcomes[1].text == outcomes[2].text == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prediction": "[Ask()]"}, "decoded by another version; choose another --out"),
        ({"candidates": [{"call": 0}]}, "no row of candidates for this prompt"),
        ({"candidates": [{"call": 0, "name": "Fly", "order": [], "text": "", "values": []}]}, "'Fly'"),
        ({"candidates": [3]}, "no row of candidates"),
    ],
)
def test_rows_of_something_else(decoder: ToolDecoder, tmp_path: Path, change: Mapping[str, Any], said: str) -> None:
    [item] = make_items("api-bank")[:1]
    make_decodes(decoder, tmp_path).candidates([item], FULL)
    row = json.loads((tmp_path / CANDIDATES).read_text()) | change
    with pytest.raises(EvalError, match=said) as error:
        read_decoded(row, "file:1", item.request, FULL)
    assert str(error.value).startswith("file:1: ")


def test_candidates_of_fewer_orders_tell_nothing() -> None:
    assert derive(DecodedPrompt(VoteOptions(2), "", "", ()), VoteOptions(3), DecodeOptions()) is None
