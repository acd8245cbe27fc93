"""Embeddings with parts that several spellings of a word share: with and without a space, with and without capitals.

The embedding of a token is a sum: a vector for its letters (lower case, no space), a vector for each of its traits, a
vector of its own, which starts at zero, and a vector that all tokens share. What is learnt about `` york`` also holds
for ``York``, so copying a word from a sentence into a value need not be learnt word by word. The model file holds only
the sum, as an ordinary table.
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from training.encoding.tokenizer import SPACE

SCALE = 0.1


def traits(token: str) -> tuple[str, tuple[bool, bool, bool]]:
    """Return a token's letters (in byte-level spelling), and whether it has a space, a capital, or only capitals."""
    spaced = len(token) > 1 and token.startswith(SPACE)
    word = token[1:] if spaced else token
    if not (word.isascii() and word.isalpha()):
        return word, (spaced, False, False)
    capitals = word.isupper() and len(word) > 1
    return word.lower(), (spaced, word[0].isupper() and not capitals, capitals)


class TokenEmbedding(nn.Module):
    """The embedding table, which is also the output matrix, as a sum of shared parts."""

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
        """Return the embeddings (vocabulary, width), float32."""
        return self.letters.index_select(0, self.letters_of) + self.traits_of @ self.traits + self.own + self.constant

    @torch.no_grad()
    def fill(self, table: Tensor) -> None:
        """Make the embeddings a table's (vocabulary, width): means are the shared parts, the rest is a token's."""
        self.traits.zero_()
        self.constant.copy_(table.mean(0))
        sums = torch.zeros_like(self.letters).index_add_(0, self.letters_of, table - self.constant)
        self.letters.copy_(sums / torch.bincount(self.letters_of, minlength=len(sums))[:, None])
        self.own.copy_(table - self.constant - self.letters.index_select(0, self.letters_of))
