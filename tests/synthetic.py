"""Decoders whose model is replaced by an engine of arbitrary taste, and the engines that tests share."""

from functools import cache
from typing import Any

import torch

from lookup.dictionary import LookupDictionary
from tiny_models import TOKENIZERS, tiny_model
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_table import TokenTable

END = "</s>"
LIKED = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
"""Bytes of the tokens that random models like."""


@cache
def synthetic(kind: str = "byte level") -> SyntheticDecoder:
    """A decoder with one of the small tokenizers; all that asks for it share it, and set its engine."""
    tokenizer = TOKENIZERS[kind]()
    return SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)


class Eager(RandomEngine):
    """A random model that wants another call, of the tool ``name``, behind every call of a format."""

    def __init__(self, call_format: CallFormat, table: TokenTable, seed: int, name: str) -> None:
        super().__init__(table.texts, seed)
        self._texts = table.texts
        bound = call_format.bound(table.special.bound)
        self._ends = {bound.end_of(empty).encode() for empty in (True, False)}
        self._start = (bound.start(1) + name).encode()

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        logits, written = super().next_logits(tokens).logits, b"".join(self._texts[t] or b"" for t in tokens[-160:])
        for size in range(len(self._start)):
            if any(written.endswith(end + self._start[:size]) for end in self._ends):
                left = self._start[size:]
                fits = [20.0 + 4 * len(t) if t and left.startswith(t) else 0.0 for t in self._texts]
                logits = logits + torch.tensor(fits)
        return NextTokenLogits(logits)


def likes(liked: bytes = b"", seed: int = 0, kind: str = "byte level", **fields: Any) -> RandomEngine:
    """A random model that likes tokens with one of some bytes."""
    texts = synthetic(kind).table.texts
    return RandomEngine(texts, seed, lambda text: 5.0 * any(c in text for c in liked), **fields)


class Writer(SyntheticEngine):
    """A model that writes a text behind a prompt, in the longest tokens that fit, and then another again and again."""

    def __init__(
        self, prompt: str, text: str, then: str = END, kind: str = "byte level", can_drop: bool = True
    ) -> None:
        super().__init__(can_drop)
        table = synthetic(kind).table
        self._texts = table.texts
        self._wanted, self._then = (table.special.bound(part).encode() for part in (prompt + text, then))

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        written = b"".join(self._texts[token] or b"" for token in tokens)
        left = self._wanted[len(written) :] if self._wanted.startswith(written) else b""
        fits = [20.0 + len(text) if text and (left or self._then).startswith(text) else -1.0 for text in self._texts]
        return NextTokenLogits(torch.tensor(fits))


def decode(
    engine: SyntheticEngine,
    prompt: Any,
    tools: LookupDictionary,
    kind: str = "byte level",
    line_end: str | None = None,
    **fields: Any,
) -> DecodeResult:
    """What is decoded with an engine; each of its branches must have been released, and only once."""
    decoder, released = synthetic(kind), list[int]()
    decoder.engine = engine
    engine.release = released.append  # type: ignore[method-assign]
    [result] = decoder.run([Request(prompt, tools, DecodeOptions(**fields), stop=line_end)])
    assert sorted(released) == list(engine._branches)
    return result
