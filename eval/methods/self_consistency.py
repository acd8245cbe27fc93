"""Self-consistency (Wang et al. 2022): several samples of an answer, merged by the same vote as several orders.

They are drawn under the same constraint as Tool Decoding, in documentation order. Text and tool are the likeliest,
values and optional keys are sampled. So only the origin of the candidates differs from several orders.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

from eval.methods.prediction import Prediction, candidate_rows
from eval.methods.sampling import Sample, SampledTokens
from eval.methods.scored_text import ScoredText
from tooldecoding.calls.grounded_call import grounded_vote
from tooldecoding.calls.prepared_tools import Preparations
from tooldecoding.calls.prompt_decoder import DecodedPrompt, PromptDecoder
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import BranchId, Engine
from tooldecoding.formats.call_format import Call
from tooldecoding.grounding.grounding import index_of
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult, RequestRun
from tooldecoding.scheduler import Scheduler, together
from tooldecoding.tokens.branch import Branch


class SelfConsistency:
    """Decodes prompts together, each in several samples that share its prompt and their forward passes.

    A sample goes on behind its own call. The most frequent sequence of tools wins, and its samples vote call by call.

    Parameters
    ----------
    samples : int
        Samples of a prompt. Those of a smaller number are the first of a larger one.
    temperature : float
        0 takes the likeliest token: all samples are the call with one order.
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
        requests = [replace(r, options=replace(r.options, order_limit=1, orders="documented")) for r in requests]
        prompts = [self._decoder.prompt_ids(r) for r in requests]
        start = time.perf_counter()
        scheduler = Scheduler(engine := self._decoder.new_engine())
        roots = engine.open(len(prompts))
        runs = [RequestRun(ids, engine.usage(root)) for ids, root in zip(prompts, roots, strict=True)]
        parts = [
            scheduler.spawn(root, self._prompt(request, run, engine, root))
            for request, run, root in zip(requests, runs, roots, strict=True)
        ]
        decoded = scheduler.finish(parts)
        seconds = time.perf_counter() - start
        predictions = []
        for request, run, samples in zip(requests, runs, decoded, strict=True):
            results = [run.result(d, self._decoder.table, request.options, seconds) for d in samples]
            predictions.append(self._vote(request, results, len(requests)))
        return predictions

    async def _prompt(self, request: Request, run: RequestRun, engine: Engine, root: BranchId) -> list[DecodedPrompt]:
        """Decode the samples of one prompt side by side."""
        decoder = self._decoder
        branch = Branch.behind(run.prompt_ids, engine, root, decoder.table, run.tally, decoder.context)
        branches = await branch.forks(self._samples)
        return await together([self._sample(request, run, branch, n) for n, branch in enumerate(branches)])

    async def _sample(self, request: Request, run: RequestRun, branch: Branch, number: int) -> DecodedPrompt:
        prompt, options, table = str(request.prompt), request.options, self._decoder.table
        sample = Sample(crc32(f"{self._seed}/{number}/{prompt}".encode()), self._temperature)
        branch.fed = SampledTokens(branch.fed, sample)
        tools, ids = self._preparations.of(request.tools, options), run.prompt_ids
        decoder = PromptDecoder(tools, options, table, ids, prompt, request.stop, in_values=sample.switched_on)
        return await decoder.decode(branch)

    def _vote(self, request: Request, results: Sequence[DecodeResult], prompts: int) -> Prediction:
        """Merge the samples of the most frequent sequence of tools; of equally frequent ones the first."""
        tools = request.tools.decided(request.options.unknown_keys)
        names = Counter(tuple(call.name for call in result.calls) for result in results)
        [(most, _)] = names.most_common(1)
        group = [result for result in results if tuple(call.name for call in result.calls) == most]
        candidates = [[result.calls[number].candidates[0] for result in group] for number in range(len(most))]
        index = index_of(request.conversation)
        merged = [grounded_vote(c, tools[c[0].name], request.options, index).voted for c in candidates]
        calls = [Call(c.name, c.arguments) for c in merged]
        text, counters = _with_calls(group[0], calls), results[0].counters
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
    form = result.call_format
    own = form.render([Call(c.name, c.arguments) for c in result.calls])
    before = result.text.removesuffix(form.ending(result.text, own))
    return before + form.ending(result.text, form.render(calls))
