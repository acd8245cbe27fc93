"""Free text ends where a turn ends, for the decoder and for TOOLDEC alike."""

from collections.abc import Sequence

import pytest

from eval.methods.tooldec import run_tooldec
from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tools import lookup, tool

TOKENIZER = byte_level_tokenizer()
PROMPT = "User: go on\nAPI-Request:"
STOP = lookup(tool("Stop"))


def written(text: str, stop: str | None, tools: LookupDictionary = STOP, choice: str = "auto") -> Sequence[str]:
    """What the decoder and TOOLDEC make of a model that wants to write ``text``."""
    decoder = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
    engine = ScriptedEngine(decoder.table.texts, lambda so_far: text[len(so_far) - len(PROMPT) :] or "</s>")
    decoder.engine = engine
    request = Request(PROMPT, tools, DecodeOptions(tool_choice=choice, max_text_tokens=40), stop=stop)
    return decoder.run([request])[0].text, run_tooldec(decoder, [request])[0].text


@pytest.mark.parametrize("choice", ["auto", "none"])
@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        (" No.\nUser: [Stop()]", "\n", " No."),
        ("\n\n No.\n[Stop()]", "\n", "\n\n No."),
        (" No.\nNo.\n\n[Stop()]", "\n\n", " No.\nNo."),
    ],
)
def test_text_ends_before_the_stop(text: str, stop: str, expected: str, choice: str) -> None:
    for found in written(text, stop, choice=choice):
        assert found.rstrip("\n") == expected


@pytest.mark.parametrize("stop", ["\n", None])
def test_a_call_before_the_stop_is_a_call(stop: str | None) -> None:
    assert set(written(" So: [Stop()]\nUser:", stop)) == {" So: [Stop()]"}


def test_without_a_stop_text_goes_on_to_the_call() -> None:
    assert set(written(" So:\n[Stop()]", None)) == {" So:\n[Stop()]"}
