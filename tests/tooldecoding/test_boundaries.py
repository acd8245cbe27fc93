"""Token boundaries: the ids of a call spell its text, and no token crosses a boundary that the tokenizer keeps."""

from collections.abc import Iterator

import pytest
from tokenizers import normalizers

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import TokenizerError
from tooldecoding.token_table import TokenTable
from tools import PROMPTS, WEATHER, lookup, parameter, tool
from voting import CandidateCall

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
    assert max(table.with_prefix(b"").tolist()) < 300


def crossing_tokens(table: TokenTable, candidate: CandidateCall) -> Iterator[tuple[bytes, int, bytes]]:
    """Tokens that cross the beginning or end of a value: the text before them, id, and text."""
    text = table.join(candidate.token_ids)
    boundaries, place = set(), text.index(candidate.text.encode())
    for value in candidate.values:
        place = text.index(f"{value.key}=".encode(), place) + len(value.key.encode()) + 1
        boundaries |= {place, place + len(value.text.encode())}
        place += len(value.text.encode())
    start = 0
    for token in candidate.token_ids:
        end = start + len(table.join([token]))
        if any(start < b < end for b in boundaries):
            yield text[:start], token, text[start:end]
        start = end


@pytest.mark.parametrize("format", ["api-bank", "pythonic"])
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("seed", range(3))
def test_tokens_that_cross_a_boundary_are_the_tokenizers(name: str, format: str, seed: int) -> None:
    tokenizer = TOKENIZERS[name]
    decoder = ToolDecoder(tiny_model("llama", len(tokenizer), seed), tokenizer, format=format, max_value_tokens=6)
    results = decoder.decode(PROMPTS, tools=lookup(WEATHER), max_calls=1)
    assert isinstance(results, list)
    crossings = 0
    for result in results:
        for candidate in result.calls[0].candidates:
            for before, token, text in crossing_tokens(decoder.table, candidate):
                crossings += 1
                assert list(decoder.table.encode_after(before, text)) == [token]
    assert crossings


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
            [call] = decoder.options.call_format.parse(result.text, tools)  # type: ignore[union-attr]
            assert choice in ("required", call.name)
