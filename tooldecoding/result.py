"""A request while it is decoded, what a decode returns, and the JSON object that the command line prints for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tooldecoding.decoding.calibration import ARGUMENT
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.decoding.grounded_call import NOT_SAID
from tooldecoding.decoding.prompt_decoder import DecodedPrompt
from tooldecoding.engines.engine import Usage
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import unread
from tooldecoding.formats.thinking import NO_ANSWER, Answer
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Tally
from tooldecoding.tokens.token_table import TokenTable
from voting import VotedParameter


@dataclass(frozen=True)
class Counters:
    """What one prompt cost.

    Attributes
    ----------
    forward_passes : int
        Forward passes in which this prompt took part.
    positions : int
        Token positions computed for it (prompt included, padding not).
    reused_positions : int
        Positions of its prompt that were found in the prefix cache.
    padding : int
        Padding positions computed beside it, because prompts that are decoded together differ in length.
    forced_tokens, constrained_tokens, free_tokens : int
        Tokens that were injected, chosen in a trie, and freely written, over all branches. Tokens that branches share
        count once.
    cache_bytes : int
        Peak size of its share of the KV cache, as allocated.
    seconds : float
        Wall-clock time; prompts that are decoded together share it.
    """

    forward_passes: int
    positions: int
    reused_positions: int
    padding: int
    forced_tokens: int
    constrained_tokens: int
    free_tokens: int
    cache_bytes: int
    seconds: float

    @classmethod
    def of(cls, usage: Usage, tally: Tally, seconds: float) -> "Counters":
        """Return the counters of a prompt from the counts of its engine and its branches."""
        return cls(
            **vars(usage),
            forced_tokens=tally["forced"],
            constrained_tokens=tally["constrained"],
            free_tokens=tally["free"],
            seconds=seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """Return all counters by name."""
        return dict(self.__dict__)


@dataclass(frozen=True, repr=False)
class DecodeResult:
    """The decoded text and calls of one prompt: ``result.calls[0].name``, ``result.calls[0].arguments``.

    Attributes
    ----------
    text : str
        Everything written behind the prompt: free text, then the voted calls in their format.
    calls : tuple of DecodedCall
        The voted calls; empty if the model did not call a tool.
    token_ids : tuple of int
        ``text`` in the tokens in which the tokenizer writes it behind the prompt.
    call_format : CallFormat
        The format of the calls in ``text``.
    answer : Answer
        The free text without marks: what the model thought, and its content.
    cut : bool
        Whether a limit has cut the answer: free text, a value of the last call, which is not valid then, a call that
        goes beyond ``max_tokens`` and is left out, or calls beyond ``max_calls``.
    repeated : bool
        Whether the model wrote a call again, word for word or with equal arguments: it is left out, and ended the
        answer.
    asked : DecodedCall or None
        The call that was not made, because ``ask`` wants to know more: its ``ungrounded`` arguments, or unsure ones.
        ``content`` ends with the question, unless calls were made before it.
    next_call_log_odds : tuple of float
        For each call behind which another one could follow, in order: the natural log-odds of another call against the
        end; minus infinity where the model never goes on. See ``next_call_threshold`` of ``DecodeOptions``.
    left_out : DecodedCall or None
        The call that is not made, and ended the answer: its result ends the conversation already, it is likely made up,
        or it is cut and goes beyond ``max_tokens``.
    """

    text: str
    calls: tuple[DecodedCall, ...]
    token_ids: tuple[int, ...]
    counters: Counters
    call_format: CallFormat
    answer: Answer = NO_ANSWER
    cut: bool = False
    repeated: bool = False
    asked: DecodedCall | None = None
    next_call_log_odds: tuple[float, ...] = ()
    left_out: DecodedCall | None = None
    too_many: bool = False
    """Whether the model wants calls beyond ``max_calls``: they are not made."""

    @property
    def thinking(self) -> str:
        """What the model thought before its answer, without marks."""
        return self.answer.thinking

    @property
    def content(self) -> str:
        """The free text before the calls, without thinking and marks."""
        return self.answer.content

    @property
    def valid(self) -> bool:
        """Whether the format's reader reads the calls back, and each has all required keys.

        All values have their types, and none is cut. The reader shares the pieces of the format with what writes calls,
        and no code (``tooldecoding.formats``).
        """
        return not self._unread and all(c.voted.valid for c in self.calls)

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with the calls, which values are cut and why, and whether calls are missing."""
        unread = [self._unread] if self._unread else []
        calls = [*self.calls, *([self.left_out] if self.left_out is not None and self.left_out.cut else [])]
        more = [f"the model wants more than the {len(self.calls)} calls of max_calls"] if self.too_many else []
        return (*unread, *(e for c in calls for e in c.voted.errors), *more)

    @cached_property
    def _unread(self) -> str:
        """Why the reader does not read the calls back; empty if it does."""
        if not self.calls:
            return ""
        calls = [Call(c.name, c.arguments) for c in self.calls]
        length = len(self.call_format.ending(self.text, self.call_format.render(calls)))
        return unread(self.call_format, self.text[-length:], calls)

    def to_json(self, identifier: str) -> dict[str, Any]:
        """Return the object that ``tooldecoding decode --json`` prints."""
        return {
            "id": identifier,
            "format": self.call_format.name,
            "text": self.text,
            "thinking": self.thinking,
            "content": self.content,
            "calls": [_call_to_json(c) for c in self.calls],
            "valid": self.valid,
            "errors": list(self.errors),
            "cut": self.cut,
            "too_many": self.too_many,
            "repeated": self.repeated,
            "next_call_log_odds": finite(self.next_call_log_odds),
            "left_out": None if self.left_out is None else _call_to_json(self.left_out),
            "asked": None if self.asked is None else _call_to_json(self.asked),
            "candidates": [
                {"call": number, "order": list(c.order), "text": c.text}
                for number, call in enumerate(self.calls)
                for c in call.candidates
            ],
            "counters": self.counters.to_json(),
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<DecodeResult {self.text!r}, {'valid' if self.valid else 'invalid'}>"


def finite(numbers: Sequence[float]) -> list[float | None]:
    """Return numbers as JSON has them, to three digits behind the point: None for infinite ones."""
    return [round(number, 3) if math.isfinite(number) else None for number in numbers]


def _call_to_json(call: DecodedCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "confidence": call.confidence(),
        "name_confidence": call.name_confidence,
        "orders_used": len(call.candidates),
        "parameters": [
            {
                "name": p.key,
                "value": p.value,
                "votes": p.votes,
                "share": p.share,
                "logprob": p.logprob,
                "tokens": p.tokens,
                "truncated": p.truncated,
                "confidence": confidence,
                "runner_up": None if p.runner_up is None else _runner_up(p.runner_up),
            }
            | ({} if call.min_confidence is None else {"needs_confirmation": unsure})
            | ({} if grounding is None else {"grounding": grounding.to_json()})
            for p, confidence, unsure, grounding in zip(
                call.voted.parameters,
                call.confidences,
                call.needs_confirmation,
                call.groundings or [None] * len(call.confidences),
                strict=True,
            )
        ],
        "left_out": [{"name": p.key, "value": p.value, "reason": NOT_SAID} for p in call.left_out],
        "not_offered": list(call.not_offered),
        "cut": list(call.voted.cut),
        "ungrounded": list(call.ungrounded),
    } | ({} if call.min_confidence is None else {"needs_confirmation": call.is_unsure})


def _runner_up(parameter: VotedParameter) -> dict[str, Any]:
    return {"value": parameter.value, "votes": parameter.votes, "confidence": ARGUMENT.probability(parameter.score)}


_CONTEXT_TOKENS = 32


@dataclass
class RequestRun:
    """A request under way.

    Attributes
    ----------
    prompt_ids : sequence of int
    usage : Usage
        The engine's counts of the prompt.
    tally : Tally
    """

    prompt_ids: Sequence[int]
    usage: Usage
    tally: Tally = field(default_factory=Tally)

    def result(self, decoded: DecodedPrompt, table: TokenTable, options: DecodeOptions, seconds: float) -> DecodeResult:
        """Return the result as users see it, with the wall-clock time that it took."""
        show = table.special.shown
        context = table.join(self.prompt_ids[-_CONTEXT_TOKENS:])
        return DecodeResult(
            show(decoded.text),
            tuple(call.shown(show) for call in decoded.calls),
            table.encode_after(context, decoded.text.encode()),
            Counters.of(self.usage, self.tally, seconds),
            options.call_format if decoded.dialect is None else decoded.dialect.bound(show),
            decoded.answer,
            decoded.cut,
            decoded.repeated,
            decoded.asked,
            tuple(decoded.next_call_log_odds),
            decoded.left_out,
            decoded.too_many,
        )
