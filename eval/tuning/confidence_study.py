"""Do vote share and log-probability tell right values from wrong ones, and better than a single pass does?

A value of a voted call is right if the benchmark accepts the reference call with this value in its place. Only samples
with one reference call that is itself accepted count, and only if the voted call is one of the same tool.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from eval.benchmarks.function_calls import ScoredFormat
from eval.benchmarks.samples import Judgement, Sample
from eval.metrics.accuracy import Estimate
from eval.tuning.confidence_metrics import auroc, calibration_error
from eval.tuning.derive import Outcome
from eval.tuning.logistic_regression import cross_validated, fit
from eval.tuning.tuning_prompts import TuningPrompt
from tooldecoding.formats.call_format import Call
from voting import Calibration

RESAMPLES: Final = 1000
FEWEST: Final = 10
"""Smallest number of right values, of wrong values and of dialogues for a fit."""

SINGLE: Final = "single pass"
SINGLE_CALIBRATED: Final = "single pass, calibrated"
SHARE: Final = "vote share"
LOGPROB: Final = "vote log-probability"
COMBINED: Final = "vote, both calibrated"

Judge = Callable[[Sample, str], Judgement]


class Slot(NamedTuple):
    """One parameter of one voted call."""

    dialogue: str
    share: float
    logprob: float
    right: bool


Slots = Mapping[tuple[str, str], Slot]
"""Prompt id and key -> slot."""


def label_values(
    prompts: Sequence[TuningPrompt], outcomes: Mapping[str, Outcome], judge: Judge, scored: ScoredFormat | None = None
) -> dict[tuple[str, str], Slot]:
    """Label every parameter that can be judged; ``scored`` is the format that the judge reads, if it is another one."""
    slots = {}
    for prompt in prompts:
        sample, calls = prompt.sample, outcomes[prompt.id].calls
        if sample is None or prompt.request is None or len(sample.calls) != 1 or len(calls) != 1:
            continue
        [reference], [voted] = sample.calls, calls
        call_format = scored or prompt.request.options.call_format
        if voted.name != reference.name or not _right(sample, reference, call_format, judge):
            continue
        for parameter in voted.parameters:
            changed = Call(reference.name, {**reference.arguments, parameter.key: parameter.value})
            right = _right(sample, changed, call_format, judge)
            slots[prompt.id, parameter.key] = Slot(prompt.dialogue, parameter.share, parameter.logprob, right)
    return slots


def _right(sample: Sample, call: Call, call_format: ScoredFormat, judge: Judge) -> bool:
    return judge(sample, call_format.render([call])).correct


@dataclass(frozen=True)
class Scored:
    """A confidence score of all slots.

    Attributes
    ----------
    name : str
    scores : array of float, shape (n,)
        Probabilities that the values are right.
    right : array of bool, shape (n,)
        Whether the values are right that the score is for: those of a single pass, or the voted ones.
    auroc, gain : Estimate
        With 95 % bootstrap intervals over dialogues; ``gain`` is the difference to the single pass's AUROC.
    calibration_error : Estimate
    """

    name: str
    scores: np.ndarray
    right: np.ndarray
    auroc: Estimate
    gain: Estimate
    calibration_error: Estimate


@dataclass(frozen=True)
class Study:
    """Scores compared on the same parameters of the same prompts.

    Attributes
    ----------
    slots, changed : int
        Parameters that both the single pass and the vote have, and how many of them have another verdict by the vote.
    scored : tuple of Scored
    """

    slots: int
    changed: int
    scored: tuple[Scored, ...]

    def __getitem__(self, name: str) -> Scored:
        """Return the score of that name."""
        return next(s for s in self.scored if s.name == name)


def study(single: Slots, voted: Slots, seed: int) -> Study | None:
    """Compare confidence scores; None if there are too few right values, wrong values or dialogues."""
    common = [key for key in voted if key in single]
    first, second = [single[k] for k in common], [voted[k] for k in common]
    if not can_fit(first) or not can_fit(second):
        return None
    groups = [s.dialogue for s in first]
    right, voted_right = _labels(first), _labels(second)
    logprob, voted_logprob = _column(first, "logprob"), _column(second, "logprob")
    share = _column(second, "share")
    both = np.column_stack([share, voted_logprob])
    scores = {
        SINGLE: (np.exp(logprob), right),
        SINGLE_CALIBRATED: (cross_validated(logprob[:, None], right, groups, seed), right),
        SHARE: (share, voted_right),
        LOGPROB: (np.exp(voted_logprob), voted_right),
        COMBINED: (cross_validated(both, voted_right, groups, seed), voted_right),
    }
    return Study(len(common), int((right != voted_right).sum()), tuple(_compare(scores, groups, seed)))


def can_fit(slots: Sequence[Slot]) -> bool:
    """Whether there are enough right and wrong values, and dialogues, for a regression."""
    right = sum(s.right for s in slots)
    return min(right, len(slots) - right, len({s.dialogue for s in slots})) >= FEWEST


def calibrate(slots: Slots) -> Calibration | None:
    """Fit the logistic regression on share and log-probability to all slots; None if there are too few."""
    values = list(slots.values())
    if not can_fit(values):
        return None
    weights = fit(np.column_stack([_column(values, "share"), _column(values, "logprob")]), _labels(values))
    return Calibration(*(round(float(w), 4) + 0.0 for w in weights))  # no -0.0


def _column(slots: Sequence[Slot], name: str) -> np.ndarray:
    return np.array([getattr(s, name) for s in slots])


def _labels(slots: Sequence[Slot]) -> np.ndarray:
    return np.array([s.right for s in slots])


def _compare(scores: Mapping[str, tuple[np.ndarray, np.ndarray]], groups: Sequence[str], seed: int) -> list[Scored]:
    drawn = _resamples(groups, seed)
    areas: dict[str, np.ndarray] = {}
    compared = []
    for name, (values, right) in scores.items():
        areas[name] = np.array([_area(values[i], right[i]) for i in drawn])
        errors = np.array([calibration_error(values[i], right[i]) for i in drawn])
        area, base = _area(values, right), _area(*scores[SINGLE])
        compared.append(
            Scored(
                name,
                values,
                right,
                _estimate(area, areas[name]),
                _estimate(area - base, areas[name] - areas[SINGLE]),
                _estimate(calibration_error(values, right), errors),
            )
        )
    return compared


def _area(scores: np.ndarray, right: np.ndarray) -> float:
    area = auroc(scores, right)
    return float("nan") if area is None else area


def _resamples(groups: Sequence[str], seed: int) -> list[np.ndarray]:
    """Draw dialogues with replacement; return the indices of their slots."""
    members: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    every = [np.array(indices) for indices in members.values()]
    generator = np.random.default_rng(seed)
    return [
        np.concatenate([every[n] for n in generator.integers(len(every), size=len(every))]) for _ in range(RESAMPLES)
    ]


def _estimate(value: float, resampled: np.ndarray) -> Estimate:
    """Return a value with the percentiles of its resamples. NaN resamples lack right or wrong values: ignored."""
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return Estimate(value, float(low), float(high))
