"""The reference model's tokenizer: byte-level BPE whose pieces copy well.

Words never carry a leading space, so that ``New York`` has the same pieces in a dialogue, in JSON and behind
``='``. Letters, digits (one by one) and runs of anything else (spaces included) are separated; a run breaks
before ``[`` so that ``API-Request: `` and the call's opener are never one token. CamelCase splits into words.
"""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

PIECES = r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|\p{N}|\[[^\p{L}\p{N}\[]*|[^\p{L}\p{N}\[]+"
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}


def train_tokenizer(texts: Iterable[str], vocabulary: int = 2048) -> PreTrainedTokenizerFast:
    """Train on an iterable of texts; all 256 bytes are in the vocabulary, so any text round-trips."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=2048, clean_up_tokenization_spaces=False, **SPECIAL
    )
