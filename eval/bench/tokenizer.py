"""A byte-level BPE tokenizer, trained on the spot."""

from functools import lru_cache
from typing import Final

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from eval.bench.words import lexicon, training_text

_MOST: Final = 12_000
"""Tokens; a model with a larger vocabulary has further ones that are never used."""


@lru_cache(maxsize=4)
def trained_tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """Train a tokenizer of at most ``vocabulary`` tokens, 600 or more; it is the same one each time."""
    size = min(vocabulary, _MOST)
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(special.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(training_text(bench_lexicon(vocabulary), 2 * size), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=learner, clean_up_tokenization_spaces=False, **special)


def bench_lexicon(vocabulary: int) -> tuple[str, ...]:
    """Return the words of the tokenizer's training text; most of them are one token."""
    return lexicon(max(100, min(vocabulary, _MOST) // 3))
