"""Embeddings that tokens of one word share: with and without a space before it, with and without capitals.

A token's embedding is the sum of one vector of its letters (lower case, no space), one vector for each of its traits,
one of its own that begins at zero, and one that all tokens share. What is learnt of `` york`` then holds for ``York``,
too, and copying a word from a sentence into a value need not be learnt word by word. The sum is an ordinary table, and
only that is written to the model.
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from training.encoding.tokenizer import SPACE

SCALE = 0.1


def traits(token: str) -> tuple[str, tuple[bool, bool, bool]]:
    """The letters of a token (in byte-level spelling), and whether it has a space, a capital, all capitals."""
    spaced = len(token) > 1 and token.startswith(SPACE)
    word = token[1:] if spaced else token
    if not (word.isascii() and word.isalpha()):
        return word, (spaced, False, False)
    capitals = word.isupper() and len(word) > 1
    return word.lower(), (spaced, word[0].isupper() and not capitals, capitals)


class TokenEmbedding(nn.Module):
    """The embedding table, also that of the tied head, as a sum of shared parts."""

    letters_of: Tensor
    traits_of: Tensor

    def __init__(self, tokenizer: PreTrainedTokenizerFast, vocabulary: int, width: int) -> None:
        super().__init__()
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        tokens += [f"<unused{number}>" for number in range(len(tokens), vocabulary)]
        read = [traits(token) for token in tokens]
        numbers = {letters: number for number, letters in enumerate(dict.fromkeys(letters for letters, _ in read))}
        self.register_buffer("letters_of", torch.tensor([numbers[letters] for letters, _ in read]), persistent=False)
        self.register_buffer("traits_of", torch.tensor([flags for _, flags in read]).float(), persistent=False)
        self.letters = nn.Parameter(torch.randn(len(numbers), width) * SCALE)
        self.traits = nn.Parameter(torch.randn(3, width) * SCALE / 2)
        self.own = nn.Parameter(torch.zeros(vocabulary, width))
        self.constant = nn.Parameter(torch.randn(width) * SCALE)

    def table(self) -> Tensor:
        """Embeddings (vocabulary, width), float32."""
        return self.letters.index_select(0, self.letters_of) + self.traits_of @ self.traits + self.own + self.constant
