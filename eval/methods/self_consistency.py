"""Self-consistency (Wang et al. 2022): several samples of a call in one fixed order, merged by the same vote.

The rival of several orders, under the same constraint: text and tool are as with one order. What differs is where the
candidates come from: here all are in documentation order, and their values are sampled.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from zlib import crc32

from eval.methods.candidate_rows import candidate_rows
from eval.methods.prediction import Prediction
from eval.methods.sampling import Sample, SampledTokens, SamplingClock
from eval.methods.scored_text import ScoredText
from tooldecoding.calls.prepared_tools import Preparations
from tooldecoding.calls.prompt_decoder import DecodedPrompt, PromptDecoder
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.steps import Steps, drive, gather
from tooldecoding.formats.call_format import Call
from tooldecoding.request_run import RequestRun
from tooldecoding.result import DecodeResult
from tooldecoding.tokens.branch import Branch
from voting import CandidateCall, merge

_IN_ORDER: Final = {"order_limit": 1, "orders": "documented"}


class SelfConsistency:
    """Decodes prompts together, each in several samples that share its prompt and their forward passes.

    The tool of the first call, and whether there is one, is the likeliest; values and optional keys are sampled. A
    sample goes on behind its own call. The most frequent sequence of tools wins, and its samples vote call by call.

    Parameters
    ----------
    samples : int
        Samples of a prompt. Those of a smaller number are the first of a larger one.
    temperature : float
        0 takes the likeliest token, so that all samples are the call with one order.
    seed : int
    """

    def __init__(self, decoder: ToolDecoder, scored: ScoredText, samples: int, temperature: float, seed: int) -> None:
        self._decoder = decoder
        self._scored = scored
        self._samples = samples
        self._temperature = temperature
        self._seed = seed
        self._preparations = Preparations(decoder.table)

    def run(self, requests: Sequence[Request]) -> list[Prediction]:
        """Decode prompts together; ToolDecodingError as ``ToolDecoder.run``."""
        requests = [replace(r, options=replace(r.options, **_IN_ORDER)) for r in requests]
        prompts = [self._decoder.prompt_ids(r) for r in requests]
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

    def _prompt(self, request: Request, run: RequestRun, engine: Engine) -> Steps[list[DecodedPrompt]]:
        """Decode the samples of one prompt side by side."""
        decoder = self._decoder
        root = Branch.behind(run.prompt_ids, engine, run.root, decoder.table, run.tally, decoder.context)
        branches = yield from root.forks(self._samples)
        decoded = yield from gather([self._sample(request, run, branch, n) for n, branch in enumerate(branches)])
        return decoded

    def _sample(self, request: Request, run: RequestRun, branch: Branch, number: int) -> Steps[DecodedPrompt]:
        prompt = str(request.prompt)
        sample = Sample((crc32(f"{self._seed}/{prompt}".encode()), number), self._temperature)
        branch.fed = SampledTokens(branch.fed, sample)
        tools = self._preparations.of(request.tools, request.options)
        table, clock = self._decoder.table, SamplingClock(sample)
        return PromptDecoder(tools, request.options, table, run.prompt_ids, prompt, request.stop, clock).decode(branch)

    def _vote(self, request: Request, results: Sequence[DecodeResult], prompts: int) -> Prediction:
        """Merge the samples of the most frequent sequence of tools; of equally frequent ones the first."""
        names = [tuple(call.name for call in result.calls) for result in results]
        [(most, _)] = Counter(names).most_common(1)
        group = [result for result, sequence in zip(results, names, strict=True) if sequence == most]
        tools, options = request.tools.decided(request.options.unknown_keys), request.options
        candidates: list[list[CandidateCall]] = [
            [result.calls[number].candidates[0] for result in group] for number in range(len(most))
        ]
        merged = [merge(c, tools[c[0].name], options.optional_share) for c in candidates]
        calls = [Call(c.name, c.arguments) for c in merged]
        text = _with_calls(group[0], calls)
        counters = results[0].counters
        return Prediction(
            self._scored.of_calls(text, calls),
            candidate_rows(candidates),
            counters.to_json(),
            counters.seconds / prompts,
            written=text,
        )


def _with_calls(result: DecodeResult, calls: Sequence[Call]) -> str:
    """Return the text of a result with other calls of the same tools."""
    if not calls:
        return result.text
    call_format = result.call_format
    own = call_format.ending(result.text, call_format.render([Call(c.name, c.arguments) for c in result.calls]))
    return result.text.removesuffix(own) + call_format.ending(result.text, call_format.render(calls))
