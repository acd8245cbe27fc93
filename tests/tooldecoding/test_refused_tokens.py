"""The likeliest token that a value admits, found without a look at the whole vocabulary."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from lookup.values.grammar import value_grammar
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.calls.value_end import ValueState
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import RandomEngine, SyntheticDecoder
from tooldecoding.tokens.likeliest import likeliest
from tooldecoding.tokens.token_table import TokenTable
from tools import lookup, parameter, tool

TABLE = TokenTable(byte_level_tokenizer())
SPECS = [
    parameter("s", "str"),
    parameter("i", "int"),
    parameter("f", "float"),
    parameter("l", "list", items="int"),
    parameter("t", "list", items="str"),
    parameter("d", "dict"),
    parameter("e", "str", enum=("北京", "a", "ab", "été")),
]


def states(format: str, seed: int) -> Iterator[ValueState]:
    """Values in the making, written by a random model."""
    chance = random.Random(seed)
    pieces = [t for t in TABLE.texts if t] + [b"'", b'"', b"]", b"1", b", ", b"{'", b"': ", "北".encode()[:2], b"\n"]
    for spec in SPECS:
        grammar = value_grammar(spec, CALL_FORMATS[format].notation)
        if grammar.choices is not None:
            continue
        state = ValueState(grammar, CALL_FORMATS[format])
        for _ in range(12):
            yield state
            sampled = chance.sample(pieces, 200)
            piece = next((p for p in sampled if (step := state(p)) and not step.closed), None)
            if piece is None:
                break
            state.write(piece)


@pytest.mark.parametrize(("seed", "format"), list(enumerate(CALL_FORMATS)))
def test_no_likelier_token_is_accepted(seed: int, format: str) -> None:
    found, pending = 0, (b"", b"='", " 北".encode())[seed % 3]
    for number, state in enumerate(states(format, seed)):
        for spread in (0.0, 8.0):
            logits = torch.randn(len(TABLE.texts), generator=torch.Generator().manual_seed(number)) * spread
            admitted = [t for t, text in enumerate(TABLE.texts) if text and admits(state, pending, text)]
            token = likeliest(NextTokenLogits(logits), state, TABLE, pending)
            assert (token is None) == (not admitted)
            if token is not None:
                assert token in admitted and logits[token] == logits[admitted].max()
                found += 1
    assert found > 30


def admits(state: ValueState, pending: bytes, text: bytes) -> bool:
    """Whether a token may be written where ``pending`` is determined: the definition."""
    return pending.startswith(text) or (text.startswith(pending) and state(text[len(pending) :]) is not None)


def large_tokenizer(size: int) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer with a vocabulary like a large model's."""
    chance = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = dict.fromkeys(pre_tokenizers.ByteLevel.alphabet()) | {str(n): None for n in range(1000)}
    while len(words) < size:
        words["".join(chance.choices(letters + letters.upper() + "Ġ_'", k=chance.randint(2, 9)))] = None
    model = models.BPE(vocab={w: i for i, w in enumerate(words)}, merges=[])
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def test_few_tokens_of_a_large_vocabulary_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = large_tokenizer(100_000)
    decoder = SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)
    engine = RandomEngine(decoder.table.texts)
    decoder.engine = engine
    calls = 0
    plain = ValueState.__call__

    def counted(self: ValueState, piece: bytes) -> Any:
        nonlocal calls
        calls += 1
        return plain(self, piece)

    monkeypatch.setattr(ValueState, "__call__", counted)
    kinds = {"a": "int", "b": "float", "c": "list", "d": "str"}
    spec = tool("F", *(parameter(key, kind, items="int" if kind == "list" else None) for key, kind in kinds.items()))
    options = DecodeOptions(format="pythonic", order_limit=3, max_value_tokens=12, max_calls=1, draft_tokens=0)
    counters = decoder.run([Request("go on\n", lookup(spec), options)])[0].counters
    assert counters.free_tokens > 20
    assert calls < 100 * counters.free_tokens


@pytest.mark.parametrize("format", CALL_FORMATS)
def test_bytes_that_begin_no_character_are_refused(format: str) -> None:
    """The grammar does it: nothing else looks at the bytes of an unfinished character."""
    for state in states(format, 0):
        for second in range(0xA0, 0xC0) if not state.tail else ():
            assert state(bytes([0xED, second])) is None  # a surrogate's
