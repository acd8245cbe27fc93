"""Law: with every vocabulary, a model that wants the tokenizer's own tokens of a permitted call gets that call.

All of the corpora, and many more made-up values: ``pytest -m slow``.
"""

import random
import shutil
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import MistralCommonBackend, MistralConfig

from boundaries.gold import gold_cases
from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import cases
from boundaries.vocabularies import SHARED, decoder_with, real_decoder, vocabularies
from data import DATA, needs_data
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_tokenizer

PIECES = ["'", "')", "]", "['", "=[", "={'", ", ", "a=", "='", "(", "b", "New York", " ", "  ", "京", "é", "12", "#"]
FOUND = vocabularies(SHARED)
needs_vocabularies = pytest.mark.skipif(not FOUND, reason=f"there are no tokenizers in {SHARED}")


@lru_cache(maxsize=1)
def judge(name: str, marked: bool) -> Judge:
    """Tests run vocabulary by vocabulary, so that each is loaded once."""
    return Judge(name, real_decoder(SHARED, name, marked))


@lru_cache(maxsize=2)
def gold(limit: int | None) -> list[Case]:
    return gold_cases(DATA, limit)


def demand_none(name: str, marked: bool, wanted: list[Case]) -> None:
    verdicts = [[judge(name, marked).judge(case, against) for against in AGAINST] for case in wanted]
    assert sum(first.tried for first, *_ in verdicts) > len(wanted) / 2
    assert not [verdict.miss for of_case in verdicts for verdict in of_case if verdict.miss]


def examples(found: Judge, count: int, formats: list[str]) -> None:
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(formats)).flatmap(cases), st.sampled_from(AGAINST))
    def law(case: Case, against: Any) -> None:
        assert found.judge(case, against).miss is None

    law()


@needs_vocabularies
@needs_data
@pytest.mark.parametrize("name", FOUND, scope="class")
@pytest.mark.parametrize("marked", [False, True], ids=["marks as text", "marks as tokens"], scope="class")
class TestVocabulary:
    def test_a_part_of_the_corpora(self, name: str, marked: bool) -> None:
        place = 2 * FOUND.index(name) + marked  # each vocabulary has others; together they have all
        demand_none(name, marked, gold(2)[place :: 2 * len(FOUND)])

    def test_made_up_values(self, name: str, marked: bool) -> None:
        examples(judge(name, marked), 20, [*CALL_FORMATS])

    def test_sure_tokens_are_the_tokenizers_own_whatever_follows(self, name: str, marked: bool) -> None:
        table, chance, count = judge(name, marked).table, random.Random(name), 0
        for _ in range(150):
            context, text, more = ("".join(chance.choices(PIECES, k=chance.randint(0, 5))) for _ in range(3))
            sure = table.sure_after(f"x{context}".encode(), text.encode())
            count += len(sure)
            assert table.encode_after(f"x{context}".encode(), (text + more).encode())[: len(sure)] == sure
        assert count > 150

    @pytest.mark.slow
    def test_the_corpora(self, name: str, marked: bool) -> None:
        demand_none(name, marked, gold(None))

    @pytest.mark.slow
    def test_many_made_up_values(self, name: str, marked: bool) -> None:
        examples(judge(name, marked), 2000, [*CALL_FORMATS])


MISTRAL = {
    "tekken": ("tekken_240911.json", "tekken.json"),
    "sentencepiece": ("mistral_instruct_tokenizer_240323.model.v3", "tokenizer.model.v3"),
}
"""The file that the package mistral-common ships, and its name in the folders that Mistral publishes."""


def mistral_tokenizer(kind: str) -> Any:
    """A tokenizer of mistral-common, which transformers takes for such a folder."""
    package = pytest.importorskip("mistral_common", minversion="1.11.5", reason="mistral-common is not installed")
    shipped, name = MISTRAL[kind]
    with TemporaryDirectory() as folder:
        MistralConfig().save_pretrained(folder)
        shutil.copy(Path(package.__file__).parent / "data" / shipped, Path(folder, name))
        if kind == "sentencepiece":  # which is not taken by itself
            pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
            return MistralCommonBackend.from_pretrained(folder)
        loaded = load_tokenizer(folder)
    assert isinstance(loaded, MistralCommonBackend)
    return loaded


@pytest.mark.parametrize("kind", MISTRAL)
def test_a_tokenizer_of_mistral_common(kind: str) -> None:
    tokenizer = mistral_tokenizer(kind)
    decoder = decoder_with(tokenizer)
    if kind == "tekken":
        own = tokenizer.tokenizer.instruct_tokenizer.tokenizer
        assert len(decoder.table.texts) == own.n_words
        for token, text in enumerate(decoder.table.texts):
            if token not in decoder.table.special.texts:  # the end of the turn has a character
                assert text == (None if token in own.special_ids else own.id_to_byte_piece(token))
    # no formats with marks: the package reads no special token in a text, so that the judge has no tokens for them
    examples(Judge(f"{kind} of mistral-common", decoder), 25, ["api-bank", "pythonic", "llama3-json", "json-list"])
