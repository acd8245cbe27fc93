"""Token boundaries: the ids of a call spell its text, and no token crosses a boundary that the tokenizer keeps."""

import pytest
import torch
from tokenizers import normalizers

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import TokenizerError
from tooldecoding.testing import RandomEngine, SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_table import TokenTable
from tools import PROMPTS, WEATHER, lookup, parameter, tool

TOKENIZERS = {
    "byte-level": byte_level_tokenizer(),
    "sentencepiece with byte fallback": sentencepiece_tokenizer(byte_fallback=True),
    "sentencepiece without": sentencepiece_tokenizer(byte_fallback=False),
}
TEXTS = ["[Name(city='New York', days='3')]", " [a.b(x=[1, 2])]", "='", "  two  spaces", "a\nb", ")]"]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("context", ["", "User: hi\n", "API-Request: ", "city='"])
def test_encoding_behind_a_context_is_exact(name: str, context: str) -> None:
    table = TokenTable(TOKENIZERS[name])
    for text in TEXTS:
        if "\n" in text and name.endswith("without"):
            continue
        assert table.join(table.encode_after(context.encode(), text.encode())) == text.encode()


def test_encoding_behind_a_context_is_the_tokenizers_own() -> None:
    tokenizer = TOKENIZERS["byte-level"]
    table = TokenTable(tokenizer)
    whole = tokenizer.encode("User: hi\n[GetWeather(city='New York')]", add_special_tokens=False)
    for cut in range(1, len(whole)):
        context, rest = table.join(whole[:cut]), table.join(whole[cut:])
        assert list(table.encode_after(context, rest)) == whole[cut:]


@pytest.mark.parametrize("characters", ["年", "é", "😀", "a年b"])
def test_bytes_write_any_character(characters: str) -> None:
    for name in ("byte-level", "sentencepiece with byte fallback"):
        table = TokenTable(TOKENIZERS[name])
        assert table.join(table.encode_after(b"x", characters.encode())) == characters.encode()


def test_a_missing_character_is_named() -> None:
    with pytest.raises(TokenizerError, match="no token for '年'"):
        TokenTable(TOKENIZERS["sentencepiece without"]).encode_after(b"", "ano年".encode())


def test_a_tokenizer_that_changes_text_is_refused() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(TokenizerError, match="is not supported: its tokens of"):
        TokenTable(tokenizer)


def test_tokens_beyond_the_models_vocabulary_are_never_chosen() -> None:
    tokenizer = byte_level_tokenizer()
    table = TokenTable(tokenizer, 300)
    assert all(table.is_special(i) for i in range(300, len(tokenizer) + 5))
    assert table.sorted_ids.max() < 300


def test_a_padded_vocabulary() -> None:
    tokenizer = byte_level_tokenizer()
    model = tiny_model("llama", len(tokenizer) + 400)  # random logits mostly prefer ids that the tokenizer lacks
    decoder = ToolDecoder(model, tokenizer, max_value_tokens=5)
    assert decoder.table.is_special(len(tokenizer) + 399) and decoder.table.join([len(tokenizer) + 399]) == b""
    assert all(r.valid for r in decoder.decode(PROMPTS, tools=lookup(WEATHER)))


@pytest.mark.parametrize("seed", range(4))
def test_the_model_reads_exactly_the_tokens_of_the_call(seed: int) -> None:
    class Recorder(RandomEngine):
        def release(self, branch: int) -> None:
            read.append(self._contexts[branch][0])

    tokenizer = TOKENIZERS["byte-level"]
    decoder = SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer, max_value_tokens=6)
    # a model that likes to go on with a quote where the held token `={` stands
    engine = Recorder(decoder.table.texts, seed, lambda t: 6.0 * (t == b"={'"))
    decoder.engine = engine
    read: list[tuple[int, ...]] = []
    dicts = (parameter(k, "dict") for k in ("a", "b", "c"))
    result = decoder.decode(PROMPTS[0], tools=lookup(tool("Tag", *dicts)), format="pythonic", max_calls=1)
    assert "={'" in result.text
    prompt = tokenizer.encode(PROMPTS[0])[:-1]
    written = [tuple(prompt) + c.token_ids for c in result.calls[0].candidates]
    assert len(read) == len(written) == 6
    for tokens in read:
        assert any(whole[: len(tokens)] == tokens for whole in written)


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


def test_names_and_keys_hold_any_character() -> None:
    tools = lookup(
        tool("GET /movie/{movie_id}", parameter("año_vehiculo", "int"), parameter("Content-Type", "str")),
        tool("天气.查询", parameter("城市", "str", enum=("上海", "北京"))),
        tool("天气.查询2"),
        tool("a b"),
    )
    tokenizer = TOKENIZERS["byte-level"]
    for seed in range(6):
        decoder = ToolDecoder(tiny_model("qwen2", len(tokenizer), seed), tokenizer, max_value_tokens=5)
        for choice in ("required", *tools):
            result = decoder.decode("x\n", tools=tools, tool_choice=choice)
            [call] = decoder.options.call_format.parse(result.text, tools)
            assert choice in ("required", call.name)
