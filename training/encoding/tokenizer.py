"""The reference model's tokenizer: byte-level BPE whose pieces are easy to copy.

A word has the same pieces wherever it stands. Merges within words come first; only then does a space join the first
piece of a word. ``New York`` is `` New`` + `` York`` in a sentence and ``New`` + `` York`` after ``='``, and the
embeddings of a piece with and without the space share parameters (``training.network.embedding``). Every digit is a
token. Other characters break before ``[``, so that the end of a line and the opener of a call are never one token.
CamelCase splits into words. The marks of chats are tokens of their own.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from training.chat import CHAT_TEMPLATE, END, START, TAGS

WORD = r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|\p{N}"
OTHER = r"\[?[^\p{L}\p{N}\[]+?(?= ?[\p{L}\p{N}]|\[|$)|\["
SPECIAL = {"bos_token": "<s>", "eos_token": END, "pad_token": "<pad>"}
RESERVED = (*SPECIAL.values(), START, *TAGS)
"""The first tokens of the vocabulary, which stand for themselves; those of ``TAGS`` are not special."""
SPACE = "Ġ"
"""How byte-level BPE writes a space."""
SPACED_SHARE = 0.4
"""Share of the vocabulary for pieces that begin with a space."""


def _pre_tokenizer(word: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(f"{word}|{OTHER}"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _words_alone() -> pre_tokenizers.PreTokenizer:
    return _pre_tokenizer(f" (?={WORD})|{WORD}")


def _words_with_space() -> pre_tokenizers.PreTokenizer:
    return _pre_tokenizer(f" ?(?:{WORD})")


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Train on texts; all 256 bytes are in the vocabulary, so every text round-trips."""
    split = re.compile("|".join(map(re.escape, RESERVED))).split
    kept = [part for text in texts for part in split(text)]
    spaced = int(vocabulary * SPACED_SHARE)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _words_alone()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - spaced,
        special_tokens=list(RESERVED),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(kept, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=_with_spaced_pieces(tokenizer, kept, spaced),
        model_max_length=8192,
        clean_up_tokenization_spaces=False,
        **SPECIAL,
        additional_special_tokens=[START],
        chat_template=CHAT_TEMPLATE.read_text(encoding="utf-8"),
    )


def _with_spaced_pieces(tokenizer: Tokenizer, texts: list[str], count: int) -> Tokenizer:
    """Return the tokenizer with merges of a space and the ``count`` pieces that most often follow one.

    They come after all other merges.
    """
    seen: Counter[str] = Counter()
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        tokens = encoding.tokens
        seen.update(after for token, after in pairwise(tokens) if token == SPACE)
    data = json.loads(tokenizer.to_str())
    for added in data["added_tokens"]:
        added["special"] = added["content"] not in TAGS
    vocabulary, merges = data["model"]["vocab"], data["model"]["merges"]
    pieces = [piece for piece, _ in seen.most_common() if SPACE + piece not in vocabulary and _is_word(piece)]
    for piece in pieces[:count]:
        vocabulary[SPACE + piece] = len(vocabulary)
        merges.append([SPACE, piece])
    out = Tokenizer.from_str(json.dumps(data))
    out.pre_tokenizer = _words_with_space()
    return out


def _is_word(piece: str) -> bool:
    """Whether a space may join a piece: it begins a word or is a digit."""
    return piece[0].isalnum() or ord(piece[0]) > 0x7E
