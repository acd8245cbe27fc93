"""The text of every token, and tokenising text as it continues other text."""

import bisect
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from tooldecoding.errors import TokenizerError

_CONTEXT_CHARACTERS = 24
_ANCHORS = ("\n", "[", "a", "(", "=")
_SAMPLE = "Name(key='a value', n=1)"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TokenTable:
    """Token ids <-> bytes for one tokenizer (byte-level BPE, or SentencePiece with or without byte fallback).

    Parameters
    ----------
    tokenizer : PreTrainedTokenizerBase
    vocabulary : int, optional
        Number of the model's logits; tokens from there on cannot be chosen.

    Attributes
    ----------
    texts : list of (bytes or None)
        Text of each id as UTF-8 bytes, possibly a part of a character; ``None`` for special tokens.

    Raises
    ------
    TokenizerError
        If the texts of tokens do not join to the text that they were made from.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, vocabulary: int | None = None) -> None:
        self.tokenizer = tokenizer
        self.name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
        self.texts = _token_texts(tokenizer)
        written = self.join(self._plain_ids(_SAMPLE)).decode(errors="replace")
        if not written.endswith(_SAMPLE):
            raise TokenizerError(
                f"tokenizer {self.name} is not supported: its tokens of {_SAMPLE!r} join to {written!r}; "
                "byte-level BPE and SentencePiece tokenizers are"
            )
        if vocabulary is not None:
            self.texts[vocabulary:] = [None] * len(self.texts[vocabulary:])
            self.texts += [None] * (vocabulary - len(self.texts))  # models pad their vocabulary
        order = sorted((t, i) for i, t in enumerate(self.texts) if t)
        self._sorted_texts = [t for t, _ in order]
        self._sorted_ids = np.array([i for _, i in order], dtype=np.int64)
        self._longest = max((len(t) for t in self._sorted_texts), default=0)
        self._encode_after = lru_cache(maxsize=65536)(self._tokenise_after)
        self.beginning_with = lru_cache(maxsize=64)(self._find_beginning_with)
        self.with_prefix = lru_cache(maxsize=4096)(self._find_with_prefix)

    def _find_with_prefix(self, prefix: bytes) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """Ids of all tokens whose text begins with ``prefix``, in no particular order."""
        low = bisect.bisect_left(self._sorted_texts, prefix)
        high = bisect.bisect_left(self._sorted_texts, prefix + b"\xff" * (self._longest + 1))
        return self._sorted_ids[low:high]

    def _find_beginning_with(self, first: frozenset[int]) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """Ids of all tokens whose text begins with one of these bytes, in no particular order."""
        return np.concatenate([self.with_prefix(bytes([byte])) for byte in sorted(first)] or [self._sorted_ids[:0]])

    def join(self, ids: Sequence[int]) -> bytes:
        """The text of several tokens; special tokens write nothing."""
        return b"".join(self.texts[i] or b"" for i in ids)

    def is_special(self, token: int) -> bool:
        """Whether a token has no text of its own (end of sequence, padding, ids beyond the vocabulary)."""
        return token >= len(self.texts) or self.texts[token] is None

    def encode_after(self, context: bytes, text: bytes) -> tuple[int, ...]:
        """Tokens of ``text`` as the tokenizer writes it behind ``context``.

        No token of the result reaches into ``context``. Where either begins or ends inside a character, the
        longest tokens that fit are taken.

        Raises
        ------
        TokenizerError
            If the tokenizer has no tokens for a character of ``text``.
        """
        tail = context.decode(errors="ignore")[-_CONTEXT_CHARACTERS:] if context else ""
        if not is_characters(text):
            return self._longest_matches(text)
        return self._encode_after(tail, text.decode())

    def _tokenise_after(self, context: str, text: str) -> tuple[int, ...]:
        wanted = text.encode()
        for anchor in (context, *_ANCHORS):
            ids = self._plain_ids(anchor + text)
            position, written = len(ids), 0
            while position and written < len(wanted):
                position -= 1
                written += len(self.texts[ids[position]] or b"")
            if written == len(wanted) and self.join(ids[position:]) == wanted:
                return tuple(ids[position:])
        return self._longest_matches(wanted)

    def _longest_matches(self, wanted: bytes) -> tuple[int, ...]:
        """Fallback where the tokenizer rewrites the text or merges it with anything before it."""
        ids: list[int] = []
        start = 0
        while start < len(wanted):
            for end in range(min(len(wanted), start + self._longest), start, -1):
                place = bisect.bisect_left(self._sorted_texts, wanted[start:end])
                if place < len(self._sorted_texts) and self._sorted_texts[place] == wanted[start:end]:
                    ids.append(int(self._sorted_ids[place]))
                    start = end
                    break
            else:
                missing = wanted[start:].decode(errors="ignore")[:1]
                raise TokenizerError(
                    f"tokenizer {self.name} has no token for {missing!r}, needed to write {wanted.decode()!r}; "
                    "use a model with byte-level or byte-fallback tokens, or rename the tool or key"
                )
        return tuple(ids)

    def _plain_ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids


def is_characters(text: bytes) -> bool:
    """Whether bytes are whole UTF-8 characters."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _token_texts(tokenizer: PreTrainedTokenizerBase) -> list[bytes | None]:
    size = max(tokenizer.get_vocab().values()) + 1
    pieces = tokenizer.convert_ids_to_tokens(list(range(size)))
    added = tokenizer.added_tokens_decoder
    byte_level = _is_byte_level(tokenizer, pieces)
    byte_of = _byte_alphabet()
    fallback = sum(1 for p in pieces if p and _BYTE_TOKEN.fullmatch(p)) == 256
    texts: list[bytes | None] = []
    for token, piece in enumerate(pieces):
        match = _BYTE_TOKEN.fullmatch(piece or "") if fallback else None
        if token in added:
            texts.append(None if added[token].special else added[token].content.encode())
        elif not piece:
            texts.append(None)
        elif match:
            texts.append(bytes([int(match[1], 16)]))
        elif byte_level:
            known = all(c in byte_of for c in piece)
            texts.append(bytes(byte_of[c] for c in piece) if known else piece.encode())
        else:
            texts.append(piece.replace("▁", " ").encode())
    return texts


def _is_byte_level(tokenizer: PreTrainedTokenizerBase, pieces: Sequence[str | None]) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return '"ByteLevel"' in json.dumps(json.loads(backend.to_str())["decoder"])
    return any(p is not None and p.startswith("Ġ") for p in pieces)


def _byte_alphabet() -> dict[str, int]:
    """The printable stand-ins of byte-level BPE (GPT-2): printable Latin-1 stands for itself, the rest from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}
