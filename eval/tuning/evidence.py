"""What any vote options give, derived from the candidates of one decode, and how much of it is right.

The orders of a limit are the first orders of a larger one, so its vote is a vote over the first candidates. In formats
with several calls, what follows a call depends on its voted text. If other options vote another text, the candidates
that would follow were never decoded: that prompt is decoded again with those options.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.methods.scored_text import ScoredText
from eval.runs.predictions import PredictionRow, Predictions
from eval.runs.score import Judge, Scorer
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions
from eval.tuning.decodes import TuningPrompt
from tooldecoding.formats.call_format import Call
from tooldecoding.options import DecodeOptions
from voting import merge

DecodeAgain = Callable[[Sequence[TuningPrompt], VoteOptions], Mapping[str, DecodedPrompt]]
"""Decodes prompts with some options; returns prompt id -> decoded prompt."""


@dataclass(frozen=True)
class Outcome:
    """What some vote options give for one prompt.

    Attributes
    ----------
    text : str
        The prediction, as it is scored; empty if decoding failed.
    written : str
        The prediction as it was decoded.
    error : str
    """

    text: str
    written: str
    error: str = ""


@dataclass
class Evidence:
    """Outcomes and verdicts of any vote options; decodes again what cannot be derived.

    Attributes
    ----------
    prompts : sequence of TuningPrompt
    decoded : dict
        Prompt id -> its decodes so far.
    decode_again : callable
    benchmark : Benchmark or None
        None for own data without answers.
    scored : ScoredText, optional
        What is scored of a prediction; by default its text.
    again : dict
        Vote options -> number of prompts that had to be decoded again.
    """

    prompts: Sequence[TuningPrompt]
    decoded: Mapping[str, list[DecodedPrompt]]
    decode_again: DecodeAgain
    benchmark: Benchmark | None = None
    scored: ScoredText | None = None
    again: dict[VoteOptions, int] = field(default_factory=dict)
    _outcomes: dict[VoteOptions, dict[str, Outcome]] = field(default_factory=dict)
    _judge: Judge | None = None

    def __post_init__(self) -> None:
        self._judge = None if self.benchmark is None else remembered(self.benchmark.judge)

    def outcomes(self, options: VoteOptions) -> dict[str, Outcome]:
        """Return prompt id -> outcome, in the order of the prompts."""
        if options not in self._outcomes:
            found = {prompt.id: self._derived(prompt, options) for prompt in self.prompts}
            missing = [prompt for prompt in self.prompts if found[prompt.id] is None]
            self.again[options] = len(missing)
            for identifier, decoded in (self.decode_again(missing, options) if missing else {}).items():
                self.decoded[identifier].append(decoded)
            self._outcomes[options] = {
                prompt.id: outcome
                for prompt in self.prompts
                if (outcome := found[prompt.id] or self._derived(prompt, options)) is not None
            }
        return self._outcomes[options]

    def _derived(self, prompt: TuningPrompt, options: VoteOptions) -> Outcome | None:
        if prompt.request is None:
            return Outcome("", "", error=prompt.error)
        own = prompt.request.options
        attempts = (derive(decoded, options, own, self.scored) for decoded in self.decoded[prompt.id])
        return next((outcome for outcome in attempts if outcome), None)

    def right(self, options: VoteOptions, reference: VoteOptions) -> dict[str, bool]:
        """Return prompt id -> whether it is right. Without answers: whether it gives the calls of ``reference``."""
        if self.benchmark is not None:
            return {identifier: bool(row["correct"]) for identifier, row in self._scores(options).items()}
        texts = self.outcomes(reference)
        return {i: outcome.text == texts[i].text for i, outcome in self.outcomes(options).items()}

    def value_errors(self, options: VoteOptions) -> int:
        """Count the wrong predictions of the class ``value``; 0 without answers."""
        return sum(row["error_class"] == "value" for row in self._scores(options).values())

    def _scores(self, options: VoteOptions) -> dict[str, Mapping[str, Any]]:
        if self.benchmark is None or self._judge is None:
            return {}
        outcomes = self.outcomes(options)
        rows = [
            PredictionRow(prompt.sample, outcomes[prompt.id].text, {"error": outcomes[prompt.id].error})
            for prompt in self.prompts
            if prompt.sample is not None
        ]
        scores = Scorer(self.benchmark, self._judge).score(Predictions(tuple(rows), ()), partial=True)
        return {row.sample.id: score for row, score in zip(rows, scores, strict=True)}


def remembered(judge: Judge) -> Judge:
    """Return the judge with a memory: a prediction that several settings share is judged once."""
    known: dict[tuple[str, str], Judgement] = {}

    def judged(sample: Sample, prediction: str) -> Judgement:
        key = sample.id, prediction
        if key not in known:
            known[key] = judge(sample, prediction)
        return known[key]

    return judged


def derive(
    decoded: DecodedPrompt, vote_options: VoteOptions, options: DecodeOptions, scored: ScoredText | None = None
) -> Outcome | None:
    """Return what ``vote_options`` would have given; None if the candidates do not tell.

    Parameters
    ----------
    options : DecodeOptions
        Those of the prompt; ``vote_options`` take precedence.
    """
    if decoded.options.order_limit < vote_options.order_limit:
        return None
    if decoded.error:
        return Outcome("", "", error=decoded.error)
    call_format = options.call_format
    calls: list[Call] = []
    for number, call in enumerate(decoded.calls):
        voted = merge(call.candidates[: vote_options.order_limit], call.tool, vote_options.optional_share)
        calls.append(Call(voted.name, voted.arguments))
        text = call_format.render_call(voted.name, voted.arguments, number)
        # the model saw the text of a call before it decided whether another one follows
        if text != call.committed and call_format.parallel and number + 1 < options.max_calls:
            return None
    written = decoded.with_calls(calls, call_format)
    return Outcome(written if scored is None else scored.of_calls(written, calls), written)
