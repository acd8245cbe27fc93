"""A byte-level BPE tokenizer of any vocabulary size, trained on the spot."""

import json
from collections.abc import Iterator
from functools import lru_cache

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from eval.bench.words import lexicon, training_text

_TRAINED = 12_000
"""Maximum number of trained tokens; further ones are never used."""
_SPECIAL = ("<s>", "</s>", "<pad>")


@lru_cache(maxsize=4)
def trained_tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """Make a tokenizer of exactly ``vocabulary`` tokens, the same one each time.

    Parameters
    ----------
    vocabulary : int
        At least 600. Tokens beyond the trained ones look like words, but no text contains them.
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
    """Return the words of the tokenizer's training text; most of them are one token."""
    return lexicon(max(100, min(vocabulary, _TRAINED) // 3))


def _unused_tokens() -> Iterator[str]:
    """Yield words of five letters or more after a space (``Ġ`` in byte-level BPE)."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number = 26**4
    while True:
        number += 1
        rest, word = number, ""
        while rest:
            rest, digit = divmod(rest, 26)
            word += letters[digit]
        yield f"Ġ{word}"
