"""A prompt and the longest possible call fit in the context, or the row is an error; nothing is fed beyond it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from formats.law.law import BIASES
from lookup.dictionary import ValueType
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import PromptError
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import RandomEngine, SyntheticDecoder
from tools import WEATHER, lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
KEYS = tuple(parameter(f"key{n}", "int" if n % 2 else "str") for n in range(12))
OBJECT = replace(parameter("o", "dict"), type=ValueType("dict", properties=KEYS))
TOOLS = {
    "objects": tool("Put", OBJECT, replace(OBJECT, name="p", required=False)),
    "scalars": WEATHER,
    "lists": tool("List", parameter("a", "list", items="str"), parameter("b", "list", items="int", required=False)),
}


class Measured(RandomEngine):
    """Remembers the longest sequence that was fed, tried tokens among it."""

    longest = 0

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        answers = super().extend(feeds)
        self.longest = max(self.longest, *(len(self._contexts[f.branch][0]) for f in feeds))
        return answers


def decoder_with_context(size: int) -> SyntheticDecoder:
    model = tiny_model("gpt2", len(TOKENIZER))
    model.config.max_position_embeddings = size
    return SyntheticDecoder(model, TOKENIZER)


@pytest.fixture(scope="module")
def decoder() -> SyntheticDecoder:
    return decoder_with_context(1024)


@pytest.mark.parametrize("format", ["api-bank", "pythonic"])
@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("bias", BIASES)
def test_nothing_is_fed_beyond_the_context(decoder: SyntheticDecoder, name: str, format: str, bias: str) -> None:
    fitting, choices = 0, ["required", "auto"]
    for place, room in enumerate((120, 450, 900), start=list(BIASES).index(bias)):
        engine = Measured(decoder.table.texts, room, BIASES[bias])
        decoder.engine = engine
        options = DecodeOptions(format=format, tool_choice=choices[place % 2], order_limit=3)
        request = Request([5] * (1024 - room), lookup(TOOLS[name]), options)
        try:
            [result] = decoder.run([request])
        except PromptError as error:
            assert "too many" in str(error)
            continue
        fitting += 1
        assert engine.longest <= 1024
        assert all(call.voted.valid for call in result.calls)
    assert fitting


@pytest.mark.parametrize("strategy", ["packed", "batched"])
def test_a_model_of_few_positions_decodes_a_batch(strategy: Any) -> None:
    model = tiny_model("gpt2", len(TOKENIZER))
    small = type(model)(replace_positions(model.config, 512)).eval()
    decoder = ToolDecoder(small, TOKENIZER, strategy=strategy, max_value_tokens=200, order_limit=2)
    prompts = [[5] * size for size in (3, 40, 100)]
    results = decoder.run([Request(prompt, lookup(TOOLS["objects"]), decoder.options) for prompt in prompts])
    assert all(r.calls[0].voted.valid for r in results)
    with pytest.raises(PromptError, match=r"300 tokens .* context is 512 tokens: \d+ too many"):
        decoder.run([Request([5] * 300, lookup(TOOLS["objects"]), decoder.options)])


def replace_positions(config: Any, size: int) -> Any:
    """The configuration of a model with so many positions."""
    changed = type(config).from_dict(config.to_dict())
    changed.n_positions = changed.max_position_embeddings = size
    return changed
