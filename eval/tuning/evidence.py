"""What any order limit gives, derived from the candidates of one decode, and how much of it is right.

The orders of a limit are the first orders of a larger one, so its vote is a vote over the first candidates. In formats
with several calls, what follows a call depends on its voted text. If another limit votes another text, the candidates
that would follow were never decoded: that prompt is decoded again at that limit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.benchmarks.samples import Benchmark, Sample
from eval.methods.prediction import Prediction, ScoredText, with_calls
from eval.runs.predictions import PredictionRow, Predictions
from eval.runs.score import score
from eval.tuning.confidence import LabelledCall
from eval.tuning.decoded_prompt import DecodedPrompt, at_limit, revote
from tooldecoding.formats.call_format import Call
from tooldecoding.request import Request

DecodeAgain = Callable[[Mapping[str, Request], int], Mapping[str, DecodedPrompt]]
"""Decodes prompts at an order limit; prompts and results by the id of their sample."""


@dataclass
class Evidence:
    """Predictions and verdicts at any order limit; decodes again what cannot be derived.

    ``samples`` and ``decoded``, the decodes so far, are by id; ``again`` counts prompts that had to be decoded again.
    """

    samples: Mapping[str, Sample]
    decoded: Mapping[str, list[DecodedPrompt]]
    decode_again: DecodeAgain
    benchmark: Benchmark
    scored: ScoredText
    again: dict[int, int] = field(default_factory=dict)
    _scores: dict[int, dict[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def requests(self) -> dict[str, Request]:
        """The prompts that can be decoded."""
        return {identifier: found[0].request for identifier, found in self.decoded.items() if found[0].request}

    @property
    def failures(self) -> list[str]:
        """Why the others cannot."""
        return [found[0].error for found in self.decoded.values() if found[0].error]

    def outcomes(self, limit: int) -> dict[str, Prediction]:
        """Return id -> the prediction as it is scored, or why there is none, in the sequence of the samples."""
        found = {identifier: self._derived(identifier, limit) for identifier in self.samples}
        requests = self.requests
        missing = {identifier: requests[identifier] for identifier, outcome in found.items() if outcome is None}
        self.again.setdefault(limit, len(missing))
        for identifier, decoded in (self.decode_again(missing, limit) if missing else {}).items():
            self.decoded[identifier].append(decoded)
            found[identifier] = self._derived(identifier, limit)
        return {identifier: outcome for identifier, outcome in found.items() if outcome is not None}

    def _derived(self, identifier: str, limit: int) -> Prediction | None:
        attempts = (derive(decoded, limit, self.scored) for decoded in self.decoded[identifier])
        return next((outcome for outcome in attempts if outcome), None)

    def right(self, limit: int) -> dict[str, bool]:
        """Return id -> whether it is right."""
        return {identifier: bool(row["correct"]) for identifier, row in self.scores(limit).items()}

    def labelled(self, limit: int) -> list[LabelledCall]:
        """Return the samples that are answered with calls, with how sure these are."""
        right, outcomes = self.right(limit), self.outcomes(limit)
        return [
            LabelledCall(outcome.score, right[identifier], self.samples[identifier].dialogue)
            for identifier, outcome in outcomes.items()
            if outcome.score is not None
        ]

    def value_errors(self, limit: int) -> int:
        """Count the wrong predictions of the class ``value``."""
        return sum(row["error_class"] == "value" for row in self.scores(limit).values())

    def scores(self, limit: int) -> dict[str, Mapping[str, Any]]:
        """Return id -> row of scores."""
        if limit not in self._scores:
            outcomes = self.outcomes(limit)
            rows = [PredictionRow(self.samples[i], o.text, {"error": o.error}) for i, o in outcomes.items()]
            scores = score(Predictions(tuple(rows), ()), self.benchmark)
            self._scores[limit] = dict(zip(outcomes, scores, strict=True))
        return self._scores[limit]


def derive(decoded: DecodedPrompt, order_limit: int, scored: ScoredText) -> Prediction | None:
    """Return what another order limit would have given; None if the candidates do not tell."""
    if decoded.request is None:
        return Prediction("", error=decoded.error)
    if decoded.request.options.order_limit < order_limit:
        return None
    request, call_format = at_limit(decoded.request, order_limit), decoded.call_format
    calls: list[Call] = []
    score = 1.0
    for number, (call, committed) in enumerate(zip(decoded.calls, decoded.committed, strict=True)):
        voted = revote(call.candidates[:order_limit], request, call.name_confidence)
        calls.append(Call(voted.name, voted.arguments))
        score *= voted.score
        text = call_format.render_call(voted.name, voted.arguments, number)
        # the model saw the text of a call before it decided whether another one follows
        if text != committed and call_format.parallel and number + 1 < request.options.max_calls:
            return None
    text = with_calls(decoded.text, call_format.joined(decoded.committed), call_format, calls)
    return Prediction(scored.of_calls(text, calls), score=score if calls else None)
