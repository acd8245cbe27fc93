"""Law: with every vocabulary, a model that wants the tokenizer's own tokens of a permitted call gets that call.

All of the corpora, and many more made-up values: ``pytest -m slow``.
"""

import random
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boundaries.gold import gold_cases
from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import cases
from boundaries.vocabularies import SHARED, real_decoder, vocabularies
from data import DATA, needs_data
from tooldecoding.formats.known_formats import CALL_FORMATS

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
    found, tried, misses = judge(name, marked), 0, []
    for case in wanted:
        verdicts = [found.judge(case, against) for against in AGAINST]
        tried += verdicts[0].tried
        misses += [verdict.miss for verdict in verdicts if verdict.miss]
    assert tried > len(wanted) / 2
    assert not misses


def examples(name: str, marked: bool, count: int) -> None:
    found = judge(name, marked)

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(CALL_FORMATS)).flatmap(cases), st.sampled_from(AGAINST))
    def law(case: Case, against: str) -> None:
        miss = found.judge(case, against).miss  # type: ignore[arg-type]
        assert miss is None

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
        examples(name, marked, 20)

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
        examples(name, marked, 2000)
