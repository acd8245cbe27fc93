"""The text of every token as UTF-8 bytes, for each kind of tokenizer, and characters that stand for special tokens.

A special token has no text: what looks like one in a text may be ordinary tokens. So the special tokens that formats
and models write (``[TOOL_CALLS]``, ``</think>``, the end of the turn) get a reserved character each as their text.
Tries, pending text and values treat them like any other text, a value cannot hold them, and nothing but the token
itself is taken for it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from lookup.languages.codepoints import RESERVED, RESERVED_CHARACTER
from tooldecoding.errors import PromptError

_FOREIGN: Final = chr(256)
"""Stands for a character that does not represent a byte."""
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_texts(tokenizer: PreTrainedTokenizerBase) -> list[bytes | None]:
    """Return the text of each id, possibly a part of a character; ``None`` for special tokens and unused ids."""
    mistral = mistral_tokenizer(tokenizer)
    if mistral is not None:
        return _mistral_texts(mistral)
    vocabulary = tokenizer.get_vocab()
    pieces: list[str | None] = [None] * (max(vocabulary.values()) + 1)
    for piece, token in vocabulary.items():
        pieces[token] = piece
    texts = _byte_level_texts(pieces) if _is_byte_level(tokenizer, pieces) else _sentencepiece_texts(pieces)
    for token, added in tokenizer.added_tokens_decoder.items():
        texts[token] = None if added.special else added.content.encode()
    return texts


def _byte_level_texts(pieces: Sequence[str | None]) -> list[bytes | None]:
    """Return the bytes for which the characters of each piece stand. Other pieces are plain text."""
    latin = defaultdict(lambda: _FOREIGN, {ord(letter): chr(byte) for byte, letter in bytes_to_unicode().items()})
    texts: list[bytes | None] = []
    for piece in pieces:
        try:
            texts.append((piece or "").translate(latin).encode("latin-1") or None)
        except UnicodeEncodeError:
            texts.append(str(piece).encode())
    return texts


def _sentencepiece_texts(pieces: Sequence[str | None]) -> list[bytes | None]:
    fallback = {piece: bytes([int(m[1], 16)]) for piece in pieces if piece and (m := _BYTE_TOKEN.fullmatch(piece))}
    if len(fallback) != 256:
        fallback = {}
    return [None if not piece else fallback.get(piece) or piece.replace("▁", " ").encode() for piece in pieces]


def mistral_tokenizer(tokenizer: PreTrainedTokenizerBase) -> Any:
    """Return that of mistral-common, which transformers loads for Mistral's own model folders; None for others."""
    return getattr(getattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer", None), "tokenizer", None)


def _mistral_texts(tokenizer: Any) -> list[bytes | None]:
    """Return the texts of a mistral-common tokenizer."""
    special = tokenizer.special_ids | {tokenizer.unk_id}  # SentencePiece does not count the unknown one among them
    ids = range(tokenizer.n_words)
    if hasattr(tokenizer, "id_to_byte_piece"):
        return [None if i in special else tokenizer.id_to_byte_piece(i) for i in ids]
    return _sentencepiece_texts([None if i in special else tokenizer.id_to_piece(i) for i in ids])


def _is_byte_level(tokenizer: PreTrainedTokenizerBase, pieces: Sequence[str | None]) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        decoder = backend.decoder  # its state is JSON; all of to_str() takes a second
        return decoder is not None and b'"ByteLevel"' in decoder.__getstate__()
    return any(piece is not None and piece.startswith("Ġ") for piece in pieces)


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
    mistral = mistral_tokenizer(tokenizer)
    if mistral is not None:
        return {str(mistral.id_to_piece(token)): token for token in sorted(mistral.special_ids)}
    return {str(added.content): token for token, added in tokenizer.added_tokens_decoder.items()}


def demand_writable(texts: Sequence[str]) -> None:
    """PromptError for lone surrogates, and for the characters that stand for special tokens."""
    demand_unicode(texts)
    for text in texts:
        if found := RESERVED_CHARACTER.search(text):
            raise PromptError(f"names and keys must not have the private character U+{ord(found[0]):X}: {text[:40]!r}")


def demand_unicode(texts: Sequence[str]) -> None:
    """PromptError for lone surrogates, which JSON can spell and no tokenizer can read."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            found = f"{ord(text[error.start]):04X}"
            raise PromptError(
                f"prompt and documentation must be Unicode text, found a lone surrogate U+{found}", f" in {text[:40]!r}"
            ) from None
