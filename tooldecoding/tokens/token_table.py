"""The text of every token, and the tokens of a text that continues other text."""

import bisect
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import cast

import numpy as np
from transformers import PreTrainedTokenizerBase

from lookup.languages.codepoints import RESERVED_CHARACTER
from tooldecoding.engines.logits import Tokens
from tooldecoding.errors import TokenizerError
from tooldecoding.tokens.token_texts import special_texts, token_texts

_CONTEXT_CHARACTERS = 24
_ANCHORS = ("\n", "[", "a", "(", "=")
_SAMPLE = "Name(key='a value', n=1)"


class TokenTable:
    """Maps token ids to bytes and back, for byte-level BPE and SentencePiece (with or without byte fallback).

    TokenizerError if the texts of a sample's tokens do not add up to the sample.

    Parameters
    ----------
    vocabulary : int, optional
        The number of the model's logits. Tokens with larger ids cannot be chosen.
    marks, turn_ends : sequence of str
        Special tokens that get a character as their text (``tooldecoding.tokens.token_texts``).
    end_ids : collection of int
        Further tokens that end a turn, beside the tokenizer's own.

    Attributes
    ----------
    texts : list of (bytes or None)
        The text of each id in UTF-8, possibly a part of a character. ``None`` for other special tokens.
    special : SpecialTexts
        The characters that stand for special tokens.
    sorted_texts : list of bytes
        The sorted texts of all tokens that are not special.
    sorted_ids : ndarray of int64
        Their ids.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        vocabulary: int | None = None,
        *,
        marks: Sequence[str] = (),
        turn_ends: Sequence[str] = (),
        end_ids: Collection[int] = (),
    ) -> None:
        self.tokenizer = tokenizer
        self.name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
        self.texts = token_texts(tokenizer)
        self.special = special_texts(tokenizer, marks, turn_ends, end_ids)
        for token, character in self.special.texts.items():
            self.texts += [None] * (token + 1 - len(self.texts))
            self.texts[token] = character.encode()
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._encode = None if backend is None else backend.encode
        written = self.join(self._plain_ids(_SAMPLE)).decode(errors="replace")
        if not written.endswith(_SAMPLE):
            raise TokenizerError(
                f"tokenizer {self.name} is not supported: its tokens of {_SAMPLE!r} join to {written!r}; "
                "byte-level BPE and SentencePiece tokenizers are"
            )
        if vocabulary is not None:
            self.texts[vocabulary:] = [None] * len(self.texts[vocabulary:])
            self.texts += [None] * (vocabulary - len(self.texts))  # models pad their vocabulary
        written_by = [token for token, text in enumerate(self.texts) if text]
        written_by.sort(key=cast(Callable[[int], bytes], self.texts.__getitem__))
        self.sorted_texts = [text for token in written_by if (text := self.texts[token])]
        self.sorted_ids: Tokens = np.array(written_by, dtype=np.int64)
        self._kinds: dict[str, Tokens] = {}
        self._longest = max((len(t) for t in self.sorted_texts), default=0)
        self._encode_after = lru_cache(maxsize=65536)(self._tokenise_after)
        self._sure = lru_cache(maxsize=65536)(self._find_sure)
        self.stretch = lru_cache(maxsize=65536)(self._find_stretch)
        self.beginnings = lru_cache(maxsize=4096)(self._find_beginnings)

    def _find_stretch(self, prefix: bytes) -> tuple[int, int]:
        """Return the range in ``sorted_texts`` of the tokens that begin with ``prefix``: start and end."""
        return beginning_with(prefix, self.sorted_texts, 0, len(self.sorted_texts))

    def _find_beginnings(self, text: bytes) -> list[int]:
        """Return the ids of the tokens that are a beginning of ``text``, or all of it."""
        found: list[int] = []
        for size in range(1, min(len(text), self._longest) + 1):
            low, high = self.stretch(text[:size])
            if low == high:
                break
            found += self.sorted_ids[low : bisect.bisect_right(self.sorted_texts, text[:size], low, high)].tolist()
        return found

    def those(self, name: str, belongs: Callable[[int, bytes], bool]) -> Tokens:
        """Return the tokens of a kind, ascending: found once, by id and text, and kept under a name."""
        if name not in self._kinds:
            found = [token for token, text in enumerate(self.texts) if text and belongs(token, text)]
            self._kinds[name] = np.array(found, np.int64)
        return self._kinds[name]

    def text(self, token: int) -> bytes:
        """Return the text of a token. Special tokens have none."""
        return self.texts[token] or b""

    def join(self, ids: Sequence[int]) -> bytes:
        """Return the text of tokens."""
        return b"".join(map(self.text, ids))

    def is_special(self, token: int) -> bool:
        """Whether a token has no text of its own (end of sequence, padding, marks, ids beyond the vocabulary)."""
        return token >= len(self.texts) or self.texts[token] is None or token in self.special.texts

    def encode_after(self, context: bytes, text: bytes) -> tuple[int, ...]:
        """Return the tokens of ``text`` as the tokenizer writes it behind ``context``.

        No token reaches into ``context``. If either text begins or ends inside a character, the longest tokens that
        fit are taken.

        TokenizerError if the tokenizer has no tokens for a character of ``text``.
        """
        try:
            return self._encode_after(_tail(context), text.decode())
        except UnicodeDecodeError:
            return self._longest_matches(text)

    def sure_after(self, context: bytes, text: bytes) -> tuple[int, ...]:
        """Return the first tokens of ``text`` that the tokenizer writes whatever text follows.

        A token that reaches beyond ``text`` begins at some place inside it. Byte-pair encoding writes the text before
        that place as if nothing followed. So a token is sure if it is the same for every such place.
        """
        try:
            return self._sure(_tail(context), text.decode())
        except UnicodeDecodeError:
            return ()

    def _find_sure(self, context: str, text: str) -> tuple[int, ...]:
        wanted = text.encode()
        tokens = self._encode_after(context, text)
        ends = np.cumsum([len(self.texts[token] or b"") for token in tokens]).tolist()
        count = len(tokens) - 1
        for start in range(max(0, len(wanted) - self._longest), len(wanted)):
            if not self.goes_beyond(wanted[start:]):
                continue
            if not start:
                return ()
            if start in ends:
                count = min(count, ends.index(start) + 1)
                continue
            shorter = wanted[:start].decode(errors="ignore")
            inside_character = len(shorter.encode()) < start
            before = (self._sure if inside_character else self._encode_after)(context, shorter)
            count = min(count, shared_length(tokens, before))
        return tokens[: max(0, count)]

    def goes_beyond(self, text: bytes) -> bool:
        """Whether a token begins with ``text`` and is longer."""
        low, high = self.stretch(text)
        return low < high and len(self.sorted_texts[high - 1]) > len(text)

    def _tokenise_after(self, context: str, text: str) -> tuple[int, ...]:
        wanted = text.encode()
        for anchor in (context, *_ANCHORS):
            ids = self._plain_ids(self.special.written(anchor + text))
            position, written = len(ids), 0
            while position and written < len(wanted):
                position -= 1
                written += len(self.texts[ids[position]] or b"")
            if written == len(wanted) and self.join(ids[position:]) == wanted:
                return tuple(ids[position:])
        return self._in_parts(context, text) or self._longest_matches(wanted)

    def _in_parts(self, context: str, text: str) -> tuple[int, ...]:
        """Return the tokens of a text with reserved characters part by part; empty for any other text.

        So that a text that reads like a special token, and the tokenizer of mistral-common, which reads none, spoil
        the part alone in which they stand.
        """
        character = RESERVED_CHARACTER.search(text)
        if character is None:
            return ()
        before, behind = text[: character.start()], text[character.end() :]
        own = self._longest_matches(character[0].encode())
        left = self._encode_after(context, before) if before else ()
        return (*left, *own, *(self._encode_after(character[0], behind) if behind else ()))

    def _longest_matches(self, wanted: bytes) -> tuple[int, ...]:
        """Return greedy longest matches, for tokenizers that rewrite the text or merge it with any text before it."""
        ids: list[int] = []
        start = 0
        while start < len(wanted):
            found = self.beginnings(wanted[start : start + self._longest])
            if not found:
                missing = wanted[start:].decode(errors="ignore")[:1]
                raise TokenizerError(
                    f"the tokenizer has no token for {missing!r}; use a model with byte-level or byte-fallback tokens, "
                    "or rename the tool or key",
                    f" (tokenizer {self.name}, needed to write {wanted.decode()!r})",
                )
            ids.append(found[-1])
            start += len(self.texts[found[-1]] or b"")
        return tuple(ids)

    def _plain_ids(self, text: str) -> list[int]:
        ids: list[int]
        if self._encode is None:
            ids = self.tokenizer.encode(text, add_special_tokens=False)
        else:
            ids = self._encode(text, add_special_tokens=False).ids
        return ids


def _tail(context: bytes) -> str:
    """Return the end of a context: the part that can change the tokens behind it."""
    end = context[-_CONTEXT_CHARACTERS:]
    if end.isascii():
        return end.decode()
    return context[-4 * _CONTEXT_CHARACTERS :].decode(errors="ignore")[-_CONTEXT_CHARACTERS:]


def beginning_with(prefix: bytes, texts: Sequence[bytes], low: int, high: int) -> tuple[int, int]:
    """Return the range, between two places, of the sorted texts that begin with ``prefix``: start and end."""
    low = bisect.bisect_left(texts, prefix, low, high)
    first_behind = prefix.rstrip(b"\xff")
    if not first_behind:
        return low, high
    return low, bisect.bisect_left(texts, first_behind[:-1] + bytes([first_behind[-1] + 1]), low, high)


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how long the common beginning of two texts or two token sequences is."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def is_characters(text: bytes) -> bool:
    """Whether the bytes are complete UTF-8 characters."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
