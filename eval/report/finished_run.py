"""Reads finished runs from their folders, and names them so that each can be told from the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from eval.errors import EvalError
from eval.runs.run_folder import LENIENT, MANIFEST, PREDICTIONS, SCORES, VALUES
from eval.runs.score import Score
from eval.validation import Text, read_rows, validated
from eval.votes.value_slot import ValueSlot
from tooldecoding.cli.console import shown
from tooldecoding.files.manifest import read_manifest

Number = Annotated[float, Field(ge=0, le=10**15)]

_USUAL: Final = {"documentation": "full", "shots": 0, "tool_choice": "auto"}
"""Settings of prompts that stand in a run's name if they are others."""


class Manifest(BaseModel, frozen=True):
    """``run.json``: what was asked for, and where it ran. The name of the benchmark becomes part of files' names."""

    benchmark: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]
    method: str
    label: Text
    model: Text
    started: str
    settings: dict[str, Any]
    machine: dict[str, Any]
    versions: dict[str, Any]
    categories: Annotated[list[Text], Field(min_length=1)]
    samples: int
    drawn_from: int


class Cost(BaseModel, frozen=True):
    """The cost of one prediction: seconds (an even share of its batch's), counters, and the prompt's tokens; its score,
    which says how sure its calls are.
    """

    id: Text
    error: str | None = None
    seconds: Number
    counters: dict[str, Number | None]
    prompt_tokens: Number | None = None
    score: Annotated[float, Field(ge=0, le=1)] | None = None


@dataclass(frozen=True)
class Run:
    """A finished run.

    ``name`` is the label, what its prompts leave out or add, and if other runs share it the settings that differ.
    ``costs`` are those of the samples that were decoded; ``values`` are empty for methods without candidates.
    """

    folder: Path
    about: Manifest
    name: str
    scores: Sequence[Score]
    costs: Sequence[Cost]
    values: Sequence[ValueSlot]


def read_runs(folders: Sequence[str | Path]) -> list[Run]:
    """Read runs; those of one benchmark, model and label have different names. Greedy's is there in two readings.

    EvalError as ``read_run``; also if no folder is given, or two hold the same run.
    """
    if not folders:
        raise EvalError("expected the folders of one or more runs, found none")
    runs = [read_run(folder) for folder in folders]
    for index, run in enumerate(runs):
        for other in runs[:index]:
            if run.about == other.about:
                raise EvalError(f"{run.folder}: the same run as {other.folder}; give one of them")
    named = [_told_apart(run, runs) for run in runs]
    return [reading for run in named for reading in (run, *_read_leniently(run))]


def read_run(folder: str | Path) -> Run:
    """Read a run folder.

    EvalError if the folder holds no run, or the run is malformed or not finished. The message says how to continue.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    again = f"run the same `tooldecoding eval` command with --out {folder} again, it goes on where it stopped"
    if not path.exists():
        raise EvalError(f"{folder}: expected the folder of a run, found no {MANIFEST} in it; {again}")
    about = validated(Manifest, read_manifest(path, EvalError, again), str(path), "was it written by this program?")
    predictions = [validated(Cost, row, place, again) for place, row in read_rows(folder / PREDICTIONS, again)]
    scores = [validated(Score, row, place, again) for place, row in read_rows(folder / SCORES, again)]
    ids = sorted(row.id for row in predictions)
    if ids != sorted(row.id for row in scores) or not about.samples == len(ids) == len(set(ids)):
        raise EvalError(
            f"{folder}: expected one row of {PREDICTIONS} and one of {SCORES} for each of the run's {about.samples} "
            f"samples, found {len(ids)} and {len(scores)}; {again}"
        )
    if unknown := {score.category for score in scores}.difference(about.categories):
        raise EvalError(f"{folder / SCORES}: {min(unknown)!r} is no category of {MANIFEST}; is it another run's file?")
    rows = read_rows(folder / VALUES, again) if (folder / VALUES).exists() else ()
    values = [validated(ValueSlot, row, place, again) for place, row in rows]
    return Run(folder, about, about.label, scores, [row for row in predictions if not row.error], values)


def _read_leniently(run: Run) -> Iterator[Run]:
    """Yield greedy's run once more, with the calls that a forgiving parser finds in its texts."""
    path = run.folder / LENIENT
    if path.exists():
        scores = [validated(Score, row, place, "run eval again") for place, row in read_rows(path, "run eval again")]
        yield replace(run, name=f"{run.name}, read leniently", scores=scores)


def _told_apart(run: Run, runs: Sequence[Run]) -> Run:
    """Return the run with a name that tells it from the others of its benchmark, model and label."""
    kind, settings = attrgetter("about.benchmark", "about.model", "about.label"), run.about.settings
    rest = [other.about.settings for other in runs if other is not run and kind(other) == kind(run)]
    unusual = [name for name, usual in _USUAL.items() if settings.get(name, usual) != usual]
    names = sorted({name for found in (settings, *rest) for name in found})
    differing = [name for name in names if any(found.get(name) != settings.get(name) for found in rest)]
    parts = [run.about.label, *(f"{name} {settings.get(name)}" for name in dict.fromkeys([*unusual, *differing]))]
    if settings in rest:
        parts.append(f"in {run.folder}")
    return replace(run, name=shown(", ".join(parts)))
