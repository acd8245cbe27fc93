"""The teacher adds a bonus to the logit of the wanted token, for ``generate`` and for the engines of Tool Decoding.

Its lesson has the wanted tokens after any prefix of the call, with keys in any order.

The method still does all its work: forward pass, output layer, and its own selection among the logits. The teacher's
own time is measured and subtracted from the method's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import LogitsProcessor

from eval.bench.machine import PassClock
from eval.bench.subject import END, OPENING, SEPARATOR, Example
from tooldecoding.engines.engine import BranchId, Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.tokens.token_table import TokenTable

BONUS = 1000.0
"""Added to the wanted token's logit; far above any logit of a model."""

_CONTEXT = 128
"""Bytes of context for tokenising the text after them."""


class Lesson:
    """The wanted tokens of one example.

    After a prefix of the call, the lesson wants the rest of the current value or key, then the missing keys in
    documentation order, then the end. After any other text it wants nothing.

    The token that the tokenizer writes there has the bonus; half of it and more the longer they are have other tokens
    that begin the same text, for libraries that refuse the tokenizer's own.
    """

    def __init__(self, example: Example, table: TokenTable) -> None:
        self._table = table
        self._prompt = table.join(example.prompt_ids)
        self._pairs = list(example.pairs.values())
        self._tokens = {piece: token for token, piece in enumerate(table.texts) if piece}
        self._longest = max(map(len, self._tokens))
        self._known: dict[bytes, dict[int, float]] = {}

    def wanted(self, text: bytes) -> dict[int, float]:
        """Return token -> bonus after ``text``, which contains at least the prompt without its last token."""
        behind = text[len(self._prompt) :] if len(text) >= len(self._prompt) else text
        if behind not in self._known:
            self._known[behind] = self._find(text)
        return self._known[behind]

    def _find(self, text: bytes) -> dict[int, float]:
        written = text[len(self._prompt) :]
        held = self._prompt[len(text) :]  # the part of the prompt that ``text`` lacks
        rest = self._rest(written)
        if not rest:
            return {}
        whole = held + rest
        lengths = range(1, min(len(whole), self._longest) + 1)
        begun = {self._tokens[whole[:n]]: BONUS / 2 + n for n in lengths if whole[:n] in self._tokens}
        return begun | {self._table.encode_after(text[-_CONTEXT:], whole)[0]: BONUS}

    def _rest(self, written: bytes) -> bytes | None:
        """Return what is missing after a prefix of the call; None if ``written`` is not a prefix."""
        done, left = list[str](), list(self._pairs)
        while pair := next((pair for pair in left if written.startswith(_text([*done, pair]))), None):
            done.append(pair)
            left.remove(pair)
        for first in left or [""]:
            others = [first, *(pair for pair in left if pair != first)] if first else []
            whole = _text([*done, *others]) + END.encode()
            if whole.startswith(written):
                return whole[len(written) :]
        return None


def _text(pairs: Sequence[str]) -> bytes:
    return (OPENING + SEPARATOR.join(pairs)).encode()


class TaughtProcessor(LogitsProcessor):
    """Logits processor for ``generate``: wants each row's token of this step, whatever the row has written before.

    Parameters
    ----------
    wanted : torch.Tensor
        Shape (rows, steps), int64, on the model's device.
    prompt : int
        Width of the prompts.
    """

    def __init__(self, wanted: torch.Tensor, prompt: int, clock: PassClock) -> None:
        self._wanted = wanted
        self._bonus = torch.full((len(wanted), 1), BONUS, device=wanted.device)
        self._prompt = prompt
        self._clock = clock

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the logits with the bonus."""
        with self._clock.teaching():
            step = input_ids.shape[1] - self._prompt
            return scores.scatter_add_(1, self._wanted[:, step, None], self._bonus)


@dataclass
class _Trace:
    """The tokens fed to a branch."""

    lesson: Lesson
    tokens: list[int]
    text: bytes = b""


class TaughtEngine:
    """An engine whose logits prefer the wanted tokens; see Engine.

    Parameters
    ----------
    engine : Engine
        Computes the real logits.
    lessons : sequence of Lesson
        One per prompt, in the order in which they are opened.
    """

    def __init__(self, engine: Engine, lessons: Sequence[Lesson], table: TokenTable, clock: PassClock) -> None:
        self._engine = engine
        self._lessons = iter(lessons)
        self._table = table
        self._clock = clock
        self._traces: dict[BranchId, _Trace] = {}

    def __getattr__(self, name: str) -> Any:
        """What the teacher does not change is the engine's."""
        return getattr(self._engine, name)

    def open(self, count: int) -> list[BranchId]:
        """See Engine."""
        roots = self._engine.open(count)
        self._traces |= {root: _Trace(next(self._lessons), []) for root in roots}
        return roots

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine."""
        child = self._engine.fork(branch)
        with self._clock.teaching():
            trace = self._traces[branch]
            self._traces[child] = _Trace(trace.lesson, list(trace.tokens), trace.text)
        return child

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        self._engine.drop(branch, count)
        with self._clock.teaching():
            trace = self._traces[branch]
            trace.text = trace.text[: len(trace.text) - len(self._table.join(trace.tokens[-count:]))]
            del trace.tokens[-count:]

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        feeds = [feed._replace(candidates=None) for feed in feeds]  # the bonus needs the logits of the whole vocabulary
        answers = self._engine.extend(feeds)
        self._clock.end_prompt()
        with self._clock.teaching(), torch.inference_mode():
            for feed, found in zip(feeds, answers, strict=True):
                self._raise_wanted(feed, found)
        return answers

    def answered(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine."""
        return self.extend(feeds)

    def _raise_wanted(self, feed: Feed, computed: Sequence[NextTokenLogits]) -> None:
        """Add the bonus to the logits of the wanted tokens."""
        trace = self._traces[feed.branch]
        sure = len(feed.tokens) - feed.speculative
        self._write(trace, feed.tokens[:sure])
        for number, logits in enumerate(computed):
            if number:
                self._write(trace, feed.tokens[sure + number - 1 : sure + number])
            if wanted := trace.lesson.wanted(trace.text):
                torch._foreach_add_([logits.logits[token] for token in wanted], list(wanted.values()))

    def _write(self, trace: _Trace, tokens: Sequence[int]) -> None:
        trace.tokens.extend(tokens)
        trace.text += self._table.join(tokens)
