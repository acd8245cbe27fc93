"""The vocabularies of well-known models under decoders with tiny random models; tests skip where they are absent."""

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from data import DATA
from tiny_models import tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.known_formats import MARKS, TURN_ENDS
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_table import TokenTable

FOLDER = DATA.parent / "tokenizers"
FOUND = sorted(path.parent.name for path in FOLDER.glob("*/tokenizer.json"))
"""Names of the tokenizers."""

needs_vocabularies = pytest.mark.skipif(not FOUND, reason=f"there are no tokenizers in {FOLDER}")


def real_decoder(name: str, marked: bool) -> SyntheticDecoder:
    """A decoder with one of these tokenizers, perhaps with all formats' marks and ends of turns as tokens."""
    tokenizer = AutoTokenizer.from_pretrained(str(FOLDER / name))
    if marked:
        tokenizer.add_tokens([*dict.fromkeys([*MARKS, *TURN_ENDS])], special_tokens=True)
    return decoder_with(tokenizer)


def decoder_with(tokenizer: PreTrainedTokenizerBase) -> SyntheticDecoder:
    """A decoder with a tokenizer and without a limit of the context; its model is replaced by an engine."""
    model = tiny_model("llama", max(tokenizer.get_vocab().values()) + 1)
    model.config.max_position_embeddings = 1 << 20
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    return SyntheticDecoder(model, tokenizer)


def own_tokens(decoder: ToolDecoder, text: str) -> tuple[int, ...] | None:
    """The tokenizer's own tokens of a whole text; None if it rewrites the text (as NFC does)."""
    table: TokenTable = decoder.table
    ids = tuple(decoder.tokenizer.encode(text))
    written = table.special.written(table.join(ids).decode(errors="replace"))
    return ids if written.endswith(text) else None
