"""The decoding methods that the bench measures: Tool Decoding, and ``model.generate`` with and without a constraint."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from time import perf_counter
from typing import Any

import torch
from transformers import LogitsProcessor, PreTrainedModel, PreTrainedTokenizerBase

from eval.bench.clock import PassClock
from eval.bench.lesson import Lesson
from eval.bench.teacher import TaughtEngine, TaughtProcessor, WatchedEngines
from eval.bench.workload import Task, Workload
from eval.errors import EvalError
from eval.methods.plain_decoding import plain_search
from lookup.dictionary import LookupDictionary
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.batched_cache import cache_bytes
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult


@dataclass(frozen=True)
class Run:
    """The cost of one run.

    Attributes
    ----------
    decode, total : float
        Seconds after the prompt's forward pass, and of the whole run; both without the teacher's time.
    outside : float
        Seconds of ``decode`` outside of forward passes and output layer.
    constraint : float
        Seconds of the constraint: for Tool Decoding all of ``outside``, for the others the time in their logits
        processor.
    teacher : float
        Seconds of the teacher.
    passes : int
        Forward passes of the prompt that takes part in the most.
    positions : int
        Token positions computed for prompts and calls, without padding.
    written : int
        Tokens of the calls. Tool Decoding counts those of all orders, shared ones once.
    cache_bytes : int
        KV cache of all prompts.
    """

    decode: float
    total: float
    outside: float
    constraint: float
    teacher: float
    passes: int
    positions: int
    written: int
    cache_bytes: int


class ToolDecodingMethod:
    """Tool Decoding with one order limit.

    Attributes
    ----------
    name : str
    preparation : mapping
        Seconds by what was prepared once, before all runs.
    note : str
        What a reader should know about it.
    """

    note = ""

    def __init__(
        self, decoder: ToolDecoder, engines: WatchedEngines, workload: Workload, options: DecodeOptions
    ) -> None:
        self.name = f"{options.order_limit} {'order' if options.order_limit == 1 else 'orders'}"
        self.preparation: Mapping[str, float] = {}
        self._decoder = decoder
        self._engines = engines
        self._workload = workload
        self._lessons = [Lesson(task, decoder.table) for task in workload.tasks]
        tools = LookupDictionary((workload.tool,))
        self._requests = [Request(list(t.prompt_ids), tools, options) for t in workload.tasks]

    def run(self) -> Run:
        """Decode all prompts together, once; EvalError if the written call is not the wanted one."""
        decoder = self._decoder
        clock = PassClock(decoder.model.device)
        self._engines.clock = clock
        decoder.new_engine = lambda: TaughtEngine(self._engines(), self._lessons, decoder.table, clock)
        results = decoder.run(self._requests)
        clock.stop()
        for task, result in zip(self._workload.tasks, results, strict=True):
            self._check(task, result)
        counters = [r.counters for r in results]
        return Run(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            constraint=clock.outside,
            teacher=clock.teacher_seconds,
            passes=max(c.forward_passes for c in counters),
            positions=sum(c.positions for c in counters),
            written=sum(c.forced_tokens + c.constrained_tokens + c.free_tokens for c in counters),
            cache_bytes=sum(c.cache_bytes for c in counters),
        )

    def _check(self, task: Task, result: DecodeResult) -> None:
        require_same(self.name, task.text(), result.text)
        for candidate in result.calls[0].candidates:
            require_same(self.name, task.text(candidate.order), f"[{candidate.text}]")


@dataclass(frozen=True)
class Constraint:
    """Another library, prepared for the tools.

    Attributes
    ----------
    new_processor : callable
        Makes the processor of one run.
    preparation : mapping
        Seconds by what was prepared once.
    calls : sequence of sequences of int
        The tokens with which it lets each call be written.
    note : str
    """

    new_processor: Callable[[], LogitsProcessor]
    preparation: Mapping[str, float]
    calls: Sequence[Sequence[int]]
    note: str


class GenerateMethod:
    """``model.generate`` without sampling: greedy, beam search, or greedy under another library's constraint.

    It stops after the last token of the longest call. A real run needs one more pass to see that the call has ended, so
    this favours ``generate``.
    """

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        workload: Workload,
        beams: int = 1,
        constraint: Constraint | None = None,
    ) -> None:
        self.name = name
        self.preparation = constraint.preparation if constraint else {}
        self.note = constraint.note if constraint else ""
        self._new_processor = constraint.new_processor if constraint else None
        self._model = model
        prompts = [task.prompt_ids for task in workload.tasks]
        self._calls = constraint.calls if constraint else [task.call_ids for task in workload.tasks]
        used = {token for call in self._calls for token in call}
        end = tokenizer.eos_token_id
        if end is None:
            end = next(token for token in range(len(tokenizer)) if token not in used)
        self._width = max(map(len, prompts))
        steps = max(map(len, self._calls))
        self._positions = beams * sum(len(p) + len(c) - 1 for p, c in zip(prompts, self._calls, strict=True))
        self._ids = torch.tensor([[0] * (self._width - len(p)) + list(p) for p in prompts], device=model.device)
        self._mask = torch.tensor([[0] * (self._width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
        wanted = torch.tensor([[*call, *[end] * (steps - len(call))] for call in self._calls], device=model.device)
        self._wanted = wanted.repeat_interleave(beams, dim=0)
        self._config = plain_search(steps, beams, [end])

    def run(self) -> Run:
        """Decode all prompts together, once; EvalError if the written call is not the wanted one."""
        clock = PassClock(self._model.device)
        timed = _Timed(self._new_processor()) if self._new_processor else None
        taught = TaughtProcessor(self._wanted, self._width, clock)
        with _watched(self._model, clock) as seen:
            output = self._model.generate(
                input_ids=self._ids,
                attention_mask=self._mask,
                generation_config=self._config,
                logits_processor=[taught] if timed is None else [timed, taught],
            )
        clock.stop()
        for call, row in zip(self._calls, output[:, self._width :].tolist(), strict=True):
            require_same(self.name, list(call), row[: len(call)])
        return Run(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            constraint=0.0 if timed is None else timed.seconds,
            teacher=clock.teacher_seconds,
            passes=clock.passes,
            positions=self._positions,
            written=sum(map(len, self._calls)),
            cache_bytes=cache_bytes(seen[0]),
        )


Method = ToolDecodingMethod | GenerateMethod


class _Timed(LogitsProcessor):
    """Times another processor."""

    def __init__(self, processor: LogitsProcessor) -> None:
        self._processor = processor
        self.seconds = 0.0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the other processor's output."""
        start = perf_counter()
        processed: torch.Tensor = self._processor(input_ids, scores)
        self.seconds += perf_counter() - start
        return processed


@contextmanager
def _watched(model: PreTrainedModel, clock: PassClock) -> Iterator[list[Any]]:
    """Report every forward pass of ``model`` inside the block to ``clock``; gives the KV cache of the last one.

    The first pass is the prompt's.
    """
    seen: list[Any] = []
    real = model.forward

    @wraps(real)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with clock.forward_pass():
            output = real(*args, **kwargs)
        clock.end_prompt()
        seen[:] = [output.past_key_values]
        return output

    model.forward = forward
    try:
        yield seen
    finally:
        del model.forward


def require_same(method: str, wanted: Any, written: Any) -> None:
    """Raise EvalError if a method has not written the wanted call."""
    if wanted != written:
        raise EvalError(f"{method} has not written the wanted call: expected {wanted!r}, got {written!r}")
