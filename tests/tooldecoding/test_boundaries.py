"""Token boundaries: the ids of a call spell its text, and no token crosses a boundary that the tokenizer keeps."""

import pytest
import torch
from tokenizers import normalizers

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import TokenizerError
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_table import TokenTable
from tools import PROMPTS, WEATHER, lookup, parameter, tool

TOKENIZERS = {
    "byte-level": byte_level_tokenizer(),
    "sentencepiece with byte fallback": sentencepiece_tokenizer(byte_fallback=True),
    "sentencepiece without": sentencepiece_tokenizer(byte_fallback=False),
}
def test_a_tokenizer_that_changes_text_is_refused() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(TokenizerError, match="is not supported: its tokens of"):
        TokenTable(tokenizer)


def test_a_padded_vocabulary() -> None:
    tokenizer = byte_level_tokenizer()
    model = tiny_model("llama", len(tokenizer) + 400)  # random logits mostly prefer ids that the tokenizer lacks
    decoder = ToolDecoder(model, tokenizer, max_value_tokens=5)
    assert decoder.table.is_special(len(tokenizer) + 399) and decoder.table.join([len(tokenizer) + 399]) == b""
    assert all(r.valid for r in decoder.decode(PROMPTS, tools=lookup(WEATHER)))


def test_a_longer_token_speaks_for_the_end_that_it_begins_with() -> None:
    """The model would write `)]`, never `)` alone: that must outweigh its weaker wish for another key."""

    class Wishes(SyntheticEngine):
        def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
            texts = decoder.table.texts
            return NextTokenLogits(torch.tensor([5.0 * (t == b")]") + 3.0 * (t or b" ").isalpha() for t in texts]))

    tokenizer = TOKENIZERS["byte-level"]
    decoder = SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)
    assert b")]" in decoder.table.texts
    decoder.engine = Wishes()
    tools = lookup(tool("f", parameter("unit", "bool", required=False), parameter("hour", "bool", required=False)))
    result = decoder.decode("x\n", tools=tools, format="pythonic", max_calls=1)
    assert result.text == "[f()]"
