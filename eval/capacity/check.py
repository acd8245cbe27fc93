"""Holds what counters predict of calls against the seconds that they take, on this machine and the runs' own model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from eval.capacity.stopwatch import HostTimes, PassTimes, Stopwatch, measure_host, measure_passes
from eval.capacity.trace import recorded, written
from eval.capacity.workload import Workload, run_options
from eval.errors import EvalError
from eval.report.finished_run import Run
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.models.loading import load_quietly


class Counts(NamedTuple):
    """Forward passes, positions and written tokens of some calls, as they were recorded."""

    passes: float
    positions: float
    written: float


@dataclass(frozen=True)
class Checked:
    """Seconds a call of one run.

    Attributes
    ----------
    name : str
    calls : int
    measured, predicted : float
        Seconds that the calls take now, and that their recorded counters predict.
    token_us : float
        Microseconds outside of the engine for each written token.
    """

    name: str
    calls: int
    measured: float
    predicted: float
    token_us: float

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
    runs : tuple of Checked
    """

    host: HostTimes
    passes: PassTimes
    runs: tuple[Checked, ...]


def check(runs: Sequence[Run], workload: Workload, most: int, token_us: float) -> Check:
    """Decode some samples again, each with the settings of every run in turn, and time them.

    Parameters
    ----------
    most : int
        Number of samples, at most.
    token_us : float
        Microseconds of the constraint for each written token, of which the prediction is made.

    Raises
    ------
    EvalError
        If a run is of another method, or no sample was decoded in all runs.
    ModelError
        If the runs' model cannot be loaded.
    """
    for run in runs:
        if run.method != "tool-decoding":
            raise EvalError(
                f"{run.folder}: --check needs runs of the method tool-decoding, this is one of {run.method}"
            )
    samples = [sample for sample in workload.samples if all(sample.id in run.costs for run in runs)][:most]
    if not samples:
        raise EvalError("--check: no sample was decoded in all runs")
    options = [run_options(run) for run in runs]
    model, tokenizer = load_quietly(options[0].model, options[0].device, options[0].dtype, False)
    factory, watch = EngineFactory(model, options[0].strategy), Stopwatch(model.device)
    decoder = ToolDecoder(model, tokenizer, engine_factory=lambda: watch.watch(factory()))
    times = measure_passes(model)
    whole, inside = [0.0] * len(runs), [0.0] * len(runs)
    for sample in samples:
        request = workload.prompter.request(sample)
        for number, own in enumerate(options):
            start, before = watch.now(), watch.seconds
            decoder.run([replace(request, options=own)])
            whole[number] += watch.now() - start
            inside[number] += watch.seconds - before
    checked = []
    for run, seconds, in_passes in zip(runs, whole, inside, strict=True):
        counts = _counts(run, [sample.id for sample in samples])
        predicted = counts.passes * times.fixed + counts.positions * times.position + counts.written * token_us * 1e-6
        outside = 1e6 * (seconds - in_passes) / max(1.0, counts.written)
        checked.append(Checked(run.name, len(samples), seconds / len(samples), predicted / len(samples), outside))
    return Check(measure_host(), times, tuple(checked))


def _counts(run: Run, names: Sequence[str]) -> Counts:
    found = [(*recorded(run, name, run.costs[name]), written(run.costs[name])) for name in names]
    return Counts(*map(sum, zip(*found, strict=True)))
