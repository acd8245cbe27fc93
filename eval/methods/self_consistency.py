"""Self-consistency (Wang et al. 2022): several samples of an answer, merged by the same vote as several orders.

``values``: under the same constraint as Tool Decoding, in documentation order. Text and tool are the likeliest, values
and optional keys are sampled. So only the origin of the candidates differs from several orders.

``text``: the model's plain text without any constraint, from which the calls are read.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Literal, NamedTuple
from zlib import crc32

from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction, candidate_rows
from eval.methods.sampling import Sample, SampledTokens, SamplingClock
from eval.methods.scored_text import ScoredText, read_calls
from lookup.dictionary import LookupDictionary
from lookup.errors import LiteralError
from lookup.values.literal_values import read_value, render_value
from tooldecoding.calls.phase_clock import PhaseClock
from tooldecoding.calls.prepared_tools import Preparations
from tooldecoding.calls.prompt_decoder import DecodedPrompt, PromptDecoder
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.steps import Steps, drive, gather
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options import DecodeOptions
from tooldecoding.request_run import RequestRun
from tooldecoding.result import DecodeResult
from tooldecoding.tokens.branch import Branch
from voting import CandidateCall, CandidateValue, merge

Sampled = Literal["values", "text"]


class SelfConsistency:
    """Decodes prompts together, each in several samples that share its prompt and their forward passes.

    A sample goes on behind its own call. The most frequent sequence of tools wins, and its samples vote call by call.

    Parameters
    ----------
    sampled : {"values", "text"}
    samples : int
        Samples of a prompt. Those of a smaller number are the first of a larger one.
    temperature : float
        0 takes the likeliest token: all samples are the call with one order, or greedy's text.
    seed : int
    """

    def __init__(
        self, decoder: ToolDecoder, scored: ScoredText, sampled: Sampled, samples: int, temperature: float, seed: int
    ) -> None:
        self._decoder = decoder
        self._scored = scored
        self._sampled = sampled
        self._samples = samples
        self._temperature = temperature
        self._seed = seed
        self._preparations = Preparations(decoder.table)

    def run(self, requests: Sequence[Request]) -> list[Prediction]:
        """Decode prompts together; ToolDecodingError as ``ToolDecoder.run``."""
        requests = [replace(r, options=replace(r.options, order_limit=1, orders="documented")) for r in requests]
        prompts = [self._prompt_ids(r) for r in requests]
        start = time.perf_counter()
        engine = self._decoder.new_engine()
        roots = engine.open(len(prompts))
        runs = [RequestRun(ids, root, engine.usage(root)) for ids, root in zip(prompts, roots, strict=True)]
        parts = [self._prompt(request, run, engine) for request, run in zip(requests, runs, strict=True)]
        decoded = drive(gather(parts), engine)
        seconds = time.perf_counter() - start
        predictions = []
        for request, run, samples in zip(requests, runs, decoded, strict=True):
            results = [run.result(d, self._decoder.table, request.options, seconds) for d in samples]
            predictions.append(self._vote(request, results, len(requests)))
        return predictions

    def _prompt_ids(self, request: Request) -> list[int]:
        """Return the tokens of a prompt; those of greedy decoding where text is sampled."""
        whole = self._decoder.prompt_ids(request)
        if self._sampled == "values":
            return whole
        return PlainDecoder(self._decoder.model, self._decoder.tokenizer).prompt_ids(request)

    def _prompt(self, request: Request, run: RequestRun, engine: Engine) -> Steps[list[DecodedPrompt]]:
        """Decode the samples of one prompt side by side."""
        decoder = self._decoder
        root = Branch.behind(run.prompt_ids, engine, run.root, decoder.table, run.tally, decoder.context)
        branches = yield from root.forks(self._samples)
        decoded = yield from gather([self._sample(request, run, branch, n) for n, branch in enumerate(branches)])
        return decoded

    def _sample(self, request: Request, run: RequestRun, branch: Branch, number: int) -> Steps[DecodedPrompt]:
        prompt, options, clock = str(request.prompt), request.options, PhaseClock()
        seed = crc32(f"{self._seed}/{number}/{prompt}".encode())
        if self._sampled == "text":
            options = _of_text(options, self._temperature, seed)
        else:
            sample = Sample(seed, self._temperature)
            branch.fed, clock = SampledTokens(branch.fed, sample), SamplingClock(sample)
        tools = self._preparations.of(request.tools, options)
        table = self._decoder.table
        return PromptDecoder(tools, options, table, run.prompt_ids, prompt, request.stop, clock).decode(branch)

    def _vote(self, request: Request, results: Sequence[DecodeResult], prompts: int) -> Prediction:
        """Merge the samples of the most frequent sequence of tools; of equally frequent ones the first."""
        tools, options = request.tools.decided(request.options.unknown_keys), request.options
        answers = [self._answer(result, tools) for result in results]
        names = Counter(tuple(call.name for call in answer.calls) for answer in answers)
        [(most, _)] = names.most_common(1)
        group = [answer for answer in answers if tuple(call.name for call in answer.calls) == most]
        candidates = [[answer.calls[number] for answer in group] for number in range(len(most))]
        merged = [merge(c, tools[c[0].name], options.optional_share) for c in candidates]
        calls = [Call(c.name, c.arguments) for c in merged]
        text = group[0].with_calls(options.call_format, calls)
        counters = results[0].counters
        return Prediction(
            self._scored.of_calls(text, calls),
            candidate_rows(candidates),
            counters.to_json(),
            counters.seconds / prompts,
            written=text,
        )

    def _answer(self, result: DecodeResult, tools: LookupDictionary) -> "_Answer":
        """Return the calls of one sample."""
        if self._sampled == "text":
            text = result.text.strip()
            read = [
                read_candidate(call, tools, result.call_format)
                for call in read_calls(self._scored.written, text, tools)
            ]
            known = [call for call in read if call is not None]
            return _Answer(text, "", known if len(known) == len(read) else [])
        own = result.call_format.render([Call(c.name, c.arguments) for c in result.calls])
        before = result.text.removesuffix(result.call_format.ending(result.text, own))
        return _Answer(result.text, before, [call.candidates[0] for call in result.calls])


def _of_text(options: DecodeOptions, temperature: float, seed: int) -> DecodeOptions:
    """Return options that sample plain text; ``eval`` itself forbids the tool choice none."""
    values = {field.name: getattr(options, field.name) for field in fields(DecodeOptions)}
    return DecodeOptions(**{**values, "tool_choice": "none", "temperature": temperature, "seed": seed})


class _Answer(NamedTuple):
    """One sample: its text, what stands before its calls, and the calls."""

    text: str
    before: str
    calls: Sequence[CandidateCall]

    def with_calls(self, call_format: CallFormat, calls: Sequence[Call]) -> str:
        """Return the text with other calls of the same tools."""
        return self.before + call_format.ending(self.text, call_format.render(calls)) if calls else self.text


def read_candidate(call: Call, tools: LookupDictionary, call_format: CallFormat) -> CandidateCall | None:
    """Return a call that was read from a text as a candidate of a vote; None if its tool is not documented.

    Keys that are not documented are left out, as are values that cannot be read as a literal of their key. Nothing is
    known of log-probabilities.
    """
    if call.name not in tools:
        return None
    specs = {p.name: p for p in tools[call.name].parameters}
    values = []
    for key, value in call.arguments.items():
        text = render_value(value, call_format.notation)
        try:
            values.append(CandidateValue(key, read_value(text, specs[key], call_format.notation), text, 0.0))
        except (KeyError, LiteralError):
            continue
    order = tuple(v.key for v in values if specs[v.key].required)
    return CandidateCall(call.name, order, tuple(values))
