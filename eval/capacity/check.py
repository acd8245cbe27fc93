"""Holds what counters predict of calls against the seconds that they take, on this machine and the runs' own model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, linear_regression
from typing import Final, NamedTuple

from eval.capacity.stopwatch import HostTimes, PassTimes, Stopwatch, measure_host, measure_passes
from eval.capacity.trace import recorded, written
from eval.capacity.workload import Workload, run_options
from eval.errors import EvalError
from eval.report.finished_run import Run
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.models.loading import load_quietly

_FEWEST: Final = 4


class ConstraintTimes(NamedTuple):
    """Microseconds outside of the engine: for each call, and for each written token."""

    call_us: float
    token_us: float


@dataclass(frozen=True)
class Checked:
    """Seconds a call of one run, as they are measured now, and as the recorded counters predict them."""

    name: str
    calls: int
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of what was measured."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Check:
    """What was measured.

    Attributes
    ----------
    host : HostTimes
    passes : PassTimes
        Of the runs' model.
    constraint : ConstraintTimes
    runs : tuple of Checked
    """

    host: HostTimes
    passes: PassTimes
    constraint: ConstraintTimes
    runs: tuple[Checked, ...]


class _Timed(NamedTuple):
    """One call: its seconds, those of them outside of the engine, and what was recorded of it."""

    seconds: float
    outside: float
    passes: float
    positions: float
    written: float


def check(runs: Sequence[Run], workload: Workload, most: int) -> Check:
    """Decode some samples again, each with the settings of every run in turn, and time them.

    Every second sample says how long the constraint takes; the others are predicted.

    Parameters
    ----------
    most : int
        Number of samples, at most.

    Raises
    ------
    EvalError
        If a run is of another method, or fewer than four samples were decoded in all runs.
    ModelError
        If the runs' model cannot be loaded.
    """
    for run in runs:
        if run.method != "tool-decoding":
            raise EvalError(
                f"{run.folder}: --check needs runs of the method tool-decoding, this is one of {run.method}"
            )
    samples = [sample for sample in workload.samples if all(sample.id in run.costs for run in runs)][:most]
    if len(samples) < _FEWEST:
        raise EvalError(
            f"--check: expected {_FEWEST} or more samples that were decoded in all runs, found {len(samples)}"
        )
    options = [run_options(run) for run in runs]
    model, tokenizer = load_quietly(options[0].model, options[0].device, options[0].dtype, False)
    passes, watch = measure_passes(model), Stopwatch(model.device)
    factory = EngineFactory(model, options[0].strategy)
    # a decoder each: what is prepared for the tools in one run must not come cheap to the others
    decoders = [ToolDecoder(model, tokenizer, engine_factory=lambda: watch.watch(factory())) for _ in runs]
    timed: list[list[_Timed]] = [[] for _ in runs]
    for sample in samples:
        request = workload.prompter.request(sample)
        for run, own, decoder, found in zip(runs, options, decoders, timed, strict=True):
            start, before = watch.now(), watch.seconds
            decoder.run([replace(request, options=own)])
            seconds = watch.now() - start
            cost = run.costs[sample.id]
            counts = (*recorded(run, sample.id, cost), written(cost))
            found.append(_Timed(seconds, seconds - (watch.seconds - before), *counts))
    constraint = _constraint([call for found in timed for call in found[::2]])
    checked = tuple(_checked(run, found[1::2], passes, constraint) for run, found in zip(runs, timed, strict=True))
    return Check(measure_host(), passes, constraint, checked)


def _constraint(calls: Sequence[_Timed]) -> ConstraintTimes:
    """Fit seconds outside of the engine to written tokens."""
    tokens, seconds = [call.written for call in calls], [call.outside for call in calls]
    if len(set(tokens)) < 2:
        return ConstraintTimes(1e6 * fmean(seconds), 0.0)
    line = linear_regression(tokens, seconds)
    return ConstraintTimes(1e6 * line.intercept, 1e6 * line.slope)


def _checked(run: Run, calls: Sequence[_Timed], passes: PassTimes, constraint: ConstraintTimes) -> Checked:
    predicted = [
        call.passes * passes.fixed
        + call.positions * passes.position
        + 1e-6 * (constraint.call_us + call.written * constraint.token_us)
        for call in calls
    ]
    return Checked(run.name, len(calls), fmean(call.seconds for call in calls), fmean(predicted))
