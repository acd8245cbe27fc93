"""The decodes of ``tune`` as a task of workers: for predictions, and against the clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.errors import EvalError
from eval.methods.drafts import Draft, predict_all
from eval.methods.prediction import Prediction
from eval.tuning.decoded_prompt import to_prediction
from eval.tuning.machine import machine_name
from tooldecoding.batches.requests import decode_requests
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.models.places import input_device
from tooldecoding.options.model_options import ModelOptions


@dataclass(frozen=True)
class Timing:
    """A prompt whose decodes are measured.

    Attributes
    ----------
    id : str
    requests : mapping
        Label -> the request, in the sequence of the measurements.
    """

    id: str
    requests: Mapping[str, Request]


@dataclass(frozen=True)
class Measured:
    """What was measured of one prompt.

    Attributes
    ----------
    machine : str
    by_label : mapping
        ``seconds``, ``processor_seconds``, ``forward_passes`` and ``positions``.
    """

    machine: str
    by_label: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class TuningTask:
    """Decodes prompts with the vote options of each."""

    options: ModelOptions

    def loaded(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> "LoadedTuning":
        """Return the task with its decoder, which keeps no prompts: measurements must not depend on former ones."""
        return LoadedTuning(ToolDecoder(model, tokenizer, self.options.strategy, prompt_cache_mb=0))

    def beginning(self, item: Draft | Timing) -> str:
        """Keep the sequence of the prompts."""
        return ""

    def given_up(self, item: Draft | Timing, reason: str) -> Prediction:
        """Return a prediction that counts as wrong; EvalError for a measurement, which has no substitute."""
        if isinstance(item, Timing):
            raise EvalError(f"the latency of {item.id} cannot be measured: {reason}")
        return Prediction("", error=reason)


@dataclass(frozen=True)
class LoadedTuning:
    """A decoder without a prefix cache."""

    decoder: ToolDecoder

    @property
    def about(self) -> Mapping[str, Any]:
        """Device, machine and strategy."""
        model = self.decoder.model
        return {"device": str(input_device(model)), "machine": machine_name(model), "strategy": self.decoder.strategy}

    def run(self, items: Sequence[Draft | Timing]) -> list[Prediction] | list[Measured]:
        """Decode drafts together, or measure prompts one after the other."""
        drafts = [item for item in items if isinstance(item, Draft)]
        if drafts:
            return predict_all(self._predict, drafts)
        return [self._measure(item) for item in items if isinstance(item, Timing)]

    def _predict(self, requests: Sequence[Request]) -> list[Prediction]:
        return [to_prediction(result, len(requests)) for result in self.decoder.run(requests)]

    def _measure(self, timing: Timing) -> Measured:
        measured = {}
        for label, request in timing.requests.items():
            start, processor = perf_counter(), process_time()
            [result] = decode_requests([request], self.decoder)
            seconds, processor = perf_counter() - start, process_time() - processor
            measured[label] = {
                "seconds": seconds,
                "processor_seconds": processor,
                "forward_passes": result.counters.forward_passes,
                "positions": result.counters.positions,
            }
        return Measured(self.about["machine"], measured)
