"""The text of every token as UTF-8 bytes, for each kind of tokenizer."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from transformers import PreTrainedTokenizerBase

_FOREIGN: Final = 256
"""Marks a character that does not represent a byte."""
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_texts(tokenizer: PreTrainedTokenizerBase) -> list[bytes | None]:
    """Return the text of each id, possibly a part of a character; ``None`` for special tokens and unused ids."""
    mistral = getattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer", None)
    if mistral is not None:
        return _mistral_texts(mistral.tokenizer)
    vocabulary = tokenizer.get_vocab()
    pieces: list[str | None] = [None] * (max(vocabulary.values()) + 1)
    for piece, token in vocabulary.items():
        pieces[token] = piece
    texts = _byte_level_texts(pieces) if _is_byte_level(tokenizer, pieces) else _sentencepiece_texts(pieces)
    for token, added in tokenizer.added_tokens_decoder.items():
        texts[token] = None if added.special else added.content.encode()
    return texts


def _byte_level_texts(pieces: Sequence[str | None]) -> list[bytes | None]:
    """Convert all pieces at once, since a vocabulary has a million characters. Other pieces are plain text."""
    alphabet = _byte_alphabet()
    byte_of = np.full(max(map(ord, alphabet)) + 2, _FOREIGN, dtype=np.uint16)
    for character, byte in alphabet.items():
        byte_of[ord(character)] = byte
    known = [piece or "" for piece in pieces]
    codes = np.frombuffer("".join(known).encode("utf-32-le"), dtype=np.uint32)
    values = byte_of[np.minimum(codes, len(byte_of) - 1)]
    data = values.astype(np.uint8).tobytes()
    ends = np.cumsum(list(map(len, known)))
    texts = [data[start:end] or None for start, end in pairwise([0, *ends.tolist()])]
    for number in np.unique(np.searchsorted(ends, np.flatnonzero(values == _FOREIGN), side="right")).tolist():
        texts[number] = known[number].encode()
    return texts


def _sentencepiece_texts(pieces: Sequence[str | None]) -> list[bytes | None]:
    fallback = {piece: bytes([int(m[1], 16)]) for piece in pieces if piece and (m := _BYTE_TOKEN.fullmatch(piece))}
    if len(fallback) != 256:
        fallback = {}
    return [None if not piece else fallback.get(piece) or piece.replace("▁", " ").encode() for piece in pieces]


def _mistral_texts(tokenizer: Any) -> list[bytes | None]:
    """Return the texts of a mistral-common tokenizer, which transformers loads for Mistral's own model folders."""
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


def _byte_alphabet() -> dict[str, int]:
    """Return GPT-2's mapping of characters to bytes: printable Latin-1 maps to itself, other bytes to 256 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}
