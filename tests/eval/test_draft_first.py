"""Calls behind a draft are those of the prompt that has it, and cost what both cost."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.methods.choose import make_method
from eval.methods.draft_first import behind_draft, opens_call
from eval.methods.plain_decoding import PlainDecoder
from eval.options import EvalOptions
from lookup import extract
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_model
from tooldecoding.request import Request

KEYS = {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string"}}
TOOLS = extract([{"name": "f", "parameters": {"type": "object", "properties": KEYS, "required": ["city", "days"]}}])
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
            assert (prediction.text, prediction.counters["forward_passes"]) == (draft.text, passes)
            continue
        before, _, last = str(request.prompt).rpartition("\n")
        options = replace(settings, tool_choice="required", order_limit=1, orders="documented")
        own = replace(request, prompt=f"{before}\nDraft: {draft.text}\n{last}", options=options)
        [result] = decoder.run([own])
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
