"""Self-consistency (Wang et al. 2022): several samples of an answer, merged by the same vote as several orders.

They are drawn under the same constraint as Tool Decoding, in documentation order. Text and tool are the likeliest,
values and optional keys are sampled. So only the origin of the candidates differs from several orders.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
import torch

from eval.methods.prediction import Prediction, ScoredText, candidate_rows, with_calls
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decode_loop import DecodeLoop, together
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.decoding.grounded_call import grounded_vote
from tooldecoding.decoding.prompt_decoder import DecodedPrompt, PromptDecoder
from tooldecoding.engines.engine import BranchId, Engine
from tooldecoding.engines.logits import LogitRows, NextTokenLogits, Tokens
from tooldecoding.formats.call_format import Call
from tooldecoding.grounding.grounding import index_of
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult, RequestRun
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.fed_tokens import FedTokens
from voting.type_check import vote_identity

Noise = np.ndarray[Any, np.dtype[np.float32]]


class SelfConsistency:
    """Decodes prompts together, each in several samples that share its prompt and their forward passes.

    A sample goes on behind its own call. The most frequent sequence of tools wins, and its samples vote call by call.

    Parameters
    ----------
    samples : int
        Samples of a prompt. Those of a smaller number are the first of a larger one.
    temperature : float
        0 takes the likeliest token: all samples are the call with one order.
    """

    def __init__(self, decoder: ToolDecoder, scored: ScoredText, samples: int, temperature: float, seed: int) -> None:
        self._decoder = decoder
        self._scored = scored
        self._samples = samples
        self._temperature = temperature
        self._seed = seed

    def run(self, requests: Sequence[Request]) -> list[Prediction]:
        """Decode prompts together; ToolDecodingError as ``ToolDecoder.run``."""
        requests = [replace(r, options=replace(r.options, order_limit=1, orders="documented")) for r in requests]
        prompts = [self._decoder.prompt_ids(r) for r in requests]
        start = time.perf_counter()
        loop = DecodeLoop(engine := self._decoder.new_engine())
        roots = engine.open(len(prompts))
        runs = [RequestRun(ids, engine.usage(root)) for ids, root in zip(prompts, roots, strict=True)]
        parts = [
            loop.spawn(root, self._prompt(request, run, engine, root))
            for request, run, root in zip(requests, runs, roots, strict=True)
        ]
        decoded = loop.finish(parts)
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
        noise = GumbelNoise(crc32(f"{self._seed}/{number}/{request.prompt}".encode()), self._temperature)
        branch.fed = SampledTokens(branch.fed, noise)
        request = replace(request, dialects=False, conversation=(), answer_prompt=None)
        tools = self._decoder.compiled_tools(request)
        decoder = _SampleDecoder(tools, request, self._decoder.table, run.prompt_ids)
        decoder.noise = noise
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
        own, form, counters = group[0], group[0].call_format, results[0].counters
        text = with_calls(own.text, form.render([Call(c.name, c.arguments) for c in own.calls]), form, calls)
        return Prediction(
            self._scored.of_calls(text, calls),
            candidate_rows(candidates),
            counters.to_json(),
            counters.seconds / prompts,
            written=text,
            score=_agreement(results) if calls else None,
        )


def _agreement(results: Sequence[DecodeResult]) -> float:
    """Return the share of the samples that wrote the most frequent calls, compared in whole."""
    written = Counter(vote_identity([[call.name, call.arguments] for call in result.calls]) for result in results)
    return max(written.values()) / len(results)


@dataclass
class GumbelNoise:
    """The random numbers of one sample; a token's do not depend on batches, drafts or passes.

    Attributes
    ----------
    seed : int
        Names the sample among all; 0 or more.
    temperature : float
        0 takes the likeliest token.
    on : bool
        Whether tokens are sampled now; otherwise the likeliest is taken.
    """

    seed: int
    temperature: float
    on: bool = False

    def at(self, place: int, size: int) -> Noise:
        """Return what is added to the logits of the token at ``place``; float32, shape (size,)."""
        drawn = np.random.default_rng((self.seed, place)).gumbel(scale=self.temperature, size=size)
        return drawn.astype(np.float32)


class _SampleDecoder(PromptDecoder):
    """Decodes one sample: the values of its calls are drawn, and the choice of optional keys."""

    noise: GumbelNoise

    async def decode_call(self, *given: Any) -> DecodedCall:
        """See PromptDecoder."""
        self.noise.on = True
        try:
            return await super().decode_call(*given)
        finally:
            self.noise.on = False


class SampledLogits(NextTokenLogits):
    """Logits with noise: the likeliest admissible token of them is a sample. Log-probabilities are the model's own.

    To every logit a number from the standard Gumbel distribution, times the temperature, is added. The highest
    perturbed logit among the admissible tokens is then a draw from the softmax over these tokens at this temperature
    (the Gumbel-max trick; Maddison, Tarlow and Minka 2014). So the decoder itself samples, without a change to it.
    """

    def __init__(self, clean: NextTokenLogits, noise: GumbelNoise, place: int) -> None:
        self._clean = clean
        self._noise = noise
        self._place = place
        self._row = 0

    @cached_property
    def _rows(self) -> LogitRows:
        """The perturbed logits of all tokens, in one row."""
        clean = self._clean.values
        return LogitRows(torch.from_numpy(clean + self._noise.at(self._place, len(clean)))[None])

    def logprob(self, token: int) -> float:
        """Return the natural log-probability of a token in the whole vocabulary, without temperature and noise."""
        return self._clean.logprob(token)

    def share(self, tokens: Tokens) -> float:
        """Return the probability of all these tokens together, without temperature and noise."""
        return self._clean.share(tokens)

    def likeliest_among(self, tokens: Tokens, most: int) -> list[tuple[int, float]]:
        """Return what is likely to be drawn from some tokens, at most so many, with weights that sum to 1 or less."""
        if not len(tokens):
            return []
        drawn = self.values[tokens].astype(np.float64)
        weights = np.exp(drawn - drawn.max())
        places = np.argsort(-weights, kind="stable")[:most]
        return list(zip(tokens[places].tolist(), (weights[places] / weights.sum()).tolist(), strict=True))

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """Return the token that is drawn from some (ids ascending), and its log-probability among them."""
        place = int(self.values[tokens].argmax())
        clean = self._clean.values[tokens].astype(np.float64)
        return int(tokens[place]), float(clean[place] - np.logaddexp.reduce(clean))


class SampledTokens(FedTokens):
    """The tokens of a branch whose next token is sampled while its sample is switched on.

    ``fed``: the branch as it stands.
    """

    def __init__(self, fed: FedTokens, noise: GumbelNoise, place: int = 0) -> None:
        super().__init__(fed.engine, fed.branch_id, fed.unfed, fed.logits, fed.tried)
        self._noise = noise
        self._place = place

    def fork(self) -> "SampledTokens":
        """Return a new branch that has read the same tokens."""
        return SampledTokens(super().fork(), self._noise, self._place)

    def settle(self, token: int) -> None:
        """Append a token."""
        super().settle(token)
        self._place += 1

    async def compute(
        self, try_next: Sequence[int] = (), candidates: Sequence[Tokens] | None = None, exact: bool = False
    ) -> NextTokenLogits:
        """Return the logits behind the settled tokens, perturbed if sampling is on."""
        logits = await super().compute(try_next, candidates, exact)
        if not self._noise.on or not self._noise.temperature:
            return logits
        return SampledLogits(logits, self._noise, self._place)
