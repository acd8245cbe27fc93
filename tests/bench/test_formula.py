"""Law: with every vocabulary, a call takes as many forward passes as the formula says from its text alone."""

from functools import lru_cache
from pathlib import Path

import pytest
import torch

from boundaries.vocabularies import FOLDER, SHARED, vocabularies
from eval.bench.methods import ToolDecodingMethod
from eval.bench.options import BenchOptions
from eval.bench.subject import Subject, load_subject
from eval.bench.words import COMMON
from eval.bench.workload import make_workload
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions

FOUND = vocabularies(SHARED)
NATIVE = ["hermes", "qwen-xml", "glm-4.5", "mistral-args", "gemma4", "deepseek-v3.2"]
VALUE_TOKENS, KEYS = 3, 4


@lru_cache(maxsize=1)
def subject(name: str) -> Subject:
    """A tiny model around one of the vocabularies; tests run vocabulary by vocabulary."""
    options = BenchOptions(shapes=("tiny",), tokenizer=str(SHARED / FOLDER / name))
    return load_subject(options, "tiny", torch.device("cpu"))


@pytest.mark.skipif(not FOUND, reason=f"there are no tokenizers in {SHARED}")
@pytest.mark.parametrize("name", FOUND, scope="class")
class TestVocabulary:
    @pytest.mark.parametrize(("turn", "limit"), [(0, 1), (1, 12), (2, 4), (3, 4)])
    def test_passes_are_those_of_the_formula(self, name: str, turn: int, limit: int) -> None:
        own, native = ("api-bank", "pythonic"), NATIVE[FOUND.index(name) % 3 :: 3]  # all formats, in turns
        call_format = (*own, *native)[turn]
        made = subject(name)
        ask = BenchOptions(
            shapes=("tiny",), prompt_tokens=300, required=KEYS, value_tokens=VALUE_TOKENS, format=call_format
        )
        work = make_workload(ask, 1, made.tokenizer, made.decoder.table, made.words)
        options = DecodeOptions(order_limit=limit, format=call_format, max_calls=1, draft_tokens=0)
        method = ToolDecodingMethod(made.decoder, made.engines, work, options)
        run = method.run()  # it checks what was written
        quoted = isinstance(CALL_FORMATS[call_format].notation, str)
        assert run.passes == method.formula >= KEYS * (VALUE_TOKENS + quoted) + (limit > 1)

    def test_a_shape_gets_the_vocabulary(self, name: str) -> None:
        made = subject(name)
        assert made.label == f"tiny with {Path(name).name}" and made.words == COMMON
        model = made.decoder.model
        assert model.config.vocab_size == len(made.decoder.table.texts) > max(made.tokenizer.get_vocab().values())
