"""The baselines without any constraint: greedy decoding and beam search, by ``transformers`` itself."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteria,
)

from eval.methods.prediction import Prediction
from tooldecoding.decoding.request_decoder import end_ids
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.models.sources import input_device
from tooldecoding.request import Request
from tooldecoding.tokens.guarded_text import GuardedText, encoded
from tooldecoding.tokens.token_texts import special_texts

_MARK = "["
"""What most calls begin with: tells whether the tokenizer would merge it with the end of a prompt."""


class _Asked(NamedTuple):
    """A request, its prompt's tokens, and how many its answer may have."""

    request: Request
    prompt: list[int]
    limit: int


def plain_search(limit: int, beams: int, ends: Sequence[int]) -> GenerationConfig:
    """Return the configuration of greedy or beam search, without the checkpoint's own settings.

    Parameters
    ----------
    limit : int
        The most tokens.
    ends : sequence of int
        The tokens that end a text.
    """
    return GenerationConfig(
        max_new_tokens=limit,
        num_beams=beams,
        do_sample=False,
        repetition_penalty=1.0,
        no_repeat_ngram_size=0,
        length_penalty=1.0,
        early_stopping=beams > 1,
        eos_token_id=list(ends) or None,
        pad_token_id=ends[0] if ends else 0,
    )


class PlainDecoder:
    """``model.generate`` without sampling, several prompts together.

    Parameters
    ----------
    beams : int
        1 is greedy decoding.
    call_format : CallFormat, optional
        The format of a chat model's calls: its special tokens stay in the text, and its ends of turn end it.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        beams: int = 1,
        call_format: CallFormat | None = None,
    ) -> None:
        self._model = model
        self._device = input_device(model)
        self._tokenizer = tokenizer
        self._beams = beams
        self._context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        ends = end_ids(model)
        if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
            ends.append(tokenizer.eos_token_id)
        self._hides_special = call_format is None
        if call_format is not None:
            named = special_texts(tokenizer, (), call_format.turn_ends, ends).texts
            ends += [token for token in named if token not in ends]
        self._ends: list[int] = ends

    def run(self, requests: Sequence[Request]) -> list[Prediction]:
        """Decode prompts together. A prediction ends at the end-of-sequence token, before the request's ``stop``, or
        after ``max_text_tokens``.

        PromptError if a prompt leaves no room in the model's context.
        """
        asked = [_Asked(r, ids := self.prompt_ids(r), self.limit(r, ids)) for r in requests]
        most = max(a.limit for a in asked)
        # a prompt that leaves less room would cut the others' answers: it is decoded by itself
        groups = [[a for a in asked if a.limit == most], *([a] for a in asked if a.limit < most)]
        done = {id(a): prediction for group in groups for a, prediction in zip(group, self._run(group), strict=True)}
        return [done[id(a)] for a in asked]

    def _run(self, asked: Sequence[_Asked]) -> list[Prediction]:
        """Decode prompts of one limit together."""
        prompts, stops = [a.prompt for a in asked], [a.request.stop for a in asked]
        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device=self._device)
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device=self._device)
        ends = _TurnEnds(self._tokenizer, longest, stops)
        config = plain_search(asked[0].limit, self._beams, self._ends)
        likeliest = _Likeliest()
        start = time.perf_counter()
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=config,
                stopping_criteria=[ends],
                logits_processor=LogitsProcessorList([likeliest] if self._beams == 1 else []),
            )
        seconds = (time.perf_counter() - start) / len(asked)
        rows = output[:, longest:].tolist()
        made = [self._prediction(row, len(a.prompt), a.request, seconds) for row, a in zip(rows, asked, strict=True)]
        return [replace(each, score=likeliest.mean(n, each.counters["forward_passes"])) for n, each in enumerate(made)]

    def limit(self, request: Request, prompt: Sequence[int]) -> int:
        """Tokens that the answer to one prompt may have."""
        most = request.options.max_text_tokens
        return most if self._context is None else min(most, self._context - len(prompt))

    def prompt_ids(self, request: Request) -> list[int]:
        """Return the tokens of a prompt, without a space at its end that a call would be merged with.

        PromptError if the prompt leaves no room in the model's context.
        """
        text = str(request.text)
        ids = self._encode(text, request)
        if isinstance(request.text, GuardedText):
            ids = encoded(request.text, self._tokenizer)
        # a space that the tokenizer would merge with the call's first character is left for the model to write
        elif self._encode(text + _MARK, request)[: len(ids)] != ids:
            ids = self._encode(text.rstrip(" "), request)
        if self._context is not None and len(ids) >= self._context:
            raise PromptError(
                f"the prompt has {len(ids)} tokens, and the model's context is {self._context} tokens; "
                "give fewer tools or a shorter dialogue"
            )
        return ids

    def _encode(self, text: str, request: Request) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=request.special_tokens))

    def _prediction(self, row: list[int], prompt: int, request: Request, seconds: float) -> Prediction:
        """The text of one row. Passes and positions are those that its own tokens took, padding not counted."""
        count = next((n for n, token in enumerate(row) if token in self._ends), len(row))
        text = self._tokenizer.decode(row[:count], skip_special_tokens=self._hides_special)
        passes = min(count + 1, len(row))
        if request.stop:
            text, passes = self._until(text, request.stop, row[:count], passes)
        counters = {"forward_passes": passes, "positions": self._beams * (prompt + passes - 1), "seconds": seconds}
        return Prediction(text.strip(), seconds=seconds, counters=counters)

    def _until(self, text: str, stop: str, row: list[int], passes: int) -> tuple[str, int]:
        """The text before ``stop``, and the passes until a row held it."""
        end = turn_end(text, stop)
        if end < 0:
            return text, passes
        count = next(n for n in range(1, len(row) + 1) if turn_end(self._tokenizer.decode(row[:n]), stop) >= 0)
        return text[:end], count


def turn_end(text: str, stop: str) -> int:
    """Where ``stop`` ends a turn: behind something that is not white space; -1 if it does not."""
    return text.find(stop, len(text) - len(text.lstrip()))


class _Likeliest(LogitsProcessor):
    """Keeps the log-probability of each step's likeliest token, which greedy decoding takes."""

    def __init__(self) -> None:
        self._steps: list[list[float]] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, float, shape (rows, vocabulary), as they are."""
        self._steps.append(scores.float().log_softmax(-1).amax(-1).tolist())
        return scores

    def mean(self, row: int, count: int) -> float | None:
        """Return the geometric mean of the probabilities of a row's first tokens; None if nothing was kept."""
        kept = [step[row] for step in self._steps[:count]]
        return math.exp(sum(kept) / len(kept)) if kept else None


class _TurnEnds(StoppingCriteria):
    """Stops each row where its turn ends."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, prompt: int, stops: Sequence[str | None]) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._stops = stops

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Whether each row is done; bool, shape (rows,)."""
        rows = input_ids[:, self._prompt :].tolist()
        each = len(rows) // len(self._stops)  # beam search asks about several continuations of a prompt
        done = [self._done(row, self._stops[number // each]) for number, row in enumerate(rows)]
        return torch.tensor(done, device=input_ids.device)

    def _done(self, row: list[int], stop: str | None) -> bool:
        return bool(stop) and turn_end(self._tokenizer.decode(row, skip_special_tokens=True), str(stop)) >= 0
