"""Law: with every vocabulary, a call takes as many forward passes as the formula says from its text alone."""

from functools import lru_cache
from pathlib import Path

import pytest
import torch
from formula import formula_passes

from boundaries.vocabularies import FOLDER, SHARED, vocabularies
from eval.bench.methods import tool_decoding
from eval.bench.options import BenchOptions
from eval.bench.subject import Subject, load_subject
from eval.bench.workload import make_workload
from tooldecoding.options import DecodeOptions

FOUND = vocabularies(SHARED)
VALUE_TOKENS, KEYS = 3, 4


@lru_cache(maxsize=1)
def subject(name: str) -> Subject:
    """A tiny model around one of the vocabularies; tests run vocabulary by vocabulary."""
    options = BenchOptions(shapes=("tiny",), tokenizer=str(SHARED / FOLDER / name))
    return load_subject(options, "tiny", torch.device("cpu"))


@pytest.mark.skipif(not FOUND, reason=f"there are no tokenizers in {SHARED}")
@pytest.mark.parametrize("name", FOUND, scope="class")
class TestVocabulary:
    @pytest.mark.parametrize("limit", [1, 12])
    def test_passes_are_those_of_the_formula(self, name: str, limit: int) -> None:
        made = subject(name)
        ask = BenchOptions(shapes=("tiny",), prompt_tokens=300, required=KEYS, value_tokens=VALUE_TOKENS)
        work = make_workload(ask, 1, made.tokenizer, made.decoder.table)
        options = DecodeOptions(order_limit=limit, max_calls=1, draft_tokens=0)
        run = tool_decoding(made, work, options).run()  # it checks what was written
        assert run.passes == formula_passes(work.tasks[0], options, made.decoder.table) >= KEYS * VALUE_TOKENS

    def test_a_shape_gets_the_vocabulary(self, name: str) -> None:
        made = subject(name)
        assert made.label == f"tiny with {Path(name).name}"
        model = made.decoder.model
        assert model.config.vocab_size == len(made.decoder.table.texts) > max(made.tokenizer.get_vocab().values())
