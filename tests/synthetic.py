"""Decoders whose model is replaced by an engine of arbitrary taste, and the engines that tests share."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
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
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_table import TokenTable

END = "</s>"
LIKED = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
"""Bytes of the tokens that random models like."""

Bias = Callable[[bytes], float]
"""Token text -> what to add to its random logit."""

Continuation = Callable[[str], str]
"""Text so far -> the text that the model wants to write next."""


@cache
def synthetic(kind: str = "byte level") -> SyntheticDecoder:
    """A decoder with one of the small tokenizers; all that asks for it share it, and set its engine."""
    tokenizer = TOKENIZERS[kind]()
    return SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)


class RandomEngine(SyntheticEngine):
    """Logits drawn from a seeded normal distribution for each context, plus a bias by token text; none if special."""

    def __init__(
        self, texts: Sequence[bytes | None], seed: int = 0, bias: Bias | None = None, can_roll_back: bool = True
    ) -> None:
        super().__init__(can_roll_back)
        self._seed = seed
        self._bias = torch.tensor([bias(t) if bias and t else 0.0 for t in texts])

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        digest = hashlib.blake2b(repr((self._seed, tokens[-64:])).encode(), digest_size=8).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest) >> 1)
        return NextTokenLogits(torch.randn(len(self._bias), generator=generator) + self._bias)


class ScriptedEngine(SyntheticEngine):
    """A model that wants to write what a function of the text so far says, in the longest tokens that fit."""

    def __init__(self, texts: Sequence[bytes | None], continuation: Continuation, can_roll_back: bool = True) -> None:
        super().__init__(can_roll_back)
        self._texts = texts
        self._continuation = continuation
        self._tokens: dict[bytes, list[int]] = {}
        for token, text in enumerate(texts):
            if text:
                self._tokens.setdefault(text, []).append(token)
        self._longest = max(map(len, self._tokens))

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        wanted = self.wanted(b"".join(self._texts[t] or b"" for t in tokens))
        logits = torch.full((len(self._texts),), -1.0)
        for size in range(1, min(len(wanted), self._longest) + 1):
            logits[self._tokens.get(wanted[:size], [])] = 20.0 + size
        return NextTokenLogits(logits)

    def wanted(self, written: bytes) -> bytes:
        return self._continuation(written.decode(errors="replace")).encode()


class Ending(RandomEngine):
    """A random model that now and then writes the mark that closes a text, so that its values end."""

    def __init__(self, texts: Sequence[bytes | None], seed: int, bias: Bias | None, mark: bytes) -> None:
        super().__init__(texts, seed, bias)
        self._texts = texts
        self._mark = mark
        self._wishes: dict[bytes, torch.Tensor] = {}

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        written = b"".join(self._texts[t] or b"" for t in tokens[-24:])
        begun = next(n for n in range(len(self._mark) - 1, -1, -1) if written.endswith(self._mark[:n]))
        if not begun and hashlib.blake2b(written, digest_size=1).digest()[0] > 40:
            return super().next_logits(tokens)
        left = self._mark[begun:]
        if left not in self._wishes:
            fits = [20.0 + 4 * len(t) if t and left.startswith(t) else 0.0 for t in self._texts]
            self._wishes[left] = torch.tensor(fits)
        return NextTokenLogits(super().next_logits(tokens).logits + self._wishes[left])


def closing_mark(call_format: CallFormat, table: TokenTable) -> bytes:
    """What closes a text in a format."""
    notation = call_format.notation
    mark = ('"' if "json" in notation else "'") if isinstance(notation, str) else notation.mark
    return table.special.bound(mark).encode()


class Eager(RandomEngine):
    """A random model that wants another call, of the tool ``name``, behind every call of a format."""

    def __init__(self, call_format: CallFormat, table: TokenTable, seed: int, name: str) -> None:
        super().__init__(table.texts, seed)
        self._texts = table.texts
        bound = call_format.bound(table.special.bound)
        self._ends = {bound.end_of(empty).encode() for empty in (True, False)}
        self._start = (bound.start(1) + name).encode()

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        logits, written = super().next_logits(tokens).logits, b"".join(self._texts[t] or b"" for t in tokens[-160:])
        for size in range(len(self._start)):
            if any(written.endswith(end + self._start[:size]) for end in self._ends):
                left = self._start[size:]
                fits = [20.0 + 4 * len(t) if t and left.startswith(t) else 0.0 for t in self._texts]
                logits = logits + torch.tensor(fits)
        return NextTokenLogits(logits)


class Weighted(SyntheticEngine):
    """A model of token sequences with weights; ``rest`` are the weights of all tokens wherever they stand."""

    def __init__(self, paths: Mapping[tuple[int, ...], float], rest: torch.Tensor, can_roll_back: bool = True) -> None:
        super().__init__(can_roll_back)
        self._paths = paths
        self._rest = rest

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        weights = self._rest.clone()
        for path, weight in self._paths.items():
            if path[: len(tokens)] == tokens and len(path) > len(tokens):
                weights[path[len(tokens)]] += weight
        return NextTokenLogits(weights.log())


def likes(liked: bytes = b"", seed: int = 0, kind: str = "byte level", **fields: Any) -> RandomEngine:
    """A random model that likes tokens with one of some bytes."""
    texts = synthetic(kind).table.texts
    return RandomEngine(texts, seed, lambda text: 5.0 * any(c in text for c in liked), **fields)


class Writer(ScriptedEngine):
    """A model that writes a text behind a prompt, in the longest tokens that fit, and then another again and again."""

    def __init__(
        self, prompt: str, text: str, then: str = END, kind: str = "byte level", can_roll_back: bool = True
    ) -> None:
        table = synthetic(kind).table
        super().__init__(table.texts, str, can_roll_back)
        self._wanted, self._then = (table.special.bound(part).encode() for part in (prompt + text, then))

    def wanted(self, written: bytes) -> bytes:
        left = self._wanted[len(written) :] if self._wanted.startswith(written) else b""
        return left or self._then


def decode(
    engine: SyntheticEngine,
    prompt: Any,
    tools: LookupDictionary,
    with_decoder: str | SyntheticDecoder = "byte level",
    line_end: str | None = None,
    dialects: bool = False,
    **fields: Any,
) -> DecodeResult:
    """What is decoded with an engine, by a decoder or one with a small tokenizer of a kind.

    Each of the engine's branches must have been released, and only once.
    """
    decoder, released = synthetic(with_decoder) if isinstance(with_decoder, str) else with_decoder, list[int]()
    decoder.engine = engine
    engine.release = released.append  # type: ignore[method-assign]
    [result] = decoder.run([Request(prompt, tools, DecodeOptions(**fields), stop=line_end, dialects=dialects)])
    assert sorted(released) == list(engine._branches)
    return result
