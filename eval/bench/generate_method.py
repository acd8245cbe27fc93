"""``model.generate`` as a method of the bench: greedy, beam search, or greedy under another library's constraint."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from transformers import GenerationConfig, LogitsProcessor, PreTrainedModel, PreTrainedTokenizerBase

from eval.bench.clock import CacheWatch, PassClock, watch
from eval.bench.method import Run, require_same
from eval.bench.teacher import TaughtProcessor
from eval.bench.workload import Workload


@dataclass(frozen=True)
class Constraint:
    """Another library, prepared for the tools.

    Attributes
    ----------
    processor : callable
        Makes the processor of one run.
    preparation : mapping
        Seconds by what was prepared once.
    calls : sequence of sequences of int
        The tokens with which it lets each call be written.
    """

    processor: Callable[[], LogitsProcessor]
    preparation: Mapping[str, float]
    calls: Sequence[Sequence[int]]


class GenerateMethod:
    """``model.generate`` without sampling: greedy, beam search, or greedy under another library's constraint.

    It stops after the last token of the longest call. A real run needs one more pass to see that the call has ended, so
    this favours ``generate``.
    """

    formula: int | None = None

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
        self._model = model
        self._tasks = workload.tasks
        self._calls = constraint.calls if constraint else [t.call_ids for t in self._tasks]
        self.more_tokens = sum(map(len, self._calls)) - sum(len(t.call_ids) for t in self._tasks)
        self._beams = beams
        self._constraint = constraint
        end = tokenizer.eos_token_id
        used = {token for call in self._calls for token in call}
        self._end = next(t for t in range(len(tokenizer)) if t not in used) if end is None else int(end)
        self._width = max(len(t.prompt_ids) for t in self._tasks)
        self._steps = max(map(len, self._calls))
        prompts = [[0] * (self._width - len(t.prompt_ids)) + list(t.prompt_ids) for t in self._tasks]
        mask = [[0] * (self._width - len(t.prompt_ids)) + [1] * len(t.prompt_ids) for t in self._tasks]
        calls = [[*call, *[self._end] * (self._steps - len(call))] for call in self._calls]
        self._ids = torch.tensor(prompts, device=model.device)
        self._mask = torch.tensor(mask, device=model.device)
        self._wanted = torch.tensor(calls, device=model.device).repeat_interleave(beams, dim=0)
        self._config = GenerationConfig(
            max_new_tokens=self._steps,
            num_beams=beams,
            do_sample=False,
            repetition_penalty=1.0,  # not the checkpoint's settings: plain search is measured
            no_repeat_ngram_size=0,
            length_penalty=1.0,
            early_stopping=beams > 1,
            eos_token_id=self._end,
            pad_token_id=self._end,
        )

    @property
    def device(self) -> torch.device:
        """See Method."""
        return torch.device(self._model.device)

    def run(self, every_pass: bool) -> Run:
        """See Method.

        Raises
        ------
        EvalError
            If the written call is not the wanted one.
        """
        cache = CacheWatch()
        clock = PassClock(self._model.device, every_pass)
        processors: list[LogitsProcessor] = []
        timed = None
        if self._constraint is not None:
            timed = _Timed(self._constraint.processor())
            processors.append(timed)
        processors.append(TaughtProcessor(self._wanted, self._width, clock))
        with watch(self._model, clock, cache):
            output = self._model.generate(
                input_ids=self._ids,
                attention_mask=self._mask,
                generation_config=self._config,
                logits_processor=processors,
            )
        clock.stop()
        self._check(output[:, self._width :].tolist())
        sizes = [len(t.prompt_ids) + len(call) - 1 for t, call in zip(self._tasks, self._calls, strict=True)]
        positions = self._beams * sum(sizes)
        return Run(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            longest=clock.longest,
            constraint=0.0 if timed is None else timed.seconds,
            teacher=clock.teacher_seconds,
            passes=clock.passes,
            model_calls=clock.passes,
            positions=positions,
            padding=clock.computed - positions,
            written=sum(map(len, self._calls)),
            cache_bytes=cache.bytes,
        )

    def _check(self, rows: Sequence[Sequence[int]]) -> None:
        for call, row in zip(self._calls, rows, strict=True):
            require_same(self.name, list(call), list(row[: len(call)]))


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


def call_pattern(workload: Workload) -> str:
    """Return a regular expression for the call with any values, keys in the format's own order; for other libraries."""
    parts = workload.parts(workload.tasks[0])
    pairs = [
        f"{_exactly(p.before)}[^{p.closing.lstrip()[0]}\\\\\\n]+{_exactly(p.closing)}" for p in parts.pairs.values()
    ]
    return _exactly(parts.start) + _exactly(parts.separator).join(pairs) + _exactly(parts.end)


def _exactly(text: str) -> str:
    """Return a regular expression for a text, in the syntax that all libraries share."""
    return re.sub(r"([\\.^$*+?{}()|\[\]])", r"\\\1", text).replace("\n", r"\n")
