"""A byte-level BPE tokenizer trained on the spot, as large as a model's vocabulary."""

import json
from collections.abc import Iterator
from functools import lru_cache

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from eval.bench.words import lexicon, training_text

_TRAINED = 12_000
"""Tokens that are trained at most; the others are never used."""
_SPECIAL = ("<s>", "</s>", "<pad>")


@lru_cache(maxsize=4)
def trained_tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """A tokenizer of exactly ``vocabulary`` tokens, the same one each time.

    Parameters
    ----------
    vocabulary : int
        At least 600. Beyond what is trained there are tokens that look like words and that no text is made of.
    """
    size = min(vocabulary, _TRAINED)
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(training_text(bench_lexicon(vocabulary), 2 * size), trainer)
    model = json.loads(learner.to_str())["model"]
    vocab: dict[str, int] = model["vocab"]
    unused = _unused_tokens()
    while len(vocab) < vocabulary:
        vocab.setdefault(next(unused), len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab, [tuple(merge) for merge in model["merges"]]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(_SPECIAL))
    names = dict(zip(("bos_token", "eos_token", "pad_token"), _SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False, **names)


def bench_lexicon(vocabulary: int) -> tuple[str, ...]:
    """The words of the text that a tokenizer of this size is trained on; most of them are one token."""
    return lexicon(max(100, min(vocabulary, _TRAINED) // 3))


def _unused_tokens() -> Iterator[str]:
    """Words of five letters and more behind a space (``Ġ`` in byte-level BPE)."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number = 26**4
    while True:
        number += 1
        rest, word = number, ""
        while rest:
            rest, digit = divmod(rest, 26)
            word += letters[digit]
        yield f"Ġ{word}"
