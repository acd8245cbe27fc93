"""Tool Decoding as a method of the bench."""

from collections.abc import Mapping

import torch

from eval.bench.clock import PassClock
from eval.bench.formula import formula_passes
from eval.bench.lesson import Lesson
from eval.bench.method import Run, require_same
from eval.bench.teacher import TaughtEngine, WatchedEngines
from eval.bench.workload import Task, Workload
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult


class ToolDecodingMethod:
    """Tool Decoding with one order limit."""

    more_tokens = 0

    def __init__(
        self, decoder: ToolDecoder, engines: WatchedEngines, workload: Workload, options: DecodeOptions
    ) -> None:
        self.name = f"{options.order_limit} {'order' if options.order_limit == 1 else 'orders'}"
        passes = (formula_passes(workload, task, options, decoder.table) for task in workload.tasks)
        self.formula = max(passes) if options.stopping == "none" else None
        self.preparation: Mapping[str, float] = {}
        self._decoder = decoder
        self._engines = engines
        self._workload = workload
        self._options = options
        self._lessons = [Lesson(workload, task, decoder.table) for task in workload.tasks]
        self._requests = [Request(list(t.prompt_ids), workload.tools, options) for t in workload.tasks]

    @property
    def device(self) -> torch.device:
        """See Method."""
        return torch.device(self._decoder.model.device)

    def run(self, every_pass: bool) -> Run:
        """See Method.

        Raises
        ------
        EvalError
            If the written call is not the wanted one.
        """
        decoder = self._decoder
        clock = PassClock(decoder.model.device, every_pass)
        self._engines.clock = clock
        decoder.new_engine = lambda: TaughtEngine(self._engines(), self._lessons, decoder.table, clock)
        results = decoder.run(self._requests)
        clock.stop()
        for task, result in zip(self._workload.tasks, results, strict=True):
            self._check(task, result)
        counters = [r.counters for r in results]
        positions = sum(c.positions for c in counters)
        return Run(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            longest=clock.longest,
            constraint=clock.outside,
            teacher=clock.teacher_seconds,
            passes=max(c.forward_passes for c in counters),
            model_calls=clock.passes,
            positions=positions,
            padding=clock.computed - positions,
            written=sum(c.forced_tokens + c.constrained_tokens + c.free_tokens for c in counters),
            cache_bytes=sum(c.cache_bytes for c in counters),
        )

    def _check(self, task: Task, result: DecodeResult) -> None:
        require_same(self.name, task.call, result.text)
        call_format, name = self._workload.call_format, self._workload.tools.tools[0].name
        pairs = self._workload.parts(task).pairs
        for candidate in result.calls[0].candidates:
            written = call_format.call_text(name, [pairs[key].text for key in candidate.order])
            require_same(self.name, written, candidate.text)
