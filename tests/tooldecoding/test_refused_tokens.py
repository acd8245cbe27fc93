"""The likeliest token that a value admits, found without a look at the whole vocabulary."""

import random
from collections.abc import Iterator

import pytest
import torch

from lookup.values.grammar import value_grammar
from synthetic import synthetic
from tooldecoding.calls.value_end import ValueState
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tokens.likeliest import likeliest
from tools import parameter

TABLE = synthetic().table
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


@pytest.mark.parametrize("format", CALL_FORMATS)
def test_bytes_that_begin_no_character_are_refused(format: str) -> None:
    """The grammar does it: nothing else looks at the bytes of an unfinished character."""
    for state in states(format, 0):
        for second in range(0xA0, 0xC0) if not state.tail else ():
            assert state(bytes([0xED, second])) is None  # a surrogate's
