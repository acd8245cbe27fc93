"""Law: a further call follows where the model by itself wants one, and nowhere else: an end is an end.

Scripted models over real vocabularies write one call or two, in their own white space, and end in every way.
"""

import random
from collections.abc import Sequence

import pytest
import torch

from boundaries.judge import Wanter
from boundaries.vocabularies import FOUND, needs_vocabularies, real_decoder
from synthetic import Weighted, decode, synthetic
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.result import DecodeResult
from tooldecoding.testing import SyntheticDecoder
from tools import lookup, parameter, sound, tool

PROMPT = "Question: the weather?\n"
TOOLS = lookup(
    tool("get_weather", parameter("city", "str"), parameter("days", "int")),
    tool("get_time", parameter("zone", "str", required=False)),
)
CALLS = [
    Call("get_weather", {"city": "Rome", "days": 3}),
    Call("get_weather", {"city": "Oslo", "days": 3}),
    Call("get_time", {"zone": "CET"}),
]
PARALLEL = {f.name: f for f in CALL_FORMATS.values() if f.parallel}
ENDS = ("\n<|endoftext|>", "\n\n<|im_end|>", "<|endoftext|>", " \n \n<|im_end|>", "\nThe call is made.<|im_end|>")
"""How models end behind the last call; a text is no call either."""


def written(call_format: CallFormat, calls: Sequence[Call], end: str) -> str:
    """Calls with their end; one of the ends comes without the closer, for models forget it."""
    text = call_format.lead + call_format.render(calls)
    return (text.removesuffix(call_format.closer) if end.startswith("<|endoftext|>") else text) + end


def decoded(decoder: SyntheticDecoder, text: str, call_format: CallFormat, rows: torch.Tensor) -> DecodeResult | None:
    """What comes of a model that wants a text, and is noise elsewhere; None if its own tokens cannot be reached."""
    wanted, begun = decoder.tokenizer.encode(PROMPT + text), decoder.tokenizer.encode(PROMPT)
    if wanted[: len(begun) - 1] != begun[:-1] or decoder.tokenizer.decode(wanted).count(text.strip()) != 1:
        return None
    fields = {"tool_choice": "required", "order_limit": 1, "max_value_tokens": 64, "max_thinking_tokens": 0}
    engine = Wanter(rows, tuple(wanted), [])
    return decode(engine, PROMPT, TOOLS, decoder, format=call_format.name, **fields)


@needs_vocabularies
@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("marked", [False, True], ids=["marks as text", "marks as tokens"])
def test_as_many_calls_as_the_model_writes(name: str, marked: bool) -> None:
    decoder = real_decoder(name, marked)
    if not marked:  # the ends alone
        decoder.tokenizer.add_tokens(["<|im_end|>", "<|endoftext|>"], special_tokens=True)
        decoder = SyntheticDecoder(decoder.model, decoder.tokenizer)
        decoder.table.texts += [b""] * (len(decoder.tokenizer) - len(decoder.table.texts))
    rows = torch.randn(64, len(decoder.table.texts), generator=torch.Generator().manual_seed(0))
    chance, count = random.Random(name), 0
    for call_format in PARALLEL.values():
        for number in range(1, 4):
            end = chance.choice(ENDS)
            result = decoded(decoder, written(call_format, CALLS[:number], end), call_format, rows)
            if result is not None:
                count += 1
                calls = [(call.name, call.arguments) for call in result.calls]
                assert calls == [(c.name, c.arguments) for c in CALLS[:number]], (call_format.name, end)
    assert count > 2 * len(PARALLEL)


CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
AGAIN = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}\n</tool_call></s>'


@pytest.mark.parametrize("can_roll_back", [True, False])
@pytest.mark.parametrize(
    ("shares", "number"),
    [
        ({f"\n{AGAIN}": 0.45, "\n</s>": 0.55}, 1),
        ({f"\n{AGAIN}": 0.55, "\n</s>": 0.45}, 2),
        ({f"\n{AGAIN}": 0.4, "</s>": 0.3, "\n\n</s>": 0.3}, 1),  # no end is likelier by itself
        ({f"\n{AGAIN}": 0.3, f"\n\n{AGAIN}": 0.3, "</s>": 0.4}, 2),  # no spelling of a call is, either
        ({f"{AGAIN}": 0.3, "\n<tool_response>": 0.6, "</s>": 0.1}, 1),
        ({f" {AGAIN}": 0.9, "</s>": 0.1}, 2),
        ({"\n\n\n\n\n\n\n\n": 1.0}, 1),
    ],
)
def test_all_spellings_of_a_call_against_all_ends(shares: dict[str, float], number: int, can_roll_back: bool) -> None:
    encode, table = synthetic("marks").tokenizer.encode, synthetic("marks").table
    paths = {tuple(encode(PROMPT + CALL + text)): share for text, share in shares.items()}
    engine = Weighted(paths, torch.full((len(table.texts),), 1e-12), can_roll_back)
    result = decode(engine, PROMPT, TOOLS, "marks", format="hermes", tool_choice="required", order_limit=1)
    assert len(result.calls) == number and sound(result)
