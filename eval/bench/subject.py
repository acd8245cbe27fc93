"""The subject of a bench: a model, its tokenizer and its decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from eval.bench.options import BenchOptions
from eval.bench.shapes import SHAPES, random_model
from eval.bench.teacher import WatchedEngines
from eval.bench.tokenizer import bench_lexicon, trained_tokenizer
from eval.bench.words import COMMON
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.models.loading import DTYPES, load_quietly, load_tokenizer
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.token_texts import token_texts


@dataclass(frozen=True)
class Subject:
    """A loaded model.

    Attributes
    ----------
    label : str
        Its shape, folder or hub id.
    words : sequence of str
        The vocabulary of prompts and values.
    table_seconds : float
        Processor seconds to build the tokenizer's table.
    """

    label: str
    decoder: ToolDecoder
    engines: WatchedEngines
    tokenizer: PreTrainedTokenizerBase
    words: Sequence[str]
    table_seconds: float

    @property
    def model(self) -> PreTrainedModel:
        """The decoder's model."""
        return self.decoder.model


def load_subject(options: BenchOptions, label: str, device: torch.device) -> Subject:
    """Load a model, or make one from a shape.

    Raises
    ------
    ModelError
        If the model, the tokenizer or the dtype is unknown, or the model keeps a recurrent state.
    EvalError
        If a shape does not fit on the device.
    """
    logging.set_verbosity_error()
    name = label
    if label in options.shapes:
        dtype = options.dtype or ("fp32" if device.type == "cpu" else "bf16")
        kind = DTYPES.get(dtype)
        if not isinstance(kind, torch.dtype):
            known = ", ".join(name for name, value in DTYPES.items() if isinstance(value, torch.dtype))
            raise ModelError(f"unknown dtype {dtype!r} for a shape; known: {known}")
        if options.tokenizer is None:
            vocabulary = SHAPES[label].vocabulary
            tokenizer, words = trained_tokenizer(vocabulary), bench_lexicon(vocabulary)
        else:
            tokenizer, words = load_tokenizer(options.tokenizer, options.trust_remote_code), COMMON
            vocabulary = len(token_texts(tokenizer))
            name = f"{label} with {Path(options.tokenizer).resolve().name}"
        model = random_model(label, device, kind, options.seed, vocabulary)
    else:
        model, tokenizer = load_quietly(label, str(device), options.dtype, options.trust_remote_code)
        words = COMMON
    decoder = ToolDecoder(model, tokenizer, prompt_cache_mb=0)
    engines = WatchedEngines(model)
    if engines.recurrent:
        raise ModelError(f"{label} keeps a recurrent state; bench measures models with attention alone")
    start = process_time()
    TokenTable(tokenizer)
    return Subject(name, decoder, engines, tokenizer, words, process_time() - start)
