"""The cost of a call, exactly as the formula in docs/costs.md says."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary, ToolSpec
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, SyntheticDecoder
from tools import WEATHER, lookup

TOKENIZERS = (byte_level_tokenizer(), sentencepiece_tokenizer(byte_fallback=True))
DECODERS = [SyntheticDecoder(tiny_model("llama", len(t)), t) for t in TOKENIZERS]
BIASES = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")


class LookedAhead(RandomEngine):
    """Counts the passes that only look ahead, behind tokens that leave determined bytes pending."""

    passes = 0

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        LookedAhead.passes += all(feed.ahead == len(feed.tokens) for feed in feeds)
        return super().extend(feeds)


def decode(number: int, seed: int, bias: bytes, tools: LookupDictionary, **fields: Any) -> DecodeResult:
    decoder = DECODERS[number]
    decoder.engine = LookedAhead(decoder.table.texts, seed, lambda text: 5.0 * any(c in text for c in bias))
    options = DecodeOptions(**{"max_calls": 1, "max_value_tokens": 7, "draft_tokens": 0} | fields)
    return decoder.run([Request("go on\n", tools, options)])[0]


def in_order(spec: ToolSpec, order: tuple[str, ...]) -> LookupDictionary:
    """The tool with its required keys documented in this order."""
    return lookup(replace(spec, parameters=(*map(spec.parameter, order), *spec.optional)))


@pytest.mark.parametrize("format", ["api-bank", "pythonic"])
@pytest.mark.parametrize("number", [0, 1])
def test_passes(number: int, format: str) -> None:
    """One order takes a pass for each decision; several take those of the longest."""
    seen = set()
    for seed, bias in list(enumerate(BIASES))[number::2]:
        known: dict[tuple[str, ...], DecodeResult] = {}
        for order_limit in (4, 12):
            result = decode(number, seed, bias, lookup(WEATHER), format=format, order_limit=order_limit)
            alone = []
            for candidate in result.calls[0].candidates:
                order = candidate.order
                if order not in known:
                    LookedAhead.passes = 0
                    known[order] = decode(number, seed, bias, in_order(WEATHER, order), format=format, order_limit=1)
                    counters = known[order].counters
                    decisions = counters.free_tokens + counters.constrained_tokens
                    assert counters.forward_passes == decisions + LookedAhead.passes
                    seen.add(decisions)
                one = known[order]
                assert one.calls[0].candidates[0].token_ids == candidate.token_ids
                alone.append(one.counters.forward_passes)
            assert result.counters.forward_passes == max(alone)
    assert len(seen) > 3
