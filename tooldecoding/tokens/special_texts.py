"""Characters that stand for special tokens while a call is decoded.

A special token has no text: what looks like one in a text may be ordinary tokens. So the special tokens that formats
and models write (``[TOOL_CALLS]``, ``</think>``, the end of the turn) get a reserved character each as their text.
Tries, pending text and values treat them like any other text, a value cannot hold them, and nothing but the token
itself is taken for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from lookup.languages.codepoints import RESERVED, RESERVED_CHARACTER

END: Final = chr(RESERVED.start)
"""Stands for all tokens that end a turn."""


@dataclass(frozen=True)
class SpecialTexts:
    """Which tokens a character stands for.

    Attributes
    ----------
    texts : mapping of int to str
        Token id -> its character.
    characters : mapping of str to str
        What such a token is called in the vocabulary -> its character.
    """

    texts: Mapping[int, str]
    characters: Mapping[str, str]

    def bound(self, text: str) -> str:
        """Return a text with the marks that are tokens replaced by their characters."""
        for mark, character in self.characters.items():
            text = text.replace(mark, character)
        return text

    def shown(self, text: str) -> str:
        """Return a text with the special tokens as the vocabulary calls them, and without ends of turns."""
        contents = {character: mark for mark, character in self.characters.items()} | {END: ""}
        return RESERVED_CHARACTER.sub(lambda match: contents.get(match[0], match[0]), text)

    def written(self, text: str) -> str:
        """Return a text as the tokenizer reads it, with the first of the tokens that end a turn."""
        contents = {character: mark for mark, character in reversed([*self.characters.items()])}
        return RESERVED_CHARACTER.sub(lambda match: contents.get(match[0], match[0]), text)


def special_texts(
    tokenizer: PreTrainedTokenizerBase, marks: Sequence[str], turn_ends: Sequence[str], end_ids: Collection[int]
) -> SpecialTexts:
    """Return the characters for the added tokens of a tokenizer that are marks, or that end a turn.

    Parameters
    ----------
    marks, turn_ends : sequence of str
        What such tokens may be called.
    end_ids : collection of int
        Further added tokens that end a turn, such as the model's own; the tokenizer's is always one.
    """
    ids = _added_tokens(tokenizer)
    # a configuration may name an ordinary token, such as the default of its class
    ends = {ids[end] for end in turn_ends if end in ids} | set(end_ids).intersection(ids.values())
    own = getattr(tokenizer, "eos_token_id", None)
    texts = {own: END} if isinstance(own, int) else {}
    texts |= dict.fromkeys(sorted(ends - set(texts)), END)
    free = iter(map(chr, RESERVED[1:]))
    texts |= {ids[mark]: next(free) for mark in marks if mark in ids and ids[mark] not in texts}
    contents = {token: content for content, token in ids.items()}
    return SpecialTexts(texts, {contents[token]: text for token, text in texts.items() if token in contents})


def _added_tokens(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Return the ids of the tokens that were added to a vocabulary, special or not."""
    mistral: Any = getattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer", None)
    if mistral is not None:
        return {str(mistral.tokenizer.id_to_piece(token)): token for token in sorted(mistral.tokenizer.special_ids)}
    return {str(added.content): token for token, added in tokenizer.added_tokens_decoder.items()}
