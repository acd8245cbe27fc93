"""How free text is chosen: greedily, or sampled by the processors of transformers. Calls are always greedy."""

from collections.abc import Sequence
from typing import Final

import torch
from transformers import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.options import DecodeOptions

_COLDEST: Final = 1e-6
"""At lower temperatures only the likeliest token is left, and logits divided by them may be infinite."""


class Sampler:
    """Chooses the tokens of one prompt's free text.

    Parameters
    ----------
    options : DecodeOptions
        Its temperature, top_p, top_k, repetition_penalty and seed are used. Temperature 0 takes the likeliest token.
    prompt_ids : sequence of int
        They count for the repetition penalty, as in ``generate``.
    """

    def __init__(self, options: DecodeOptions, prompt_ids: Sequence[int]) -> None:
        self._prompt = list(prompt_ids)
        self._generator = torch.Generator().manual_seed(options.seed)
        self._samples = options.temperature > _COLDEST
        self._processors = LogitsProcessorList()  # in the order of transformers' generate
        if options.repetition_penalty != 1:
            self._processors.append(RepetitionPenaltyLogitsProcessor(options.repetition_penalty))
        if self._samples:
            if options.temperature != 1:
                self._processors.append(TemperatureLogitsWarper(options.temperature))
            if options.top_k:
                self._processors.append(TopKLogitsWarper(options.top_k))
            if options.top_p < 1:
                self._processors.append(TopPLogitsWarper(options.top_p))

    def token(self, logits: NextTokenLogits, written: Sequence[int]) -> int:
        """Return the next token behind the prompt and the tokens ``written``."""
        if not self._samples and not self._processors:
            return logits.best
        ids = torch.tensor([[*self._prompt, *written]])
        scores = self._processors(ids, logits.logits.cpu()[None].clone())[0]
        if not self._samples:
            return int(scores.argmax())
        return int(torch.multinomial(torch.softmax(scores, -1), 1, generator=self._generator))
