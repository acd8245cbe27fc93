"""Tokenizers of the package mistral-common, which transformers takes for the folders that Mistral publishes."""

import shutil
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import MistralCommonBackend, MistralConfig

from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import cases
from boundaries.vocabularies import decoder_with
from tooldecoding.decoder import ToolDecoder
from tooldecoding.models.loading import load_tokenizer

package = pytest.importorskip("mistral_common", minversion="1.11.5", reason="mistral-common is not installed")
DATA = Path(package.__file__).parent / "data"
KINDS = {
    "tekken": ("tekken_240911.json", "tekken.json"),
    "sentencepiece": ("mistral_instruct_tokenizer_240323.model.v3", "tokenizer.model.v3"),
}
"""The file that the package ships, and its name in a model's folder."""


@lru_cache
def tokenizer(kind: str) -> Any:
    if kind == "sentencepiece":
        pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    shipped, name = KINDS[kind]
    with TemporaryDirectory() as folder:
        MistralConfig().save_pretrained(folder)
        shutil.copy(DATA / shipped, Path(folder, name))
        if kind == "sentencepiece":  # which is not taken by itself
            return MistralCommonBackend.from_pretrained(folder)
        loaded = load_tokenizer(folder)
    assert isinstance(loaded, MistralCommonBackend)
    return loaded


@lru_cache
def decoder(kind: str) -> ToolDecoder:
    return decoder_with(tokenizer(kind))


def test_the_table_has_the_bytes_of_the_package() -> None:
    own = tokenizer("tekken").tokenizer.instruct_tokenizer.tokenizer
    table = decoder("tekken").table
    found = table.texts
    assert len(found) == own.n_words
    for token, text in enumerate(found):
        if token not in table.special.texts:  # the end of the turn has a character
            assert text == (None if token in own.special_ids else own.id_to_byte_piece(token))


OWN_FORMATS = ["api-bank", "pythonic", "llama3-json", "json-list"]
"""Without marks: the package reads no special token in a text, so that the judge has no tokens of its own for them."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_wanted_call_comes(kind: str) -> None:
    judge = Judge(f"{kind} of mistral-common", decoder(kind))
    tried = 0

    @settings(max_examples=25)
    @given(st.sampled_from(OWN_FORMATS).flatmap(cases), st.sampled_from(AGAINST))
    def law(case: Case, against: Any) -> None:
        nonlocal tried
        verdict = judge.judge(case, against)
        assert verdict.miss is None
        tried += verdict.tried

    law()
    assert tried
