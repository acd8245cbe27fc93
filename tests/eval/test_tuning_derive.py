"""Law: a row of candidates holds what was decoded, and any other vote over it is what a direct decode gives."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval.methods.prediction import Prediction, candidate_rows
from eval.methods.scored_text import ScoredText
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions, read_decoded
from eval.tuning.evidence import Evidence, derive
from eval.tuning.tune import decoding_again
from formats.law.law import KINDS
from lookup import extract
from synthetic import Eager, synthetic
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine
from tools import documented
from voting import merge

TEXT, WHOLE, FLAG = ({"type": kind} for kind in ("string", "integer", "boolean"))
TOOLS = extract(
    [
        documented("f", city=TEXT, days=WHOLE, price={"type": "number"}),
        documented("g", ["on", "unit"], on=FLAG, unit={"enum": ["C", "1", 1]}, note=TEXT | {"default": "-"}),
        documented("h", tags={"type": "array", "items": TEXT}, where={"type": "object"}),
        documented("k", ["any"], any={}, maybe={"type": ["string", "null"]}, sure=FLAG),
    ]
)
FULL = VoteOptions(4)
VARIANTS = [*map(VoteOptions, (1, 2, 3, 4)), VoteOptions(4, 0.1), VoteOptions(4, 0.8)]
SPECIAL = b"'\"\\,.]})>:\n </parameter>0123456789"
Run = Callable[[Sequence[Request]], list[DecodeResult]]


def run(call_format: str, marks_are_tokens: bool, seed: int, asked: Sequence[Request]) -> list[DecodeResult]:
    """Decode with a model that likes special characters, or a further call, or nothing."""
    decoder = synthetic(KINDS[marks_are_tokens])

    def bias(piece: bytes) -> float:
        return 4.0 if seed % 3 == 1 and all(byte in SPECIAL for byte in piece) else 0.0

    if seed % 3:
        decoder.engine = RandomEngine(decoder.table.texts, seed, bias)
    else:
        decoder.engine = Eager(CALL_FORMATS[call_format], decoder.table, seed, "f")
    return decoder.run(asked)


def request(call_format: str, seed: int = 0, prompt: str = "What now?\n") -> Request:
    options = DecodeOptions(format=call_format, order_limit=4, max_calls=3, max_value_tokens=10, seed=seed)
    return Request(prompt, TOOLS, options)


def prediction(result: DecodeResult) -> Prediction:
    return Prediction(result.text, candidate_rows([call.candidates for call in result.calls]))


def evidence(run: Run, asked: Mapping[str, Request], decoded: Mapping[str, DecodedPrompt] | None = None) -> Evidence:
    """The evidence of what was decoded, by default here."""
    again = decoding_again(lambda some: [*map(prediction, run(some))], 3)
    found = {name: [one] for name, one in (decoded or again(asked, FULL)).items()}
    form = CALL_FORMATS[asked["0"].options.format]
    return Evidence(dict.fromkeys(asked), found, again, SGD, ScoredText(form, form, True))  # type: ignore[arg-type]


@pytest.mark.parametrize("marks_are_tokens", [True, False])
@pytest.mark.parametrize("call_format", CALL_FORMATS)
def test_rows_hold_what_was_decoded_and_derived_is_direct(call_format: str, marks_are_tokens: bool) -> None:
    most, several, again, texts = 0, CALL_FORMATS[call_format].parallel, 0, set[str]()
    for seed in range(100, 124):
        if seed >= 102 and (most > 1 or not several):
            break
        asked, decode = request(call_format, seed), partial(run, call_format, marks_are_tokens, seed)
        [result] = decode([asked])
        read = read_decoded(json.loads(json.dumps(prediction(result).to_json())), "file:1", asked, FULL)
        assert (read.text, len(read.calls)) == (result.text, len(result.calls))
        for ours, call in zip(read.calls, result.calls, strict=True):
            assert [(c.name, c.order, c.values, c.text) for c in ours.candidates] == [
                (c.name, c.order, c.values, c.text) for c in call.candidates
            ]
            assert merge(ours.candidates, ours.tool, FULL.optional_share) == call.voted
        found = evidence(decode, {"0": asked}, {"0": read})
        for variant in VARIANTS if call_format in ("api-bank", "pythonic") else [FULL]:
            [direct] = decode([variant.applied(asked)])
            assert found.outcomes(variant)["0"].text == direct.text, variant
            texts.add(direct.text)
        again += sum(found.again.values())
        most = max(most, len(result.calls))
    assert most > 1 if several else most == 1
    if call_format in ("api-bank", "pythonic"):
        assert len(texts) > 2, "else nothing was shown"
        # a single call is always derived; what follows a call depends on its text
        assert (again > 0) == several


def test_a_prompt_that_fails_fails_for_every_variant() -> None:
    asked = {"0": request("api-bank"), "1": request("api-bank", prompt="word " * 6000)}
    found = evidence(partial(run, "api-bank", False, 0), asked)
    assert list(found.requests) == ["0"] and len(found.failures) == 1
    for variant in VARIANTS[:3]:
        fine, long = found.outcomes(variant).values()
        assert fine.text and not fine.error
        assert "context is" in long.error and not long.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prediction": "[k()]"}, "decoded by another version; choose another --out"),
        ({"candidates": [{"call": 0}]}, "no row of candidates for this prompt"),
        ({"candidates": [{"call": 0, "name": "Fly", "order": [], "text": "", "values": []}]}, "'Fly'"),
    ],
)
def test_rows_of_something_else(change: Mapping[str, Any], said: str) -> None:
    [result] = run("api-bank", False, 0, [request("api-bank")])
    with pytest.raises(EvalError, match=f"^file:1: .*{said}"):
        read_decoded(prediction(result).to_json() | change, "file:1", request("api-bank"), FULL)


def test_candidates_of_fewer_orders_tell_nothing() -> None:
    two = DecodedPrompt(request("api-bank"), VoteOptions(2), "", "", ())
    form = CALL_FORMATS["api-bank"]
    assert derive(two, VoteOptions(3), ScoredText(form, form, as_it_stands=True)) is None
