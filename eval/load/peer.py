"""The same prompts through transformers' own continuous batching, without a constraint."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from time import perf_counter, process_time
from typing import Any, Final

from transformers import GenerationConfig, PreTrainedModel
from transformers.generation.configuration_utils import ContinuousBatchingConfig

from eval.bench.failures import FAILURES, failure
from eval.load.client import Answer
from eval.load.requests import LoadRequest
from tooldecoding.decoder import ToolDecoder
from tooldecoding.models.loading import load_quietly
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.prepared import Preparation

_PAGE: Final = 32
"""Tokens of a page of the cache; smaller than the default, so that prompts share more of their beginnings."""
_PASS: Final = 512
"""Most tokens of a forward pass."""
_LOGGER: Final = "ContinuousBatchingLogger"


@dataclass(frozen=True)
class PeerRun:
    """What came of it.

    Attributes
    ----------
    requests : int
    seconds, processor : float
        By the clock and of processor time, without loading and warming up.
    failed : str
        Why there are no figures; empty if there are.
    """

    requests: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    failed: str = ""


def run_peer(
    path: str,
    requests: Sequence[LoadRequest],
    answers: Mapping[int, Answer],
    max_batch: int,
    advance: Callable[[int], None],
) -> PeerRun:
    """Let transformers write as many tokens behind each prompt as our answer has, greedily.

    Parameters
    ----------
    path : str
        The model.
    answers : mapping
        Our answers, by number; requests without one are left out.
    max_batch : int
        Most requests that run together.
    """
    model, tokenizer = load_quietly(path)
    preparation = Preparation(ToolDecoder(model, tokenizer))
    jobs = [
        (preparation.prepare(read_chat_body(request.body)).prompt_ids, max(1, answers[request.number].tokens))
        for request in requests
        if answers[request.number].ending == "answered"
    ]
    logging.getLogger(_LOGGER).setLevel(logging.CRITICAL)  # it wants to ask for free memory, which we give it
    try:
        return _run(model, jobs, max_batch, advance)
    except FAILURES as error:
        return PeerRun(failed=failure(error))


def _run(
    model: PreTrainedModel, jobs: Sequence[tuple[list[int], int]], max_batch: int, advance: Callable[[int], None]
) -> PeerRun:
    longest = max(len(prompt) + tokens for prompt, tokens in jobs)
    config = ContinuousBatchingConfig(
        page_size=_PAGE,
        num_blocks=max_batch * (ceil(longest / _PAGE) + 1),
        max_batch_tokens=_PASS,
        max_requests_per_batch=max_batch,
    )
    greedy = GenerationConfig(do_sample=False, eos_token_id=-1, pad_token_id=0)
    whole: Any = model
    with whole.continuous_batching_context_manager(
        generation_config=greedy, continuous_batching_config=config, timeout=5
    ) as manager:
        _collect(manager, [(prompt[::-1], tokens) for prompt, tokens in jobs[:max_batch]], lambda _: None)
        began, processor = perf_counter(), process_time()
        _collect(manager, jobs, advance)
        return PeerRun(len(jobs), perf_counter() - began, process_time() - processor)


def _collect(manager: Any, jobs: Sequence[tuple[list[int], int]], advance: Callable[[int], None]) -> None:
    """Run jobs to their end; RuntimeError if one fails."""
    for prompt, tokens in jobs:
        manager.add_request(prompt, max_new_tokens=tokens)
    missing = len(jobs)
    while missing:
        found = manager.get_result(timeout=1)
        if found is None and not manager.is_running():
            raise RuntimeError("transformers' thread has ended")
        if found is not None and found.error is not None:
            raise RuntimeError(found.error)
        if found is not None and found.is_finished():
            missing -= 1
            advance(1)
