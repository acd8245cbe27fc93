"""The decoding methods that the bench measures: Tool Decoding, other libraries' masks, and ``model.generate``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any, cast

import torch
from transformers import PreTrainedModel

from eval.bench.machine import PassClock
from eval.bench.subject import Subject, Workload
from eval.bench.teacher import Lesson, TaughtEngine, TaughtProcessor
from eval.errors import FAILURES, EvalError, failure
from eval.methods.call_grammar import call_grammar
from eval.methods.peers import load_peer, run_peer
from eval.methods.plain_decoding import plain_search
from eval.methods.prediction import Prediction
from lookup.dictionary import LookupDictionary
from tooldecoding.cli.extras import how_to_install
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.recurrent_engine import cache_bytes
from tooldecoding.formats.pythonic import API_BANK
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult


@dataclass(frozen=True)
class Measurement:
    """The cost of one run, in seconds: after the prompt's forward pass and in all, both without the teacher's time.

    ``outside`` is the part of ``decode`` outside of forward passes and output layer, and ``constraint`` the same for
    methods with a constraint. ``passes`` are those of the prompt that takes part in the most, ``positions`` all that
    were computed for prompts and calls, without padding. ``written`` are tokens of the calls; those that several orders
    share count once. ``cache_bytes`` is the KV cache of all prompts.
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


Decode = Callable[[Sequence[Request]], Sequence[DecodeResult | Prediction]]


class EngineMethod:
    """A method that decodes through the engines of this program: Tool Decoding, or another library's masks.

    Attributes
    ----------
    name : str
    preparation : mapping
        Seconds by what was prepared once, before all runs.
    note : str
        What a reader should know about it.
    """

    def __init__(
        self,
        name: str,
        subject: Subject,
        workload: Workload,
        options: DecodeOptions,
        decode: Decode,
        preparation: Mapping[str, float] | None = None,
        note: str = "",
    ) -> None:
        self.name, self.note, self.preparation = name, note, preparation or {}
        self._subject = subject
        self._decode = decode
        self._examples = workload.examples
        self._lessons = [Lesson(example, subject.decoder.table) for example in workload.examples]
        tools = LookupDictionary((workload.tool,))
        self._requests = [Request(list(t.prompt_ids), tools, options) for t in workload.examples]

    def run(self) -> Measurement:
        """Decode all prompts together, once; EvalError if the written call is not the wanted one."""
        decoder, engines = self._subject.decoder, self._subject.engines
        clock = PassClock(decoder.model.device)
        decoder.new_engine = lambda: cast("Engine", TaughtEngine(engines(), self._lessons, decoder.table, clock))
        with _watched(LanguageModel, clock):
            made = self._decode(self._requests)
        clock.stop()
        counted = []
        for example, one in zip(self._examples, made, strict=True):
            require_same(self.name, example.text(), one.text)
            for candidate in one.calls[0].candidates if isinstance(one, DecodeResult) else ():
                require_same(self.name, example.text(candidate.order), f"[{candidate.text}]")
            counted.append(one.counters.to_json() if isinstance(one, DecodeResult) else one.counters)
        return Measurement(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            constraint=clock.outside,
            teacher=clock.teacher_seconds,
            passes=max(c["forward_passes"] for c in counted),
            positions=sum(c["positions"] for c in counted),
            written=sum(c[f"{kind}_tokens"] for c in counted for kind in ("forced", "constrained", "free")),
            cache_bytes=sum(c["cache_bytes"] for c in counted),
        )


def tool_decoding(subject: Subject, workload: Workload, options: DecodeOptions) -> EngineMethod:
    """Return Tool Decoding with one order limit."""
    name = f"{options.order_limit} {'order' if options.order_limit == 1 else 'orders'}"
    return EngineMethod(name, subject, workload, options, subject.decoder.run)


def library(name: str, subject: Subject, workload: Workload, options: DecodeOptions) -> EngineMethod | str:
    """Prepare another library for the workload's tool, or return why it cannot be measured.

    It has the grammar of the methods of ``eval``, with keys in documentation order: none of them knows orders.
    """
    decoder = subject.decoder
    try:
        about = f"version {version(name)}"
        start = perf_counter()
        peer = load_peer(name, decoder.table)
        prepared = perf_counter()
        peer(call_grammar(API_BANK.start(0), [workload.tool], API_BANK, 1, decoder.table.special))
        seconds = {"tokenizer": prepared - start, "tools": perf_counter() - prepared}
        method = EngineMethod(
            name, subject, workload, options, lambda asked: run_peer(decoder, peer, asked), seconds, about
        )
        method.run()
    except PackageNotFoundError:
        return f"not installed; {how_to_install('bench')}"
    except (*FAILURES, EvalError) as error:
        return failure(error)
    return method


class GenerateMethod:
    """``model.generate`` without sampling: greedy or beam search.

    It stops after the last token of the longest call. A real run needs one more pass to see that the call has ended, so
    this favours ``generate``.
    """

    def __init__(self, name: str, decoder: ToolDecoder, workload: Workload, beams: int = 1) -> None:
        self.name, self.note = name, ""
        self.preparation: Mapping[str, float] = {}
        model: PreTrainedModel = decoder.model
        self._model = model
        prompts = [example.prompt_ids for example in workload.examples]
        self._calls = [example.call_ids for example in workload.examples]
        used = {token for call in self._calls for token in call}
        end = decoder.tokenizer.eos_token_id
        if end is None:
            end = next(token for token in range(len(decoder.tokenizer)) if token not in used)
        self._width = max(map(len, prompts))
        steps = max(map(len, self._calls))
        self._positions = beams * sum(len(p) + len(c) - 1 for p, c in zip(prompts, self._calls, strict=True))
        self._ids = torch.tensor([[0] * (self._width - len(p)) + list(p) for p in prompts], device=model.device)
        self._mask = torch.tensor([[0] * (self._width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
        wanted = torch.tensor([[*call, *[end] * (steps - len(call))] for call in self._calls], device=model.device)
        self._wanted = wanted.repeat_interleave(beams, dim=0)
        self._config = plain_search(steps, beams, [end])

    def run(self) -> Measurement:
        """Decode all prompts together, once; EvalError if the written call is not the wanted one."""
        clock = PassClock(self._model.device)
        taught = TaughtProcessor(self._wanted, self._width, clock)
        caches = list[Any]()

        def note(output: Any) -> None:
            clock.end_prompt()  # the first pass is the prompt's
            caches[:] = [output.past_key_values]

        with _watched(self._model, clock, note):
            output = self._model.generate(
                input_ids=self._ids,
                attention_mask=self._mask,
                generation_config=self._config,
                logits_processor=[taught],
            )
        clock.stop()
        for call, row in zip(self._calls, output[:, self._width :].tolist(), strict=True):
            require_same(self.name, list(call), row[: len(call)])
        return Measurement(
            decode=clock.decode,
            total=clock.total,
            outside=clock.outside,
            constraint=0.0,
            teacher=clock.teacher_seconds,
            passes=clock.passes,
            positions=self._positions,
            written=sum(map(len, self._calls)),
            cache_bytes=cache_bytes(caches[0]),
        )


Method = EngineMethod | GenerateMethod


@contextmanager
def _watched(model: Any, clock: PassClock, note: Callable[[Any], object] = lambda _: None) -> Iterator[None]:
    """Report every forward pass of ``model`` inside the block to ``clock``, and what it returns to ``note``.

    ``model``: or the class of models; then those of all its instances.
    """
    real = model.forward

    @wraps(real)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with clock.forward_pass():
            output = real(*args, **kwargs)
        note(output)
        return output

    model.forward = forward
    try:
        yield
    finally:
        model.forward = real


def require_same(method: str, wanted: Any, written: Any) -> None:
    """Raise EvalError if a method has not written the wanted call."""
    if wanted != written:
        raise EvalError(f"{method} has not written the wanted call: expected {wanted!r}, got {written!r}")
