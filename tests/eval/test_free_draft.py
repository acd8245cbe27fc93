"""Drafts: calls behind a draft are those of the prompt that has it, and a draft's arguments count as one vote."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.methods.choose import make_method
from eval.methods.free_draft import behind_draft, opens_call, summed, with_draft_votes
from eval.methods.plain_decoding import PlainDecoder
from eval.options import EvalOptions
from lookup import extract
from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_model
from voting import CandidateCall, CandidateValue, merge

TOOLS = extract(
    [
        {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string"}},
                "required": ["city", "days"],
            },
        }
    ]
)
SETTINGS = EvalOptions(
    method="draft-first", template="bfcl", format="pythonic", max_text_tokens=12, max_value_tokens=6, draft_tokens=0
)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_draft_first_is_tool_decoding_behind_the_draft(make_tiny: Callable[[str], str], choice: str) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    settings = replace(SETTINGS, tool_choice=choice)
    requests = [Request(p, TOOLS, settings, stop="\n") for p in ("User: go\nCalls: ", "User: [\nCalls: [f(")]
    found = make_method(settings, model, tokenizer, "pythonic")(requests)
    drafts = PlainDecoder(model, tokenizer).run(requests)
    decoder = ToolDecoder(model, tokenizer, prompt_cache_mb=0)
    for request, draft, prediction in zip(requests, drafts, found, strict=True):
        passes = draft.counters["forward_passes"]
        if choice == "auto" and "[" not in draft.text:
            assert prediction.text == draft.text
            assert prediction.counters["forward_passes"] == passes
            continue
        before, _, last = str(request.prompt).rpartition("\n")
        own = replace(request, prompt=f"{before}\nDraft: {draft.text}\n{last}")
        options = replace(settings, tool_choice="required", order_limit=1, orders="documented")
        [result] = decoder.run([replace(own, options=options)])
        assert prediction.text == result.text
        assert prediction.counters["forward_passes"] == passes + result.counters.forward_passes
        assert prediction.counters["positions"] == draft.counters["positions"] + result.counters.positions


def test_a_chat_models_draft_stands_in_its_turn() -> None:
    request = Request("<user>\ngo\n<assistant>\n", TOOLS, SETTINGS)
    assert behind_draft(request, "I call f.").prompt == "<user>\ngo\n<assistant>\nDraft: I call f.\n"


@pytest.mark.parametrize("call_format", CALL_FORMATS.values(), ids=lambda f: f.name)
def test_a_call_opens_a_call(call_format) -> None:  # type: ignore[no-untyped-def]
    assert opens_call("Well: " + call_format.render([Call("f", {"city": "x"})]), call_format)
    assert not opens_call("I call f with x.", call_format)


def decoded(*calls: dict[str, object], logprob: float = -1.0) -> DecodedCall:
    candidates = tuple(
        CandidateCall("f", tuple(call), tuple(CandidateValue(k, v, str(v), logprob) for k, v in call.items()))
        for call in calls
    )
    return DecodedCall(merge(candidates, TOOLS["f"]), candidates, len(calls), ())


def voted(draft: list[Call], *calls: DecodedCall) -> list[dict[str, object]]:
    return [dict(c.arguments) for c in with_draft_votes(calls, draft, Request("x", TOOLS, SETTINGS))]


def test_a_draft_is_one_vote_more() -> None:
    orders = decoded({"city": "A", "days": 1}, {"days": 2, "city": "A"})
    assert voted([], orders) == [{"city": "A", "days": 1}]
    assert voted([Call("f", {"city": "A", "days": 2})], orders) == [{"city": "A", "days": 2}]
    assert voted([Call("f", {"city": "B", "days": 3})], orders) == [{"city": "A", "days": 1}]


def test_a_draft_alone_wins_no_tie_and_no_wrong_type_counts() -> None:
    orders = decoded({"city": "A", "days": 1}, logprob=-50.0)
    assert voted([Call("f", {"city": "B", "days": "many"})], orders) == [{"city": "A", "days": 1}]
    assert voted([Call("g", {"city": "B"})], orders) == [{"city": "A", "days": 1}]


def test_an_optional_key_needs_its_share_with_the_draft() -> None:
    with_unit = decoded({"city": "A", "days": 1, "unit": "C"})
    assert voted([Call("f", {"city": "A", "days": 1})], with_unit) == [{"city": "A", "days": 1}]
    both = decoded({"city": "A", "days": 1, "unit": "C"}, {"city": "A", "days": 1})
    assert voted([Call("f", {"city": "A", "days": 1, "unit": "C"})], both) == [{"city": "A", "days": 1, "unit": "C"}]


def test_each_call_takes_a_draft_of_its_own() -> None:
    one, two = ({"city": city, "days": 1} for city in "AB")
    draft = [Call("f", {"city": "A", "days": 1}), Call("f", {"city": "B", "days": 1})]
    assert voted(draft, decoded(one), decoded(two)) == [one, two]


def test_costs_are_added() -> None:
    both = summed({"forward_passes": 3, "positions": 9, "seconds": 0.5}, {"forward_passes": 2, "forced_tokens": 4})
    assert both == {"forward_passes": 5, "positions": 9, "seconds": 0.5, "forced_tokens": 4}
    assert math.isclose(summed({"seconds": 0.1}, {"seconds": 0.2})["seconds"], 0.3)


def test_draft_votes_change_nothing_but_the_vote(make_tiny: Callable[[str], str]) -> None:
    model, tokenizer = load_model(make_tiny("llama"))
    settings = replace(SETTINGS, method="tool-decoding", tool_choice="required", order_limit=2)
    requests = [Request(p, TOOLS, settings, stop="\n") for p in ("User: go\nCalls: ", "x")]
    without = make_method(settings, model, tokenizer, "pythonic")(requests)
    found = make_method(replace(settings, draft_vote=True), model, tokenizer, "pythonic")(requests)
    drafts = PlainDecoder(model, tokenizer).run(requests)
    assert [p.text for p in found] == [p.text for p in without]  # a random model's draft is no call
    assert [p.candidates for p in found] == [p.candidates for p in without]
    for own, plain, draft in zip(found, without, drafts, strict=True):
        assert own.counters["forward_passes"] == plain.counters["forward_passes"] + draft.counters["forward_passes"]
